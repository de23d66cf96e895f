"""The file that a failing pass leaves behind: the command that replays it, then the IR it got.

Comes in: the text of a module and the steps that fail on it. Goes out: the path of a
`reproducer.ir`, whose first line is a command to be run in its folder.
Never: half a file; it is written aside and renamed, so another process's is kept whole. Only what
is no regular file, such as a pipe, is written to directly.
"""

import os
import shlex
import stat
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

from .declare import Step
from .notation import pipeline_text

FILE_NAME = "reproducer.ir"
FOLDER_VARIABLE = "BRIMSTONE_REPRODUCERS"


def write_reproducer(
    text: str, steps: Sequence[Step], fuel: int | None, folder: Path | None
) -> Path:
    """Write `text` below the command that runs `steps` on it; return where."""
    folder = folder or Path(os.environ.get(FOLDER_VARIABLE) or ".")
    path = folder.absolute() / FILE_NAME
    command = ["brimstone", "opt", FILE_NAME, "--passes", pipeline_text(steps)]
    if fuel is not None:
        command += ["--fuel", str(fuel)]
    folder.mkdir(parents=True, exist_ok=True)
    write_aside(path, f"// RUN: {shlex.join(command)}\n{text}")
    return path


def write_aside(path: Path, text: str) -> None:
    """Put a whole text into a file at once: whoever reads it sees the old one or the new one.

    A link stays a link, a file keeps its mode, and a pipe or a device is written to as it is.
    """
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    target = Path(os.path.realpath(path))
    aside = target.with_name(f".{target.name}.{uuid4().hex}")
    try:
        aside.write_text(text, encoding="utf-8")
        if target.exists():
            aside.chmod(stat.S_IMODE(target.stat().st_mode))
        os.replace(aside, target)
    finally:
        aside.unlink(missing_ok=True)
