"""Items that are rows of arrays.

Comes in: a tree of arrays with a common first axis. Goes out: a dataset of trees of their rows.
Never: a copy of the arrays, whose owner should not write to them any more.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..frontend.errors import ArgumentError, ShapeError, fail
from ..frontend.tree import leaves_of, tree_map
from .dataset import Dataset

NUMBER_KINDS = "biufcV"
"""Kinds of numpy's dtypes that are numbers; V are those of `ml_dtypes`."""


class InMemory(Dataset):
    """The rows of arrays (or of a tree of them): of `(x, y)`, item 3 is `(x[3], y[3])`."""

    def __init__(self, arrays: Any) -> None:
        self.arrays = tree_map(_as_rows, arrays)
        leaves = leaves_of(self.arrays)
        if not leaves:
            fail(ArgumentError, "InMemory", "there is no array in the tree", arrays)
        if len({len(leaf) for leaf in leaves}) > 1:
            fail(ShapeError, "InMemory", "the arrays have different numbers of rows", *leaves)
        self._count = len(leaves[0])

    def __len__(self) -> int:
        return self._count

    def item(self, place: int) -> Any:
        return tree_map(lambda array: array[place], self.arrays)

    def batch(self, places: Sequence[int]) -> Any:
        """The items at these places, stacked."""
        return tree_map(lambda array: _listed(array[places]), self.arrays)


def _as_rows(leaf: Any) -> Any:
    array = np.asarray(leaf)
    if not array.ndim:
        hint = "give arrays; a list of numbers is a tree of numbers: make an array of it"
        fail(ArgumentError, "InMemory", f"{leaf!r:.40} has no rows", hint=hint)
    return array


def _listed(array: Any) -> Any:
    """Numbers as an array, everything else as a list, as items are stacked."""
    return array if array.dtype.kind in NUMBER_KINDS else array.tolist()
