"""Forks, beside threads that load modules or compute.

Comes in: a fork. Goes out: the same, a moment later, if need be. In the child no thread would ever
finish what another one was loading, or let go of a lock that it held: who needs it would wait for
ever. So a fork comes when nobody loads a module of ours or holds one of `passes/forks.py`'s locks.
Never: a module of ours that this one loads, as another thread may be loading it just then.
"""

import os
import sys
from importlib import _bootstrap  # pyright: ignore[reportAttributeAccessIssue]
from threading import get_ident, local
from time import monotonic, sleep
from typing import Any

_PACKAGE = __name__.partition(".")[0]
OURS = {_PACKAGE, "cffi", "llvmlite", "ml_dtypes", "numpy"}
"""Packages that this one loads, when it first needs them, and itself."""
PATIENCE = 60.0
"""Seconds, after which a fork comes anyway: a thread that takes longer is stuck itself."""
MOMENT = 0.01
"""Seconds, after which who waits for one lock lets go of all others."""


class _Held(local):
    """The locks that this thread holds as it forks."""

    def __init__(self) -> None:
        self.locks: list[Any] = []


_HELD = _Held()


def _before() -> None:
    """Hold all locks while nobody loads a module, which might bring another one along."""
    end = monotonic() + PATIENCE
    while not _holds_all() and monotonic() < end:
        _after()
        sleep(0.001)


def _holds_all() -> bool:
    """Take one lock after the other, unless another thread is long at something: it may wait for
    one that is taken already."""
    if _is_somebody_loading():
        return False
    for lock in reversed(_locks()):
        if not lock.acquire(timeout=MOMENT):
            return False
        _HELD.locks.append(lock)
    return {*map(id, _locks())} <= {*map(id, _HELD.locks)} and not _is_somebody_loading()


def _after() -> None:
    while _HELD.locks:
        _HELD.locks.pop().release()


def _locks() -> list[Any]:
    module = sys.modules.get(f"{_PACKAGE}.passes.forks")
    found = [each() for each in [*getattr(module, "LOCKS", ())]]
    return [lock for lock in found if lock is not None]


def _is_somebody_loading() -> bool:
    """Whether another thread holds the lock that Python has for each module, if it tells."""
    for name, reference in [*getattr(_bootstrap, "_module_locks", {}).items()]:
        lock = reference() if name.partition(".")[0] in OURS else None
        if getattr(lock, "owner", None) not in (None, get_ident()):
            return True
    return False


def watch() -> None:
    """Look at all forks from now on. What is registered first comes last before a fork, when others
    have waited for results."""
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)
