"""Python's garbage collector, kept waiting while programs are made.

Comes in: nothing. Goes out: a block of code in which no collection begins.
Never: a collector that somebody else has switched off, switched on.
"""

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Generator[None]:
    """Let a compiler make its many small objects: nearly all of them are alive until it is done, so
    that looking for dead ones takes a third of its time and finds none."""
    if not gc.isenabled():
        yield
        return
    try:
        gc.disable()  # in here, as an interrupt may come behind it
        yield
    finally:
        gc.enable()
