"""Code that a step would want at other sizes, made beside it while it runs at these.

Comes in: what makes code for a step that has run more than once, of kernels that no size has asked
for. Goes out: nothing; the code is there when they are launched, or will be made then.
Never: a compiler in this process, which its caller would feel: helpers compile, though a step that
was read from disk is lowered here first. Nor a wait at the end of the process, or in a fork of it.
"""

import atexit
import os
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache
from itertools import chain
from threading import Event, Lock, Thread
from time import perf_counter

from .workers import workers

BEFORE = 10.0
"""Seconds before the work begins: who makes some steps and ends, or goes on to another size at
once, does not meet it."""
REST = 9
"""A part of the work is followed by a rest of so many times its length. Who trains meanwhile shares
a core and its caches with the helper, and waits for Python's lock where a part is made here: of 10
steps, 1 does."""


Task = Callable[[], Iterable[None] | None]
"""Something to do, at once or part by part."""


class Ahead:
    """What is to be made, and the thread that has it made, which ends when nothing is left."""

    def __init__(self) -> None:
        self._workers = workers()
        self._left = deque[Task]()
        self._lock = Lock()
        self._thread: Thread | None = None
        self._ended = Event()

    def add(self, tasks: Sequence[Task]) -> None:
        """Have these done, one after the other."""
        with self._lock:
            self._left += tasks
            if self._left and self._thread is None and not self._ended.is_set():
                made = Thread(target=self._make, name="brimstone ahead", daemon=True)
                with suppress(RuntimeError):  # there is no thread for it: nothing is made ahead
                    made.start()
                    self._thread = made

    def wait(self) -> None:
        """Return when nothing is left."""
        thread = self._thread
        if thread is not None:
            thread.join()

    def end(self) -> None:
        """Leave the rest: a process must not end while machine code is put into its memory."""
        with self._lock:
            self._ended.set()
        self._workers.end()  # who waits for a helper waits no longer
        self.wait()

    def _make(self) -> None:
        pause = self._ended.wait
        pause(BEFORE)
        try:
            while (task := self._next()) is not None:
                began = perf_counter()
                for _ in chain(task() or (), [None]):
                    pause(REST * (perf_counter() - began))
                    began = perf_counter()
        except BaseException:
            with self._lock:
                self._thread = None
            raise

    def _next(self) -> Task | None:
        with self._lock:
            if self._left and not self._ended.is_set():
                return self._left.popleft()
            self._thread = None  # who adds something now begins anew
            return None


@cache
def ahead() -> Ahead:
    """That of this process."""
    made = Ahead()
    atexit.register(made.end)
    return made


# Threads are not forked.
os.register_at_fork(after_in_child=ahead.cache_clear)
