"""Comparisons and tests, which make booleans, and the choice between two tensors by them.

Comes in: tensors of equal shape. Goes out: booleans of that shape, or the chosen elements.
Never: an order of complex numbers.
"""

from functools import partial
from typing import Any

import numpy as np

from ..builder import Builder
from ..declare import Operand, Result, among, same_as, shaped_as
from ..dtypes import ALL, ORDERED, boolean
from ..payloads import Array
from ..types import Tensor
from .base import Tangents, TensorOp
from .batching import at_each_element
from .elementwise import Binary, Unary
from .rules import emit, no_tangent, present, zeros


class Comparison(Binary):
    """Whether each pair of elements is in some relation; NaN is unequal to all, and unordered."""

    left: Operand[Tensor] = among(ORDERED)
    result: Result[Tensor] = shaped_as("left", boolean)

    jvp = no_tangent


class Equal(Comparison, name="tensor.equal", meaning=np.equal):
    """left == right; the two zeros are equal."""

    left: Operand[Tensor] = among(ALL)


class NotEqual(Comparison, name="tensor.not_equal", meaning=np.not_equal):
    """left != right."""

    left: Operand[Tensor] = among(ALL)


class Less(Comparison, name="tensor.less", meaning=np.less):
    """left < right."""


class LessEqual(Comparison, name="tensor.less_equal", meaning=np.less_equal):
    """left <= right."""


class Property(Unary):
    """Whether each element has some property."""

    result: Result[Tensor] = shaped_as("x", boolean)

    jvp = no_tangent


class IsNan(Property, name="tensor.is_nan", meaning=np.isnan):
    """Whether x is NaN."""


class IsFinite(Property, name="tensor.is_finite", meaning=np.isfinite):
    """Whether x is neither NaN nor infinite."""


class Select(TensorOp, name="tensor.select"):
    """on_true where the predicate holds, on_false elsewhere."""

    predicate: Operand[Tensor] = shaped_as("on_true", boolean)
    on_true: Operand[Tensor]
    on_false: Operand[Tensor] = same_as("on_true")
    result: Result[Tensor] = same_as("on_true")

    batching = at_each_element

    def jvp(self, builder: Builder, tangents: Tangents) -> Tangents:
        on_true, on_false = map(partial(present, builder), tangents[1:], self.operands[1:])
        return (emit(builder, "select", self.predicate, on_true, on_false),)

    def transpose(self, builder: Builder, operands: Tangents, cotangents: Tangents) -> Tangents:
        (c,), nothing = cotangents, zeros(builder, self.result.type)
        on_true = None if operands[1] else emit(builder, "select", operands[0], c, nothing)
        on_false = None if operands[2] else emit(builder, "select", operands[0], nothing, c)
        return None, on_true, on_false

    def run(self, frame: Any, *operands: Array) -> Array:
        return np.where(*operands)
