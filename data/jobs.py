"""What batches an epoch has.

Comes in: a dataset or a stream, the order of items, the size of batches. Goes out: for an epoch,
from one of its batches on, a job for each batch.
Never: an item of a dataset; items of a stream are read here, and only here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from ..frontend.errors import ArgumentError, fail
from .dataset import expect_count
from .fetch import Job
from .samplers import InOrder, Permuted, Sampler, in_batches, makes_batches
from .streams import grouped, shuffled


class OfDataset:
    """The jobs of a dataset, whose items have places."""

    def __init__(self, sampler: Sampler, size: int | None, drop_last: bool) -> None:
        if not hasattr(sampler, "order"):
            fail(ArgumentError, "Loader", "the sampler has no method `order(epoch)`", sampler)
        self._batched = makes_batches(sampler)
        if self._batched and (size is not None or drop_last):
            problem = "the sampler makes the batches, so that `batch` and `drop_last` are its"
            fail(ArgumentError, "Loader", problem)
        self._sampler, self._drop_last = sampler, drop_last
        self._size = 0 if self._batched else expect_count("Loader", "batch", size, least=1)

    def __call__(self, epoch: int, done: int) -> Iterator[Job]:
        """The jobs of an epoch after so many of its batches."""
        start = 0
        for number, places in enumerate(self.batches(epoch)):
            if number >= done:
                yield Job(epoch, start, places)
            start += len(places)

    def batches(self, epoch: int) -> Sequence[Sequence[int]]:
        """The places of the items of each batch."""
        order = self._sampler.order(epoch)
        return order if self._batched else in_batches(order, self._size, self._drop_last)


class OfStream:
    """The jobs of a stream, shuffled if it has seeds; a place is how many items came before."""

    def __init__(
        self, stream: Iterable[Any], size: int | None, drop_last: bool,
        buffer: int, seed: int | None,
    ) -> None:  # fmt: skip
        if not hasattr(stream, "__iter__"):
            hint = "give what has `__len__` and `__getitem__`, or `__iter__`"
            problem = f"{type(stream).__name__} is neither dataset nor stream"
            fail(ArgumentError, "Loader", problem, stream, hint=hint)
        self._stream, self._drop_last = stream, drop_last
        self._buffer, self._seed = buffer, seed
        self._size = expect_count("Loader", "batch", size, least=1)

    def __call__(self, epoch: int, done: int) -> Iterator[Job]:
        """The jobs of an epoch after so many of its batches, whose items are read all the same."""
        items = iter(self._stream)
        if items is self._stream and epoch:
            hint = "give `data.Stream(function)`, which calls the function for each epoch"
            fail(ArgumentError, "Loader", "this iterator can be read once", items, hint=hint)
        if self._seed is not None:
            items = shuffled(items, self._buffer, self._seed, epoch)
        return self._jobs(epoch, grouped(items, self._size, self._drop_last), done)

    def _jobs(self, epoch: int, groups: Iterator[list[Any]], done: int) -> Iterator[Job]:
        for number, group in islice(enumerate(groups), done, None):
            start = number * self._size
            yield Job(epoch, start, range(start, start + len(group)), group)


def sampler_of(count: int, sampler: Sampler | None, shuffle: bool, seed: int) -> Sampler:
    """What a user chose as the order of so many items."""
    if sampler is None:
        return Permuted(count, seed) if shuffle else InOrder(count)
    if shuffle:
        hint = "leave one of them out; `data.Permuted` is a sampler that shuffles"
        fail(ArgumentError, "Loader", "both `shuffle` and `sampler` decide the order", hint=hint)
    return sampler
