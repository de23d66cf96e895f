"""Interrupts at chosen moments: Ctrl-C comes at any, and a test wants each of them.

Comes in: some work, and which events of it count. Goes out: whether it was interrupted.
Never: a signal, whose moment nobody chooses.
"""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def interrupted(
    work: Callable[[], object], times: int, counts: Callable[[FrameType, str], bool]
) -> bool:
    """Do something until so many events have been and another one comes, or to its end. What is an
    event is told of a frame and of what Python's profiler says of it; the end of this is none."""
    own = interrupted.__code__

    def see(frame: FrameType, event: str, _: Any) -> None:
        nonlocal times
        if frame.f_code is own or not counts(frame, event):
            return
        times -= 1
        if times < 0:
            sys.setprofile(None)
            raise KeyboardInterrupt

    sys.setprofile(see)
    try:
        work()
    except KeyboardInterrupt:
        return True
    finally:
        sys.setprofile(None)
    return False
