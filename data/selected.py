"""Some items of a dataset, in another order.

Comes in: a dataset, and which places of it in which order, or what decides that. Goes out: a
dataset of these items.
Never: an order that anything but the seed decides.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from ..frontend.errors import ArgumentError, PlaceError, fail
from .dataset import Dataset, Items, expect_count, expect_dataset
from .draws import below, permutation


class Selected(Dataset):
    """The items at these places of a dataset, in their order; a place may stand there twice."""

    def __init__(self, dataset: Items[Any], places: Sequence[int] | np.ndarray) -> None:
        operation = type(self).__name__
        expect_dataset(operation, dataset)
        chosen = np.asarray(places)
        if chosen.ndim != 1 or (chosen.size and chosen.dtype.kind not in "iu"):
            fail(ArgumentError, operation, "expected a list of integers as places", places)
        outside = (chosen < 0) | (chosen >= len(dataset))
        if outside.any():
            problem = f"there is no item {chosen[outside][0]} among {len(dataset)}"
            fail(PlaceError, operation, problem)
        self.dataset, self.places = dataset, chosen.astype(np.int64)

    def __len__(self) -> int:
        return len(self.places)

    def item(self, place: int) -> Any:
        return self.dataset[int(self.places[place])]


class Shuffled(Selected):
    """All items of a dataset, in an order that the seed decides."""

    def __init__(self, dataset: Items[Any], seed: int = 0) -> None:
        expect_dataset("Shuffled", dataset)
        super().__init__(dataset, permutation(len(dataset), expect_count("Shuffled", "seed", seed)))


class Sampled(Selected):
    """`count` items of a dataset, drawn with replacement or without, as the seed decides."""

    def __init__(
        self, dataset: Items[Any], count: int, seed: int = 0, replacement: bool = False
    ) -> None:
        expect_dataset("Sampled", dataset)
        there = len(dataset)
        wanted = expect_count("Sampled", "count", count)
        expect_count("Sampled", "seed", seed)
        if wanted > there and not (replacement and there):
            problem = f"{wanted} items cannot be drawn from {there}"
            fail(ArgumentError, "Sampled", problem, hint="draw with `replacement=True`")
        drawn = below(there, wanted, seed) if replacement else permutation(there, seed)[:wanted]
        super().__init__(dataset, drawn)


class Partial(Selected):
    """The items of a dataset from `start` on and before `stop`."""

    def __init__(self, dataset: Items[Any], start: int, stop: int) -> None:
        expect_dataset("Partial", dataset)
        if not 0 <= start <= stop <= len(dataset):
            problem = f"there are no items from {start} to {stop} among {len(dataset)}"
            fail(PlaceError, "Partial", problem)
        super().__init__(dataset, np.arange(start, stop))


def split(dataset: Items[Any], shares: Sequence[float], seed: int | None = None) -> list[Selected]:
    """The dataset in parts: shares that add up to 1, or numbers of items that add up to all.

    With a seed the items are shuffled first.
    """
    expect_dataset("split", dataset)
    count = len(dataset)
    edges = _edges(shares, count)
    if seed is None:
        order = np.arange(count)
    else:
        order = permutation(count, expect_count("split", "seed", seed))
    return [Selected(dataset, order[start:stop]) for start, stop in pairwise(edges)]


def _edges(shares: Sequence[float], count: int) -> list[int]:
    """Where the parts begin, and the last one ends."""
    if not isinstance(shares, Sequence | np.ndarray):
        problem = f"the shares are a sequence, such as (0.8, 0.2), and not {shares!r}"
        fail(ArgumentError, "split", problem)
    total = np.cumsum([0, *shares])
    whole = all(isinstance(each, int | np.integer) for each in shares)
    if min(shares, default=-1) < 0 or abs(total[-1] - (count if whole else 1)) > 1e-9:
        problem = f"{list(shares)} neither add up to 1 nor, as integers, to the {count} items"
        fail(ArgumentError, "split", problem)
    return [int(edge) for edge in (total if whole else np.round(total * count))]


def at_once(dataset: Any, places: Sequence[int]) -> Callable[[], Any] | None:
    """What makes the batch of these places at once; None where items are made one by one.

    A dataset with a method `batch(places)` can do that, also if others select from it.
    """
    while _definer(dataset) is Selected:
        dataset, places = dataset.dataset, dataset.places[np.asarray(places, np.int64)]
    return partial(dataset.batch, places) if "batch" in vars(_definer(dataset)) else None


def _definer(dataset: Any) -> type:
    """The class that says what the items are: a subclass with other items has other batches."""
    said = {"__getitem__", "batch", "item"}
    return next((each for each in type(dataset).__mro__ if said & vars(each).keys()), object)
