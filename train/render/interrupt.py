"""Ctrl-C, once to end a run after the step that is running, twice to end it at once.

Comes in: an interrupt, of the terminal or of a key. Goes out: a `Stop` for the run; the second
time, a `KeyboardInterrupt` in the main thread.
Never: a handler in place of one that the program has set itself.
"""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

from ..events import Stop

FIRST = Stop("interrupted")


class Interrupt:
    """Whether somebody wants the run to end; a context in which Ctrl-C says so."""

    def __init__(self) -> None:
        self.stop: Stop | None = None
        self._before: Any = None

    def __enter__(self) -> Interrupt:
        self.stop = None
        at_default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if at_default and threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._on_signal)
        return self

    def __exit__(self, *error: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None

    def ask(self) -> None:
        """What Ctrl-C does, by a thread other than the main one."""
        if self.stop is None:
            self.stop = FIRST
        else:
            os.kill(os.getpid(), signal.SIGINT)

    def _on_signal(self, *_: object) -> None:
        if self.stop is not None:
            raise KeyboardInterrupt
        self.stop = FIRST
