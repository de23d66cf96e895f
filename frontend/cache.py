"""A bounded table of things that are costly to make, safe to use from many threads.

Comes in: hashable keys. Goes out: what was put there; the entries put first are the first to go.
Never: two different things for one key at the same time: the first one stays.
"""

from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Cache(Generic[K, V]):
    """At most `limit` entries."""

    __slots__ = ("_lock", "_table", "get", "limit")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._table: dict[K, V] = {}
        self._lock = Lock()
        self.get = self._table.get

    def put(self, key: K, made: V) -> V:
        """Keep `made`, unless another thread was quicker; return what is kept."""
        with self._lock:
            while len(self._table) >= self.limit:
                del self._table[next(iter(self._table))]
            return self._table.setdefault(key, made)

    def __len__(self) -> int:
        return len(self._table)
