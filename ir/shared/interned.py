"""Equal things as one object, for as long as anybody has it.

Comes in: keys, and what has been made for them. Goes out: for each key the first that was made and
is still there.
Never: two at once for one key, whichever threads ask.
"""

import weakref
from collections import deque
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

T = TypeVar("T")
_remove_dead: Callable[[Any, Hashable], None] = getattr(weakref, "_remove_dead_weakref")  # noqa: B009 (checkers do not know it)
"""What `weakref` removes its own entries with: it looks whether one is dead and removes it at once,
where another thread may put a new one in its place between two lines of Python."""
LATEST = 4096
"""So many are kept though nobody has them: who asks again need not make them anew."""


class _Entry(weakref.ref[Any]):
    """What there is for a key."""

    __slots__ = ("key",)
    key: Hashable


class Interned(Generic[T]):
    """A table of things that are compared with `is`."""

    __slots__ = ("_gone", "_latest", "_table")

    def __init__(self, latest: int = LATEST) -> None:
        table: dict[Hashable, _Entry] = {}
        remove = _remove_dead  # its own: things may go when the module has gone

        def gone(entry: _Entry) -> None:
            remove(table, entry.key)

        self._table, self._gone = table, gone
        self._latest = deque[T](maxlen=latest)

    def get(self, key: Hashable) -> T | None:
        """What there is."""
        entry = self._table.get(key)
        return None if entry is None else entry()

    def keep(self, key: Hashable, made: T) -> T:
        """What there is, or else what has been made."""
        own = _Entry(made, self._gone)
        own.key = key
        while (entry := self._table.setdefault(key, own)) is not own:
            found = entry()
            if found is not None:
                return found
            _remove_dead(self._table, key)
        self._latest.append(made)
        return made

    def __len__(self) -> int:
        return len(self._table)
