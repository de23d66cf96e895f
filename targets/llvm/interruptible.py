"""Work of Python that nothing can interrupt, done so that who waits for it can be.

Comes in: what is to be done, such as a decomposition by LAPACK, and how much there is to it. Goes
out: nothing; it is done when the call returns, or has raised what it raised.
Never: an interrupt that waits for the end of the work. It goes on behind the back of whoever asked
for it, and what it makes is for nobody. Nor the end of the process in the middle of any: libraries
of linear algebra that end their own threads then wait for ever.
"""

import atexit
import os
from collections.abc import Callable
from contextvars import copy_context
from threading import Event, Lock, Thread, current_thread, main_thread
from typing import Any, Generic, TypeVar

from ...passes.handled import is_of_handler

Made = TypeVar("Made")

MUCH = 1 << 14
"""So many elements: a decomposition of them takes a millisecond, and to start a thread a tenth."""
LOOK_AFTER = 0.05
"""Seconds after which who waits looks at signals: one that comes right before that wakes nobody."""

_UNDER_WAY = set[Any]()
"""Of each work that is under way a lock, which is held until it is over."""
_ENDING = Event()
"""The process comes to its end, and waits for what is under way."""
os.register_at_fork(after_in_child=_UNDER_WAY.clear)  # whose threads are not there


def do(work: Callable[[], object], elements: int) -> None:
    """Do something with so many elements; in the main thread, which is the one that is interrupted,
    much of it by another one."""
    if current_thread() is not main_thread():
        _do_counted(work)
    elif elements < MUCH or _ENDING.is_set():
        work()
    else:
        _do_behind(work)


class Work(Generic[Made]):
    """Something that another thread makes: it calls this, once, and who asked waits."""

    def __init__(self, make: Callable[[], Made]) -> None:
        self._make = make
        self._made: Made | None = None
        self._problem: BaseException | None = None
        self._is_wanted, self._over = True, Lock()
        self._over.acquire()

    def __call__(self) -> None:
        """Make it, unless nobody wants it any more."""
        try:
            if self._is_wanted:
                self._made = self._make()
        except BaseException as problem:
            self._problem = problem
        finally:
            self._over.release()

    def wait(self) -> Made:
        """What was made, or what was raised; or what a handler of signals raises meanwhile."""
        try:
            while not self._over.acquire(timeout=LOOK_AFTER):
                pass
        except BaseException:
            self._is_wanted = False
            raise
        problem, self._problem = self._problem, None
        try:
            if problem is not None:
                raise problem
        finally:
            del problem  # it holds this frame
        return self._made  # pyright: ignore[reportReturnType]


def is_begun(do: Callable[[], None]) -> bool:
    """Whether there is a thread that does this: there is none in some versions while a process
    ends, or where there are too many."""
    try:
        Thread(target=do, daemon=True).start()
    except RuntimeError as problem:
        if is_of_handler(problem):
            raise
        return False
    return True


def _do_behind(work: Callable[[], object]) -> None:
    context = copy_context()
    behind = Work(lambda: context.run(_do_counted, work))
    if is_begun(behind):
        behind.wait()
    else:
        work()


def _do_counted(work: Callable[[], object]) -> None:
    over = Lock()
    with over:
        _UNDER_WAY.add(over)
        try:
            if _ENDING.is_set():
                _UNDER_WAY.discard(over)
                Event().wait()  # this thread ends here, as the process does
            work()
        finally:
            _UNDER_WAY.discard(over)


@atexit.register
def _wait_for_all() -> None:
    _ENDING.set()
    for over in [*_UNDER_WAY]:
        over.acquire()
