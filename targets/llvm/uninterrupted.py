"""Work of LLVM's, done where no handler of signals can reach it.

Comes in: functions that work with objects of llvmlite. Goes out: the same functions. The main
thread, which is the one that handlers of signals run in, has another one call them, and hears
Ctrl-C while it waits; what is under way comes to its end behind its back.
Never: an exception of a handler's in the midst of llvmlite's Python, which leaves its lock taken
for ever, or frees a text twice; or which is lost, where an object ends. So none of its objects ends
in the main thread: what these functions return, and what they raise, holds none that is not kept.
Nor a fork, or the end of the process, in the middle of it.
"""

import atexit
import os
import traceback
from collections.abc import Callable
from functools import cache, wraps
from queue import SimpleQueue
from threading import Lock, current_thread, main_thread
from typing import Any, ParamSpec, TypeVar

from .interruptible import Work, is_begun

Given = ParamSpec("Given")
Made = TypeVar("Made")


def uninterrupted(function: Callable[Given, Made]) -> Callable[Given, Made]:
    """The function, which is called by a thread that nobody interrupts."""

    @wraps(function)
    def call(*given: Given.args, **named: Given.kwargs) -> Made:
        def work() -> Made:
            return _without_objects(lambda: function(*given, **named))

        return aside().make(work) if current_thread() is main_thread() else work()

    return call


class Aside:
    """A thread that does what the main one asks for, one after the other: LLVM does no two things
    at once. It is started when there is something to do, and kept, for that takes 0.1 ms."""

    def __init__(self) -> None:
        self._asked = SimpleQueue[Work[Any]]()
        self._serving = Lock()
        self._is_used = self._is_over = False

    def make(self, make: Callable[[], Made]) -> Made:
        """What is made there, or here if there is no thread for it."""
        work = Work(make)
        return work.wait() if not self._is_over and self._ask(work) else make()

    def finish(self) -> None:
        """Wait until nothing is under way that the main thread has been interrupted in. An
        interrupt does not end this wait; the second one does."""
        last = Work(lambda: None)
        if not self._is_used or not self._ask(last):
            return
        try:
            last.wait()
        except BaseException:
            last.wait()
            raise

    def end(self) -> None:
        """Finish; what is asked for from now on is done at once, as the thread ends anywhere."""
        self.finish()
        self._is_over = True

    def _ask(self, work: Work[Any]) -> bool:
        self._is_used = True
        if not self._serving.locked() and not is_begun(self._serve):
            return False
        self._asked.put(work)
        return True

    def _serve(self) -> None:
        # Who was interrupted while he started one starts another.
        if self._serving.acquire(blocking=False):
            while True:
                self._asked.get()()


@cache
def aside() -> Aside:
    """That of this process."""
    return Aside()


@atexit.register
def _end() -> None:
    aside().end()


# Threads are not forked, and would keep LLVM's lock.
os.register_at_fork(before=lambda: aside().finish(), after_in_child=aside.cache_clear)


def _without_objects(make: Callable[[], Made]) -> Made:
    """What is made; if that raises something, it holds no more of what was made until then."""
    try:
        return make()
    except BaseException as problem:
        cause: BaseException | None = problem
        while cause is not None:
            traceback.clear_frames(cause.__traceback__)
            cause = cause.__cause__
        raise
