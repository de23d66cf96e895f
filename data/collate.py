"""Batches: items of one structure become one tree of arrays.

Comes in: items, which are trees of numbers, arrays, and anything else. Goes out: a tree of the same
structure: numbers and arrays stacked along a new first axis, everything else in lists.
Never: tensors; a batch is uploaded as a whole.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..frontend.errors import ArgumentError, DTypeError, ShapeError, fail
from ..frontend.tree import flatten
from .dataset import expect_count
from .in_memory import NUMBER_KINDS

NUMBERS = (bool, int, float, complex)
NARROW = {np.dtype(np.float64): np.float32, np.dtype(np.complex128): np.complex64}
"""How Python's numbers are stored, where numpy would take twice as much."""


def stack(items: Sequence[Any]) -> Any:
    """The batch of items whose arrays have equal shapes."""
    return _combined("stack", items, _stacked)


class Padded:
    """Batches of items whose arrays differ in size: `Padded(0)(items)` fills them up with zeros.

    Each axis becomes as long as the longest, and a multiple of `multiple`.
    """

    def __init__(self, value: Any = 0, multiple: int = 1) -> None:
        self.value = value
        self.multiple = expect_count("Padded", "multiple", multiple, least=1)

    def __call__(self, items: Sequence[Any]) -> Any:
        return _combined("Padded", items, self._padded)

    def _padded(self, arrays: Sequence[Any], where: str) -> Any:
        if len({array.ndim for array in arrays}) > 1:
            fail(ShapeError, "Padded", f"{where}: the arrays differ in rank", *arrays[:8])
        longest = np.max([array.shape for array in arrays], axis=0).astype(int)
        shape = tuple((-(-longest // self.multiple) * self.multiple).tolist())
        if all(array.shape == shape for array in arrays):
            return np.stack(arrays)
        made = np.full((len(arrays), *shape), self._filler(np.result_type(*arrays), where))
        for row, array in enumerate(arrays):
            made[(row, *map(slice, array.shape))] = array
        return made

    def _filler(self, dtype: Any, where: str) -> Any:
        """The value in an array's dtype, which must hold it."""
        with np.errstate(invalid="ignore"):
            filler = np.asarray(self.value).astype(dtype)
        if not np.array_equal(filler, self.value, equal_nan=dtype.kind in "fc"):
            fail(DTypeError, "Padded", f"{where}: {dtype} does not hold {self.value!r}")
        return filler


def _combined(operation: str, items: Sequence[Any], combine: Any) -> Any:
    """The tree of what is made of the leaves at each place."""
    if not len(items):
        fail(ArgumentError, operation, "there are no items")
    opened = [flatten(item) for item in items]
    structure = opened[0][1]
    for number, (_, other) in enumerate(opened):
        if other is not structure:
            problem = f"items 0 and {number} of the batch differ: {structure} and {other}"
            hint = "make arrays of lists of numbers, or give the loader a `collate`"
            fail(ShapeError, operation, problem, hint=hint)
    columns = zip(*[leaves for leaves, _ in opened], strict=True)
    return structure.build(
        [_column(operation, f"leaf {n} of {structure}", leaves, combine)
         for n, leaves in enumerate(columns)]
    )  # fmt: skip


def _column(operation: str, where: str, leaves: Sequence[Any], combine: Any) -> Any:
    """The leaves at one place: an array if they are numbers, else a list."""
    if all(leaf.__class__ in NUMBERS for leaf in leaves):
        array = np.array(leaves)
        if array.dtype.kind == "O":
            fail(DTypeError, operation, f"{where}: an integer has more than 64 bits")
        return array.astype(NARROW.get(array.dtype, array.dtype), copy=False)
    if all(hasattr(leaf, "__array__") for leaf in leaves):
        arrays = [np.asarray(leaf) for leaf in leaves]
        if all(array.dtype.kind in NUMBER_KINDS for array in arrays):
            return combine(arrays, where)
    return list(leaves)


def _stacked(arrays: Sequence[Any], where: str) -> Any:
    if len({array.shape for array in arrays}) > 1:
        problem = f"{where}: the arrays have different shapes"
        hint = "pad them with `collate=data.Padded()`, or make them alike"
        fail(ShapeError, "stack", problem, *arrays[:8], hint=hint)
    return np.stack(arrays)
