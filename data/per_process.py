"""Open files, which a process shares with no other.

Comes in: a function that opens something, and one that closes it. Goes out: what is open in this
process, opened when it is first asked for.
Never: an open file in a pickle, or one that a fork has left to two processes.
"""

import os
import weakref
from collections.abc import Callable
from threading import Lock
from typing import Any


class PerProcess:
    """What `open()` gives in this process; it is closed when nobody can ask for it any more."""

    def __init__(self, open: Callable[[], Any], close: Callable[[Any], None]) -> None:
        self._open, self._close = open, close
        self._lock = Lock()
        self._process = 0
        self._opened: Any = None

    def __call__(self) -> Any:
        with self._lock:
            if self._process != os.getpid():
                self._opened, self._process = self._open(), os.getpid()
                weakref.finalize(self, self._close, self._opened)
        return self._opened

    def __reduce__(self) -> Any:
        return PerProcess, (self._open, self._close)
