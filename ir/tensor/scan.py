"""Scans: every prefix along an axis, combined to one element.

Comes in: a tensor. Goes out: a tensor of the same type, whose element i combines 0..i, or with
`reverse` i..last. Elements are combined one after the other; narrow floats accumulate in f32 and
each result is rounded once.
Never: an exclusive scan; that is a pad and a slice of one.
"""

from collections.abc import Callable
from math import prod as product
from typing import Any, ClassVar

import numpy as np

from ..builder import Builder
from ..declare import Attr, Operand, Result, among, same_as
from ..dims import Size
from ..dtypes import NUMBERS, ORDERED, i64
from ..func import Yield
from ..interpreter.arrays import stored, widened
from ..payloads import Array, Number
from ..types import Tensor
from ..values import AnyValue
from .base import Tangents, TensorOp, Values, check_axis, rebuilt
from .order import MAXIMUM, MINIMUM
from .rules import emit, emit_all, same_op, take_along, with_axis, zeros

Prefixes = Callable[..., Array]


def prefixes(function: np.ufunc) -> Prefixes:
    """The scan by a ufunc along an axis, in the dtype of the array."""

    def along(array: Array, axis: int) -> Array:
        return function.accumulate(array, axis=axis, dtype=array.dtype)

    return along


class Scan(TensorOp):
    """Each element combined with all before it along `axis`, or with `reverse` all after it."""

    x: Operand[Tensor] = among(NUMBERS)
    axis: Attr[int]
    reverse: Attr[bool] = False
    result: Result[Tensor] = same_as("x")

    prefixes: ClassVar[Prefixes]

    def __init_subclass__(cls, name: str = "", prefixes: Prefixes | None = None) -> None:
        super().__init_subclass__(name=name)
        if prefixes is not None:
            cls.prefixes = staticmethod(prefixes)

    def check(self) -> None:
        check_axis(self.axis, self.x.type)

    def batching(
        self, builder: Builder, operands: Values, batched: tuple[bool, ...], size: Size
    ) -> Values:
        return rebuilt(self, builder, operands, axis=self.axis + 1)

    def run(self, frame: Any, *operands: Array) -> Array:
        (x,) = operands
        dtype = self.x.dtype
        forward = np.flip(x, self.axis) if self.reverse else x
        combined = stored(self.prefixes(widened(forward, dtype), self.axis), dtype)
        return np.flip(combined, self.axis) if self.reverse else combined


class CumulativeSum(Scan, name="tensor.cumulative_sum", prefixes=prefixes(np.add)):
    """The sum of each element and all before it."""

    jvp = same_op

    def transpose(self, builder: Builder, operands: Tangents, cotangents: Tangents) -> Tangents:
        back = not self.reverse
        return (emit(builder, "cumulative_sum", cotangents[0], self.axis, reverse=back),)


class CumulativeProduct(Scan, name="tensor.cumulative_product", prefixes=prefixes(np.multiply)):
    """The product of each element and all before it."""

    def jvp(self, builder: Builder, tangents: Tangents) -> Tangents:
        """y[i] = y[i - 1] · x[i], so dy[i] = dy[i - 1] · x[i] + y[i - 1] · dx[i], in a loop."""
        before = others_along(builder, self.x, self.axis, self.reverse)
        change = emit(builder, "multiply", tangents[0], before)
        inputs = [with_axis(builder, each, self.axis, 0) for each in (self.x, change)]
        row = self.x.type.with_shape(inputs[0].shape[1:])
        body = builder.nest([Tensor((), i64), row, row, row])
        _, old, factor, more = body.block.arguments
        new = emit(body, "add", emit(body, "multiply", old, factor), more)
        body.emit_all(Yield, [new, new])
        start, trip = [zeros(builder, row)], self.x.shape[self.axis]
        named = {"reverse": self.reverse}
        _, stacked = emit_all(builder, "loop", start, inputs, trip, body.block, **named)
        return (with_axis(builder, stacked, 0, self.axis),)


class ExtremeScan(Scan):
    """The largest, or the smallest, of each element and all before it."""

    x: Operand[Tensor] = among(ORDERED)

    def jvp(self, builder: Builder, tangents: Tangents) -> Tangents:
        """The change of the last element before each, or there, that is the result there."""
        x, change = [
            emit(builder, "flip", each, (self.axis,)) if self.reverse else each
            for each in (self.x, tangents[0])
        ]
        y = emit(builder, "flip", self.result, (self.axis,)) if self.reverse else self.result
        place = emit(builder, "iota", self.x.shape, self.axis, i64)
        found = emit(builder, "equal", x, y)
        known = emit(builder, "select", found, place, zeros(builder, place.type))
        last = emit(builder, "cumulative_maximum", known, self.axis)
        taken = take_along(builder, change, last, self.axis)
        return (emit(builder, "flip", taken, (self.axis,)) if self.reverse else taken,)


class CumulativeMaximum(ExtremeScan, name="tensor.cumulative_maximum", prefixes=MAXIMUM.accumulate):
    """The largest of each element and all before it; NaN from the first NaN on."""


class CumulativeMinimum(ExtremeScan, name="tensor.cumulative_minimum", prefixes=MINIMUM.accumulate):
    """The smallest of each element and all before it; NaN from the first NaN on."""


def others_along(builder: Builder, x: AnyValue, axis: int, reverse: bool) -> AnyValue:
    """For each element, the product of all before it along an axis, or with `reverse` after it."""
    side, rank = int(reverse), len(x.shape)
    edge, none = tuple(int(each == axis) for each in range(rank)), (0,) * rank
    low, high = (none, edge) if reverse else (edge, none)
    wider = emit(builder, "pad", x, low, high, none, Number(1, x.dtype))
    start = tuple(side * each for each in edge)
    moved = emit(builder, "slice", wider, start, x.shape, (1,) * rank)
    return emit(builder, "cumulative_product", moved, axis, reverse=reverse)


def in_lines(builder: Builder, x: Any, order: tuple[int, ...], last: int) -> AnyValue:
    """x with its axes in this order, the `last` of them as one."""
    ordered = emit(builder, "permute", x, order)
    kept = len(order) - last
    return emit(builder, "reshape", ordered, (*ordered.shape[:kept], product(ordered.shape[kept:])))
