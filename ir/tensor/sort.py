"""Sorting: tensors put in the order of some of them.

Comes in: tensors of one shape. Goes out: the same tensors, each line along the axis in the order of
the keys, or only the first so many of it; elements of equal keys keep their order.
Never: places; whoever wants them sorts an iota along.
"""

from typing import Any

import numpy as np

from ..builder import Builder
from ..declare import Attr, Operands, Results
from ..dims import Size, interval
from ..dtypes import ORDERED, i64
from ..errors import require
from ..payloads import Array
from ..types import Tensor
from .base import Tangents, TensorOp, Values, check_axis, rebuilt, size_of
from .batching import all_batched
from .order import is_float, order
from .rules import emit, emit_all, take_along


class Sort(TensorOp, name="tensor.sort"):
    """The tensors, ordered along `axis` by the first `keys` of them, the first key counting most.

    NaN comes after every number, ascending and descending; the two zeros are equal. With `count`,
    only the first so many of each line are made.
    """

    values: Operands[Tensor]
    axis: Attr[int]
    keys: Attr[int]
    descending: Attr[bool] = False
    count: Attr[Size | None] = None
    ordered: Results[Tensor]

    @staticmethod
    def infer(
        values: tuple[Tensor, ...], axis: int, keys: int, count: Size | None
    ) -> tuple[Tensor, ...]:
        wanted = f"keys is {keys}, expected 1 to {len(values)}, the number of tensors"
        require(1 <= keys <= len(values), wanted)
        check_axis(axis, values[0])
        for each in values:
            require(each.shape == values[0].shape, "the shapes differ", values[0], each)
        for each in values[:keys]:
            require(each.dtype in ORDERED, "a key is of a dtype that has no order", each)
        if count is None:
            return values
        whole = values[0].shape[axis]
        fits = interval(count)[1] >= 0 and interval(count)[0] <= interval(whole)[1]
        require(fits, too_few(count, whole))
        shape = (*values[0].shape[:axis], count, *values[0].shape[axis + 1 :])
        return tuple([each.with_shape(shape) for each in values])

    def jvp(self, builder: Builder, tangents: Tangents) -> Tangents:
        """Changes go where their elements go."""
        keys = self.values[: self.keys]
        count = emit(builder, "iota", keys[0].shape, self.axis, i64)
        named = dict(axis=self.axis, keys=self.keys, descending=self.descending, count=self.count)
        places = emit_all(builder, "sort", (*keys, count), **named)[-1]
        return tuple([each and take_along(builder, each, places, self.axis) for each in tangents])

    def batching(
        self, builder: Builder, operands: Values, batched: tuple[bool, ...], size: Size
    ) -> Values:
        values = all_batched(builder, operands, batched, size)
        return rebuilt(self, builder, values, axis=self.axis + 1)

    def run(self, frame: Any, *operands: Array) -> Array | tuple[Array, ...]:
        keys = [sort_key(key, self.descending) for key in reversed(operands[: self.keys])]
        places = np.lexsort(keys, axis=self.axis)
        if self.count is not None:
            places = _first(places, self.axis, size_of(frame, self.count))
        made = tuple(np.take_along_axis(each, places, self.axis) for each in operands)
        return made[0] if len(operands) == 1 else made


def _first(places: Array, axis: int, count: int) -> Array:
    """The first so many places of each line."""
    whole = places.shape[axis]
    require(0 <= count <= whole, too_few(count, whole))
    return np.take(places, np.arange(count), axis)


def too_few(count: Size, whole: Size) -> str:
    """Why there is no beginning of so many elements."""
    return f"the first {count} are wanted of {whole}"


def sort_key(array: Array, descending: bool) -> Array:
    """Integers in whose ascending order the elements are sorted."""
    if not is_float(array):
        return np.invert(array) if descending else array
    positive_zero = np.zeros((), array.dtype)
    keys = order(np.where(array == 0, positive_zero, array))
    # NaN keeps the last place whichever way the numbers go.
    return np.where(np.isnan(array), keys, np.invert(keys)) if descending else keys
