"""Locks that no other thread holds when a process forks.

Comes in: a lock that is held for a while at most. Goes out: the same lock, which a fork takes
before, and lets go of after; in the child, whoever else held it would never do so.
Never: a lock that is held while another one of these is waited for.
"""

import os
from typing import Any, TypeVar

AnyLock = TypeVar("AnyLock", bound=Any)


def held_across_forks(lock: AnyLock) -> AnyLock:
    """The lock, which is nobody else's at a fork."""
    os.register_at_fork(
        before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release
    )
    return lock
