"""Datasets one after the other.

Comes in: datasets. Goes out: a dataset of the items of the first, then those of the second, …
Never: an item copied.
"""

from bisect import bisect_right
from itertools import accumulate
from typing import Any

from ..frontend.errors import ArgumentError, fail
from .dataset import Dataset, Items, expect_dataset


class Composed(Dataset):
    """The items of several datasets, one dataset after the other."""

    def __init__(self, *datasets: Items[Any]) -> None:
        if not datasets:
            fail(ArgumentError, "Composed", "there are no datasets")
        for each in datasets:
            expect_dataset("Composed", each)
        self.datasets = datasets
        self._ends = list(accumulate(map(len, datasets)))

    def __len__(self) -> int:
        return self._ends[-1]

    def item(self, place: int) -> Any:
        which = bisect_right(self._ends, place)
        before = self._ends[which - 1] if which else 0
        return self.datasets[which][place - before]
