"""Where the largest and the smallest stand along an axis.

Comes in: a tensor. Goes out: places, integers of the dtype asked for, without that axis.
Never: the element itself; a gather fetches it.
"""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ..builder import Builder
from ..declare import Attr, Operand, Result, among
from ..dims import Size
from ..dtypes import INTEGERS, ORDERED, DType
from ..errors import require
from ..interpreter.arrays import widened
from ..payloads import Array
from ..types import Tensor
from .base import TensorOp, Values, check_axis, rebuilt
from .rules import no_tangent

EMPTY = "the axis is empty, so no element is the first"


class ArgReduction(TensorOp):
    """The place along `axis` of the first of the equal elements sought; NaN is always sought."""

    x: Operand[Tensor] = among(ORDERED)
    axis: Attr[int]
    dtype: Attr[DType]
    result: Result[Tensor]

    find: ClassVar[Callable[..., Any]]

    @staticmethod
    def infer(x: Tensor, axis: int, dtype: DType) -> Tensor:
        check_axis(axis, x)
        require(dtype in INTEGERS, "places are integers, which this dtype does not hold", dtype)
        if isinstance(x.shape[axis], int):
            check_places(x.shape[axis], dtype)
        return Tensor(x.shape[:axis] + x.shape[axis + 1 :], dtype)

    jvp = no_tangent

    def batching(
        self, builder: Builder, operands: Values, batched: tuple[bool, ...], size: Size
    ) -> Values:
        return rebuilt(self, builder, operands, axis=self.axis + 1)

    def run(self, frame: Any, *operands: Array) -> Array:
        (x,) = operands
        check_places(x.shape[self.axis], self.dtype)
        places = self.find(widened(x, self.x.dtype), axis=self.axis)
        return np.asarray(places, self.dtype.storage)


def check_places(length: Any, dtype: DType) -> None:
    """An axis has a first element, and `dtype` can count to its last."""
    require(length > 0, EMPTY)
    last = np.iinfo(dtype.storage).max
    require(length - 1 <= last, f"the axis has {length} places, and {dtype} ends at {last}")


class ArgMaximum(ArgReduction, name="tensor.arg_maximum"):
    """The place of the largest: of equals the first, and of NaNs the first if there are any."""

    find = staticmethod(np.argmax)


class ArgMinimum(ArgReduction, name="tensor.arg_minimum"):
    """The place of the smallest: of equals the first, and of NaNs the first if there are any."""

    find = staticmethod(np.argmin)
