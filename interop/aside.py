"""Files that are there whole or not at all.

Comes in: a path. Goes out: a file to write to, which takes the path's place at the end.
Never: a file half written under its own name, whenever the machine stops.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from secrets import token_hex
from typing import BinaryIO


@contextmanager
def written_aside(path: str) -> Iterator[BinaryIO]:
    """A file beside `path`, which takes its place once it is on the disk, or vanishes."""
    target = os.path.realpath(path)  # a link stays one
    folder, name = os.path.split(target)
    aside = os.path.join(folder, f".{name[:100]}.{token_hex(8)}.part")
    try:
        with open(aside, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(aside)
        raise
    flush_folder(folder)


def flush_folder(folder: str | os.PathLike[str]) -> None:
    """Make sure that the names in a folder are on the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
