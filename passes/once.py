"""Locks that no thread takes twice: a handler of signals runs in the thread that it interrupts.

Comes in: a lock, which may be that thread's already. Goes out: the lock; an error, if it is.
Never: a thread that waits for itself.
"""

from typing import Any


class Nested(RuntimeError):
    """A thread asks for something new, while it is at something that must be whole before."""


def once(lock: Any) -> Any:
    """The lock, one of those that know whose they are, unless it is this thread's."""
    if lock._is_owned():
        raise Nested(
            "this thread is just making a step, or what makes one, and was interrupted by a "
            "handler of signals, or a `__del__`, that wants another one: let it take a note, and "
            "compute where the program reads that"
        )
    return lock
