"""Locks that no other thread holds when a process forks.

Comes in: a lock that is held for a while at most. Goes out: the same lock, which a fork takes
before, and lets go of after (`frontend/forking.py`), for as long as there is one; in the child,
whoever else held it would never do so.
Never: an order of locks; a fork that would wait for ever lets go of those that it has.
"""

from typing import Any, TypeVar
from weakref import ReferenceType, ref

AnyLock = TypeVar("AnyLock", bound=Any)
LOCKS: dict[ReferenceType[Any], None] = {}
"""In the order in which they came; a fork takes the latest first, as those do that make a step."""


def held_across_forks(lock: AnyLock) -> AnyLock:
    """The lock, which is nobody else's at a fork."""
    LOCKS[ref(lock, _forget)] = None
    return lock


def _forget(reference: ReferenceType[Any]) -> None:
    LOCKS.pop(reference, None)
