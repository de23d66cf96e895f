"""Files as memory: what is not looked at is not read.

Comes in: a path. Goes out: the bytes of the file, mapped and read-only.
Never: a folder, a pipe or a device, and no waiting for one. Whoever shortens a file while it is
mapped ends the process that reads it, as everywhere.
"""

import os
import stat
from errno import ELOOP
from mmap import ACCESS_READ, mmap

from .errors import Refused, shown


def mapped(path: str, *, follow_links: bool = True) -> memoryview:
    """The bytes of a regular file, which is not reached by a link unless `follow_links`."""
    try:
        descriptor = os.open(path, _FLAGS | (0 if follow_links else os.O_NOFOLLOW))
    except OSError as problem:
        if follow_links or problem.errno != ELOOP:
            raise
        hint = "give `follow_links=True`, if you know who made it"
        raise Refused(
            f"{shown(os.path.basename(path))} is a link to somewhere else", hint
        ) from None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise Refused("it is not a regular file")
        if not status.st_size:
            raise Refused("it is empty")
        return memoryview(mmap(descriptor, status.st_size, access=ACCESS_READ))
    finally:
        os.close(descriptor)


_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK  # opening a pipe would wait for its writer
