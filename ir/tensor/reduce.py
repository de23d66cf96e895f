"""Reductions: all elements along some axes become one.

Comes in: a tensor. Goes out: a tensor without those axes. The elements are first copied to one
order, the kept axes before the reduced ones, so that bits do not depend on strides; narrow floats
are accumulated in f32 and rounded once.
Never: a reduced axis that is kept with size 1; that is a reshape.
"""

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ..declare import Attr, Operand, Result, among
from ..dtypes import BITS, NUMBERS, ORDERED
from ..interpreter.arrays import stored, widened
from ..payloads import Array
from ..types import Tensor
from .base import TensorOp, check_axes
from .order import MAXIMUM, MINIMUM, Extreme

Along = Callable[..., Array]


def rows(array: Array, axes: tuple[int, ...]) -> Array:
    """A contiguous copy in which `axes`, now one, come last."""
    kept = [axis for axis in range(array.ndim) if axis not in axes]
    length = math.prod(array.shape[axis] for axis in axes)
    ordered = np.ascontiguousarray(array.transpose(*kept, *axes))
    return ordered.reshape([array.shape[axis] for axis in kept] + [length])


def along_last(function: np.ufunc) -> Along:
    """The reduction by a ufunc along the last axis, in the dtype of the array."""

    def along(array: Array) -> Array:
        if array.shape[-1] == 1:
            # numpy would combine it with 0 or 1, which makes NaN of a complex infinity.
            return np.asarray(array[..., 0])
        return np.asarray(function.reduce(array, axis=-1, dtype=array.dtype))

    return along


def all_bits(array: Array) -> Array:
    """The bits that are 1 in every element along the last axis: of none, all."""
    ones = np.invert(np.zeros((), array.dtype))
    return np.asarray(np.bitwise_and.reduce(array, axis=-1, initial=ones))


class Reduction(TensorOp):
    """One element for all those along `axes`, which are distinct and in order."""

    x: Operand[Tensor] = among(NUMBERS)
    axes: Attr[tuple[int, ...]]
    result: Result[Tensor]

    along: ClassVar[Along]

    def __init_subclass__(cls, name: str = "", along: Along | None = None) -> None:
        super().__init_subclass__(name=name)
        if along is not None:
            cls.along = staticmethod(along)

    @staticmethod
    def infer(x: Tensor, axes: tuple[int, ...]) -> Tensor:
        check_axes(axes, x)
        kept = tuple(size for axis, size in enumerate(x.shape) if axis not in axes)
        return x.with_shape(kept)

    def run(self, frame: Any, *operands: Array) -> Array:
        (x,) = operands
        dtype = self.x.dtype
        return stored(self.along(widened(rows(x, self.axes), dtype)), dtype)


class ReduceSum(Reduction, name="tensor.reduce_sum", along=along_last(np.add)):
    """The sum along the axes; of none, 0."""


class ReduceProduct(Reduction, name="tensor.reduce_product", along=along_last(np.multiply)):
    """The product along the axes; of none, 1."""


class ReduceAnd(Reduction, name="tensor.reduce_and", along=all_bits):
    """The bits that are 1 in every element along the axes; of none, all."""

    x: Operand[Tensor] = among(BITS)


class ReduceOr(Reduction, name="tensor.reduce_or", along=along_last(np.bitwise_or)):
    """The bits that are 1 in any element along the axes; of none, no bits."""

    x: Operand[Tensor] = among(BITS)


class ExtremeReduction(Reduction):
    """The largest or smallest; it is one of the elements, so nothing is widened."""

    x: Operand[Tensor] = among(ORDERED)

    extreme: ClassVar[Extreme]

    def run(self, frame: Any, *operands: Array) -> Array:
        (x,) = operands
        return self.extreme.reduce(rows(x, self.axes))


class ReduceMaximum(ExtremeReduction, name="tensor.reduce_maximum"):
    """The largest along the axes; NaN if any is; of none, -inf or the least number."""

    extreme = MAXIMUM


class ReduceMinimum(ExtremeReduction, name="tensor.reduce_minimum"):
    """The smallest along the axes; NaN if any is; of none, inf or the greatest number."""

    extreme = MINIMUM
