"""Python's garbage collector, kept waiting for a block of code.

Comes in: nothing. Goes out: a block in which no collection begins.
Never: a collector that somebody else has switched off, switched on.
"""

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Generator[None]:
    """No collection in a block that makes many objects, nearly all of which stay."""
    if not gc.isenabled():
        yield
        return
    try:
        gc.disable()  # in here, as an interrupt may come behind it
        yield
    finally:
        gc.enable()
