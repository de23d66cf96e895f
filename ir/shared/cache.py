"""A bounded table of things that are costly to make, safe to use from many threads.

Comes in: hashable keys. Goes out: what was put there; the entries put first are the first to go.
Never: two different things for one key at the same time: the first one stays. Nor a lock, at which
a handler of signals, or the child of a fork, might wait for ever.
"""

from collections.abc import Callable
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

    def items(self) -> list[tuple[K, V]]:
        """All entries with their keys, as they are now."""
        return [*self._table.items()]

    def __len__(self) -> int:
        return len(self._table)


class Weighed(Cache[K, V]):
    """At most `limit` entries, of at most so much weight together; the latest stays in any case."""

    __slots__ = ("_weigh", "_weight", "_weights", "heaviest")

    def __init__(self, limit: int, heaviest: int, weigh: Callable[[V], int]) -> None:
        super().__init__(limit)
        self.heaviest = heaviest
        self._weigh = weigh
        self._weights: dict[K, int] = {}
        self._weight = 0  # of all, unless threads have counted at once

    def put(self, key: K, made: V) -> V:
        """Keep `made`, unless another thread was quicker; return what is kept."""
        kept = self._table.setdefault(key, made)
        if key not in self._weights:
            weight = self._weights[key] = self._weigh(kept)
            self._weight += weight
        while len(self._weights) > 1 and (len(self._weights) > self.limit or self._is_heavy()):
            with suppress(RuntimeError, StopIteration):
                oldest = next(iter(self._weights))
                self._weight -= self._weights.pop(oldest, 0)
                self._table.pop(oldest, None)
        return kept

    def _is_heavy(self) -> bool:
        """Whether all weigh too much: counted anew before anything goes."""
        if self._weight > self.heaviest:
            self._weight = sum([*self._weights.values()])
        return self._weight > self.heaviest
