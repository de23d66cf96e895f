"""What attention remembers while a sequence is continued: keys and values of all positions so far.

Comes in: room for a number of positions; then keys and values, some positions after the other.
Goes out: another cache each time, of the same shape, so that a compiled step serves all positions.
Never: a cache that is changed, or a position lost for want of room: that is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...frontend.dtypes import float32, int64
from ...frontend.errors import ArgumentError, ShapeError, fail
from ...frontend.functions.creation import arange, zeros
from ...frontend.tensor import Tensor


class Remembered(NamedTuple):
    """Keys and values as they are attended to."""

    key: Tensor  # [..., heads, keys, size]
    value: Tensor  # [..., heads, keys, size]


@dataclass(frozen=True)
class KeyValueCache:
    """Keys and values with room for more: the first `position` are there, the others are 0.

    It is a tree: `jit` takes and returns it, and may be given its memory (`donate=`).
    """

    key: Tensor  # [..., heads, capacity, size]
    value: Tensor  # [..., heads, capacity, size]
    position: Tensor  # [], int64

    @classmethod
    def empty(
        cls, batch: int | Sequence[int], heads: int, capacity: int, size: int, dtype: Any = None
    ) -> KeyValueCache:
        """Room for as many positions, and nothing there yet."""
        if capacity < 1:
            fail(ArgumentError, "KeyValueCache", "there is room for one position or more", capacity)
        before = (batch,) if isinstance(batch, int) else tuple(batch)
        nothing = zeros((*before, heads, capacity, size), dtype=dtype or float32)
        return cls(nothing, nothing, zeros((), dtype=int64))

    @property
    def capacity(self) -> int:
        """For how many positions there is room."""
        return self.key.shape[-2]

    def append(self, key: Tensor, value: Tensor) -> KeyValueCache:
        """The cache with keys and values [..., heads, length, size] of the next positions.

        More than there is room for are refused, at the latest when the cache is computed.
        """
        length = key.shape[-2]
        if length > self.capacity:
            problem = f"there is room for {self.capacity} positions, not for {length} more"
            fail(ShapeError, "KeyValueCache", problem, self.key, key)
        if key.shape[:-2] != self.key.shape[:-2] or key.shape[-1] != self.key.shape[-1]:
            fail(ShapeError, "KeyValueCache", "the cache was made for other keys", self.key, key)
        places = self.position + arange(length, device=self.position.device)
        return KeyValueCache(
            self.key.at[..., places, :].set(key.astype(self.key.dtype)),
            self.value.at[..., places, :].set(value.astype(self.value.dtype)),
            self.position + length,
        )

    def counting(self, rows: int, causal: bool) -> Tensor:
        """Which positions count for the last `rows` that are there: [rows or 1, capacity].

        With `causal`, these are for each one those before it, and itself.
        """
        columns = arange(self.capacity, device=self.position.device)
        if not causal:
            return (columns < self.position)[None]
        last = self.position - rows + arange(rows, device=self.position.device)
        return columns <= last[:, None]
