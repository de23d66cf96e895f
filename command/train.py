"""`brimstone train`: trains what a project's `train.py` says, with the settings of a config.

In: a JSON file. Beside it stands `train.py`, with a dataclass `Config` and a function
`main(config)`. Out: what that does; exit code 1 if the config does not fit, with all that is wrong.
"""

import sys
from dataclasses import is_dataclass
from pathlib import Path
from runpy import run_path
from typing import Annotated, Any

import typer

from .programs import fail

PROGRAM = "train.py"


def train(
    config: Annotated[Path, typer.Argument(help="A JSON file with settings.")],
    program: Annotated[
        Path | None, typer.Option(help=f"The program, if it is not {PROGRAM} beside CONFIG.")
    ] = None,
) -> None:
    """Train what a project's train.py says, with the settings of a config."""
    from ..frontend.errors import BrimstoneError
    from ..nn import from_json

    text = _text(config)
    found = _program(program or config.parent / PROGRAM)
    try:
        settings = from_json(found["Config"], text)
    except BrimstoneError as problem:
        fail(f"{config}: {problem}")
    found["main"](settings)


def _text(config: Path) -> str:
    try:
        return config.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        fail(f"{config}: this cannot be read: {problem}")


def _program(path: Path) -> dict[str, Any]:
    """The names of a program, which may import its neighbours."""
    if not path.is_file():
        fail(f"there is no {path}; it has a dataclass `Config` and a function `main(config)`")
    sys.path.insert(0, str(path.parent.resolve()))
    found = run_path(str(path))
    if not is_dataclass(found.get("Config")) or not callable(found.get("main")):
        fail(f"{path} lacks a dataclass `Config` or a function `main(config)`")
    return found
