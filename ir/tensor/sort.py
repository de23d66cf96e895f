"""Sorting: tensors put in the order of some of them.

Comes in: tensors of one shape. Goes out: the same tensors, each line along the axis in the order of
the keys; lines of equal keys keep their order.
Never: places; whoever wants them sorts an iota along.
"""

from typing import Any

import numpy as np

from ..builder import Builder
from ..declare import Attr, Operands, Results
from ..dims import Size
from ..dtypes import ORDERED, i64
from ..errors import require
from ..payloads import Array
from ..types import Tensor
from .base import Tangents, TensorOp, Values, check_axis, rebuilt
from .batching import all_batched
from .order import is_float, order
from .rules import emit, emit_all, take_along


class Sort(TensorOp, name="tensor.sort"):
    """The tensors, ordered along `axis` by the first `keys` of them, the first key counting most.

    NaN comes after every number, ascending and descending; the two zeros are equal.
    """

    values: Operands[Tensor]
    axis: Attr[int]
    keys: Attr[int]
    descending: Attr[bool] = False
    ordered: Results[Tensor]

    @staticmethod
    def infer(values: tuple[Tensor, ...], axis: int, keys: int) -> tuple[Tensor, ...]:
        wanted = f"keys is {keys}, expected 1 to {len(values)}, the number of tensors"
        require(1 <= keys <= len(values), wanted)
        check_axis(axis, values[0])
        for each in values:
            require(each.shape == values[0].shape, "the shapes differ", values[0], each)
        for each in values[:keys]:
            require(each.dtype in ORDERED, "a key is of a dtype that has no order", each)
        return values

    def jvp(self, builder: Builder, tangents: Tangents) -> Tangents:
        """Changes go where their elements go."""
        keys = self.values[: self.keys]
        count = emit(builder, "iota", keys[0].shape, self.axis, i64)
        named = {"axis": self.axis, "keys": self.keys, "descending": self.descending}
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
        made = tuple(np.take_along_axis(each, places, self.axis) for each in operands)
        return made[0] if len(operands) == 1 else made


def sort_key(array: Array, descending: bool) -> Array:
    """Integers in whose ascending order the elements are sorted."""
    if not is_float(array):
        return np.invert(array) if descending else array
    positive_zero = np.zeros((), array.dtype)
    keys = order(np.where(array == 0, positive_zero, array))
    # NaN keeps the last place whichever way the numbers go.
    return np.where(np.isnan(array), keys, np.invert(keys)) if descending else keys
