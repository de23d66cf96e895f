"""Python's garbage collector, kept waiting while programs are made.

Comes in: a function. Goes out: the same function, in which no collection begins.
Never: a collector that somebody else has switched off, switched on.
"""

import gc
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
Made = TypeVar("Made")


def without_collections(work: Callable[P, Made]) -> Callable[P, Made]:
    """A function that makes many small objects: nearly all of them are alive until it is done, so
    that looking for dead ones takes a third of its time and finds none.

    Its end is no call, which an interrupt might come right before: then the collector would stay
    off for as long as somebody has that interrupt's traceback.
    """

    @wraps(work)
    def paused(*args: P.args, **kwargs: P.kwargs) -> Made:
        if not gc.isenabled():
            return work(*args, **kwargs)
        try:
            gc.disable()  # in here, as an interrupt may come behind it
            return work(*args, **kwargs)
        finally:
            gc.enable()

    return paused
