"""One run at a time in a folder: a lock that ends with the process that has it.

Comes in: a folder. Goes out: a descriptor that holds the lock until it is closed, or the reason why
there is none.
Never: a lock that stays after a process was killed.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from ...frontend.errors import ArgumentError, fail

NAME = ".lock"


def locked(folder: Path) -> int:
    """Make a folder, and have it alone until the descriptor is closed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder / NAME, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as problem:
        fail(ArgumentError, "fit", f"no checkpoint can be written: {problem}")
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        problem = f"another run is writing its checkpoints in {folder}"
        fail(ArgumentError, "fit", problem, hint="give each run a folder of its own")
    except OSError:
        pass  # a file system that has no locks
    return descriptor
