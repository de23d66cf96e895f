"""A bounded table of things that are costly to make, safe to use from many threads.

Comes in: hashable keys. Goes out: what was put there; the entries put first are the first to go.
Never: two different things for one key at the same time: the first one stays. Nor a lock, at which
a handler of signals, or the child of a fork, might wait for ever.
"""

from contextlib import suppress
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Cache(Generic[K, V]):
    """At most `limit` entries."""

    __slots__ = ("_table", "get", "limit")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._table: dict[K, V] = {}
        self.get = self._table.get

    def put(self, key: K, made: V) -> V:
        """Keep `made`, unless another thread was quicker; return what is kept."""
        kept = self._table.setdefault(key, made)
        while len(self._table) > self.limit:
            with suppress(RuntimeError, StopIteration):  # another thread has put or dropped one
                self._table.pop(next(iter(self._table)), None)
        return kept

    def values(self) -> list[V]:
        """All entries, as they are now."""
        return [*self._table.values()]

    def __len__(self) -> int:
        return len(self._table)
