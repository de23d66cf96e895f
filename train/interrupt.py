"""Ctrl-C while a model trains: the step is finished and a checkpoint written; twice ends at once.

Comes in: SIGINT. Goes out: a flag that the Learner reads between steps.
Never: a handler that stays when training has ended, one outside the main thread, or one in place of
what the program has set itself: that SIGINT is ignored, or a handler of its own.
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
    before = signal.getsignal(signal.SIGINT)
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or before is not signal.default_int_handler:
        yield flag
        return

    def handle(number: int, frame: FrameType | None) -> None:
        if flag.asked:
            raise KeyboardInterrupt
        flag.asked = True

    signal.signal(signal.SIGINT, handle)
    try:
        yield flag
    finally:
        signal.signal(signal.SIGINT, before)
