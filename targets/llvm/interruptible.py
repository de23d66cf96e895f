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
from typing import Any

MUCH = 1 << 14
"""So many elements: a decomposition of them takes a millisecond, and to start a thread a tenth."""

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


def _do_behind(work: Callable[[], object]) -> None:
    problems, over, context = list[BaseException](), Lock(), copy_context()

    def do_all() -> None:
        try:
            context.run(_do_counted, work)
        except BaseException as problem:
            problems.append(problem)
        finally:
            over.release()

    over.acquire()
    try:
        Thread(target=do_all, daemon=True).start()
    except RuntimeError:  # there is no thread for it, as in some versions while a process ends
        work()
        return
    over.acquire()  # in which Python looks at signals, unlike in the work
    for problem in problems:
        raise problem


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
