"""In which order the items of a dataset are taken.

Comes in: how many there are, a seed, weights, lengths. Goes out: samplers: `order(epoch)` is a
sequence of places; or of batches of places, if the sampler has `batched = True`.
Never: state: the same epoch always has the same order, on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from ..frontend.errors import ArgumentError, fail
from .dataset import expect_count
from .draws import permutation, uniforms

BATCHES = 1
"""A seed for the order of batches, which is drawn beside that of items."""


class Sampler(Protocol):
    """What says in which order the items are taken."""

    def order(self, epoch: int) -> Sequence[Any]:
        """Places, or batches of them."""
        ...


class InOrder:
    """Every place once, from the first to the last."""

    def __init__(self, count: int) -> None:
        self.count = expect_count("InOrder", "count", count)

    def order(self, epoch: int) -> Sequence[int]:
        """The places below `count`."""
        return range(self.count)


class Permuted:
    """Every place once, in an order that seed and epoch decide."""

    def __init__(self, count: int, seed: int = 0) -> None:
        self.count = expect_count("Permuted", "count", count)
        self.seed = expect_count("Permuted", "seed", seed)

    def order(self, epoch: int) -> Any:
        """The places below `count`, shuffled."""
        return permutation(self.count, self.seed, epoch)


class Weighted:
    """`count` places drawn by their weights, with replacement or without."""

    def __init__(
        self, weights: Any, count: int | None = None, seed: int = 0, replacement: bool = True
    ) -> None:
        self.weights = np.asarray(weights)
        numbers = self.weights.ndim == 1 and self.weights.dtype.kind in "biuf"
        good = numbers and np.isfinite(self.weights).all() and (self.weights >= 0).all()
        if not good or not self.weights.any():
            hint = "give one number from 0 on for each item, and not zeros alone"
            fail(ArgumentError, "Weighted", "these are no weights", weights, hint=hint)
        self.seed = expect_count("Weighted", "seed", seed)
        self.replacement = replacement
        most = int(np.count_nonzero(self.weights))
        all_ = len(self.weights) if replacement else most
        self.count = all_ if count is None else expect_count("Weighted", "count", count)
        if self.count > most and not replacement:
            problem = f"{count} places cannot be drawn from {most} that have a weight"
            fail(ArgumentError, "Weighted", problem, hint="draw with `replacement=True`")

    def order(self, epoch: int) -> Any:
        """The places that were drawn."""
        if self.replacement:
            ends = np.cumsum(self.weights)
            drawn = uniforms(self.count, self.seed, epoch) * ends[-1]
            last = np.flatnonzero(self.weights)[-1]  # where rounding would lead past it
            return np.minimum(np.searchsorted(ends, drawn, side="right"), last)
        # Whoever waits the shortest time is first; waiting times are exponential in the weights.
        there = np.flatnonzero(self.weights)
        waits = -np.log1p(-uniforms(len(self.weights), self.seed, epoch))[there]
        return there[np.argsort(waits / self.weights[there], kind="stable")][: self.count]


class LengthBuckets:
    """Batches of places whose items are about equally long, in an order that seed and epoch decide.

    The places are shuffled, sorted by length among `pool` batches at a time, and the batches are
    shuffled.
    """

    batched = True

    def __init__(
        self, lengths: Any, batch: int, seed: int = 0, pool: int = 64, drop_last: bool = False
    ) -> None:
        self.lengths = np.asarray(lengths)
        if self.lengths.ndim != 1 or self.lengths.dtype.kind not in "iuf":
            hint = "give one number for each item"
            fail(ArgumentError, "LengthBuckets", "these are no lengths", lengths, hint=hint)
        self.batch = expect_count("LengthBuckets", "batch", batch, least=1)
        self.pool = expect_count("LengthBuckets", "pool", pool, least=1)
        self.seed = expect_count("LengthBuckets", "seed", seed)
        self.drop_last = drop_last

    def order(self, epoch: int) -> Sequence[Any]:
        """Batches of places."""
        shuffled = permutation(len(self.lengths), self.seed, epoch)
        batches: list[Any] = []
        for start in range(0, len(shuffled), self.batch * self.pool):
            pool = shuffled[start : start + self.batch * self.pool]
            pool = pool[np.argsort(self.lengths[pool], kind="stable")]
            batches += in_batches(pool, self.batch, drop_last=False)
        batches = [each for each in batches if len(each) == self.batch or not self.drop_last]
        return [batches[place] for place in permutation(len(batches), self.seed, epoch, BATCHES)]


class Sharded:
    """The share of one of `count` processes: every `count`-th entry of a sampler's order.

    All shares are equally long: the order begins again where entries are missing, or its last ones
    are left out if `drop_last`.
    """

    def __init__(self, sampler: Sampler, rank: int, count: int, drop_last: bool = False) -> None:
        self.sampler, self.drop_last = sampler, drop_last
        self.count = expect_count("Sharded", "count", count, least=1)
        self.rank = expect_count("Sharded", "rank", rank)
        if self.rank >= self.count:
            fail(ArgumentError, "Sharded", f"there is no rank {rank} among {count}")

    @property
    def batched(self) -> bool:
        """Whether the entries are batches."""
        return makes_batches(self.sampler)

    def order(self, epoch: int) -> Sequence[Any]:
        """The entries of this process."""
        whole = self.sampler.order(epoch)
        each = len(whole) // self.count if self.drop_last else -(-len(whole) // self.count)
        return [whole[(self.rank + self.count * turn) % len(whole)] for turn in range(each)]


def makes_batches(sampler: Sampler) -> bool:
    """Whether the order of a sampler is one of batches."""
    return bool(getattr(sampler, "batched", False))


def in_batches(entries: Sequence[Any], size: int, drop_last: bool) -> list[Sequence[Any]]:
    """Entries cut into batches; the last one may be smaller, unless it is dropped."""
    end = len(entries) // size * size if drop_last else len(entries)
    return [entries[start : start + size] for start in range(0, end, size)]
