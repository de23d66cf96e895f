"""Ctrl-C while a model trains: the step is finished and a checkpoint written; twice ends at once.

Comes in: SIGINT. Goes out: a flag that the Learner reads between steps.
Never: a handler that stays when training has ended, or one outside the main thread.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupted:
    """Whether somebody asked to stop."""

    def __init__(self) -> None:
        self.asked = False


@contextmanager
def finishing_steps() -> Iterator[Interrupted]:
    """While the block runs, the first SIGINT only sets the flag."""
    flag = Interrupted()
    if threading.current_thread() is not threading.main_thread():
        yield flag
        return
    before = signal.getsignal(signal.SIGINT)

    def handle(number: int, frame: FrameType | None) -> None:
        if flag.asked:
            signal.signal(signal.SIGINT, before)
            raise KeyboardInterrupt
        flag.asked = True

    signal.signal(signal.SIGINT, handle)
    try:
        yield flag
    finally:
        signal.signal(signal.SIGINT, before)
