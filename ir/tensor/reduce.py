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

from ..builder import Builder
from ..declare import Attr, Operand, Result, among
from ..dims import Size
from ..dtypes import BITS, NUMBERS, ORDERED
from ..interpreter.arrays import stored, widened
from ..payloads import Array
from ..types import Tensor
from .axes import other_axes, shifted
from .base import Tangents, TensorOp, Values, check_axes, rebuilt
from .order import MAXIMUM, MINIMUM, Extreme
from .rules import Term, broadcast_along, emit, no_tangent, same_op, terms
from .scan import in_lines, others_along

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


def products(array: Array) -> Array:
    """Those along the last axis, from the first element on: numpy's begin with 1, which makes NaN
    of a complex infinity."""
    start: dict[str, Any] = {"initial": None} if array.shape[-1] else {}
    return np.asarray(np.multiply.reduce(array, axis=-1, dtype=array.dtype, **start))


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

    def batching(
        self, builder: Builder, operands: Values, batched: tuple[bool, ...], size: Size
    ) -> Values:
        return rebuilt(self, builder, operands, axes=shifted(self.axes))

    def run(self, frame: Any, *operands: Array) -> Array:
        (x,) = operands
        dtype = self.x.dtype
        return stored(self.along(widened(rows(x, self.axes), dtype)), dtype)


class ReduceSum(Reduction, name="tensor.reduce_sum", along=along_last(np.add)):
    """The sum along the axes; of none, 0."""

    jvp = same_op

    def transpose(self, builder: Builder, operands: Tangents, cotangents: Tangents) -> Tangents:
        return (broadcast_along(builder, cotangents[0], self.x.shape, self.axes),)


class ReduceProduct(Reduction, name="tensor.reduce_product", along=products):
    """The product along the axes; of none, 1."""

    def jvp(self, builder: Builder, tangents: Tangents) -> Tangents:
        """Each change times all other elements: a product of those before and those after."""
        line = (*other_axes(len(self.x.shape), self.axes), *self.axes)
        x = in_lines(builder, self.x, line, len(self.axes))
        last = len(x.shape) - 1
        others = [others_along(builder, x, last, reverse=each) for each in (False, True)]
        change = in_lines(builder, tangents[0], line, len(self.axes))
        product = emit(builder, "multiply", change, emit(builder, "multiply", *others))
        return (emit(builder, "reduce_sum", product, (last,)),)


class ReduceAnd(Reduction, name="tensor.reduce_and", along=all_bits):
    """The bits that are 1 in every element along the axes; of none, all."""

    x: Operand[Tensor] = among(BITS)

    jvp = no_tangent


class ReduceOr(Reduction, name="tensor.reduce_or", along=along_last(np.bitwise_or)):
    """The bits that are 1 in any element along the axes; of none, no bits."""

    x: Operand[Tensor] = among(BITS)

    jvp = no_tangent


class ExtremeReduction(Reduction):
    """The largest or smallest; it is one of the elements, so nothing is widened."""

    x: Operand[Tensor] = among(ORDERED)

    extreme: ClassVar[Extreme]

    def jvp(self, builder: Builder, tangents: Tangents) -> Tangents:
        """The mean of the changes of all elements that are the largest, or the smallest."""
        wide = self.x.dtype.accumulator
        x, change = terms(builder, self.x, tangents[0])
        y = broadcast_along(builder, self.result, self.x.shape, self.axes)
        found = x.apply("equal", Term(builder, y))
        count = found.cast(wide).apply("reduce_sum", axes=self.axes)
        share = (1 / count.apply("maximum", count.number(1))).cast(self.x.dtype)
        return ((change.where(found, 0).apply("reduce_sum", axes=self.axes) * share).value,)

    def run(self, frame: Any, *operands: Array) -> Array:
        (x,) = operands
        return self.extreme.reduce(rows(x, self.axes))


class ReduceMaximum(ExtremeReduction, name="tensor.reduce_maximum"):
    """The largest along the axes; NaN if any is; of none, -inf or the least number."""

    extreme = MAXIMUM


class ReduceMinimum(ExtremeReduction, name="tensor.reduce_minimum"):
    """The smallest along the axes; NaN if any is; of none, inf or the greatest number."""

    extreme = MINIMUM
