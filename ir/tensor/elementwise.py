"""Elementwise ops: one class an op; only the name, the dtypes and the meaning differ.

Comes in: tensors of equal shape (broadcasting is a view op of its own). Goes out: a tensor of that
shape. Narrow floats are computed in f32 and rounded once; integers wrap. Here stand the bases and
arithmetic; `transcendental`, `bits` and `compare` hold the other ops.
Never: promotion, or broadcasting.
"""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ..builder import Builder
from ..declare import Operand, Result, among, same_as
from ..dtypes import COMPLEXES, FLOATS, NUMBERS, ORDERED, REALS
from ..errors import Unmet
from ..interpreter.arrays import elementwise
from ..payloads import Array
from ..types import Tensor
from . import numerics, order
from .base import Tangents, TensorOp
from .batching import at_each_element
from .rules import Term, emit, no_tangent, require_linear_in_one, same_op, terms, total

Meaning = Callable[..., Any]


class Elementwise(TensorOp):
    """An op of which each element of the result depends on the operands' elements at its place."""

    meaning: ClassVar[Meaning]

    batching = at_each_element

    def __init_subclass__(cls, name: str = "", meaning: Meaning | None = None) -> None:
        super().__init_subclass__(name=name)
        if meaning is not None:
            cls.meaning = staticmethod(meaning)

    def run(self, frame: Any, *operands: Array) -> Array:
        dtype, result = self.operands[0].dtype, self.results[0].dtype
        return elementwise(self.meaning, dtype, result, *operands)


class Unary(Elementwise):
    """One operand."""

    x: Operand[Tensor] = among(FLOATS)
    result: Result[Tensor] = same_as("x")

    def jvp(self, builder: Builder, tangents: Tangents) -> Tangents:
        x, y, dx = terms(builder, self.x, self.results[0], tangents[0])
        return (self.by_x(x, y, dx).value,)

    def by_x(self, x: Term, y: Term, dx: Term) -> Term:
        """How y, the result for x, changes when x changes by dx."""
        raise Unmet("has no derivative")


class Binary(Elementwise):
    """Two operands of one type."""

    left: Operand[Tensor] = among(NUMBERS)
    right: Operand[Tensor] = same_as("left")
    result: Result[Tensor] = same_as("left")

    def jvp(self, builder: Builder, tangents: Tangents) -> Tangents:
        left, right, y = terms(builder, self.left, self.right, self.results[0])
        by_left, by_right = terms(builder, *tangents)
        parts = (
            None if by_left is None else self.by_left(left, right, y, by_left),
            None if by_right is None else self.by_right(left, right, y, by_right),
        )
        return (total(builder, [part and part.value for part in parts]),)

    def by_left(self, left: Term, right: Term, y: Term, dx: Term) -> Term | None:
        """How y, the result for left and right, changes when left changes by dx."""
        raise Unmet("has no derivative")

    def by_right(self, left: Term, right: Term, y: Term, dx: Term) -> Term | None:
        """How y, the result for left and right, changes when right changes by dx."""
        raise Unmet("has no derivative")


class Negate(Unary, name="tensor.negate", meaning=np.negative):
    """-x; the sign bit of a float flips, NaN's too."""

    x: Operand[Tensor] = among(NUMBERS)

    jvp = same_op

    def transpose(self, builder: Builder, operands: Tangents, cotangents: Tangents) -> Tangents:
        return (emit(builder, "negate", cotangents[0]),)


class Absolute(Unary, name="tensor.absolute", meaning=np.absolute):
    """|x|; of a complex number its real length, of the least integer itself."""

    x: Operand[Tensor] = among(NUMBERS)
    result: Result[Tensor]

    def by_x(self, x: Term, y: Term, dx: Term) -> Term:
        if self.x.dtype not in COMPLEXES:
            return dx * x.apply("sign")
        zero = y.apply("equal", y.number(0))
        length = y.number(1).where(zero, y).cast(self.x.dtype)
        return (dx * (x.apply("conjugate") / length)).apply("real")

    @staticmethod
    def infer(x: Tensor) -> Tensor:
        return x.with_dtype(x.dtype.real)


class Sign(Unary, name="tensor.sign", meaning=numerics.sign):
    """-1, 0 or 1; a zero keeps its sign, and NaN stays."""

    x: Operand[Tensor] = among(REALS)

    jvp = no_tangent


class Floor(Unary, name="tensor.floor", meaning=np.floor):
    """The greatest whole number that is not above x."""

    jvp = no_tangent


class Ceil(Unary, name="tensor.ceil", meaning=np.ceil):
    """The least whole number that is not below x."""

    jvp = no_tangent


class Truncate(Unary, name="tensor.truncate", meaning=np.trunc):
    """The whole number next to x on the way to zero."""

    jvp = no_tangent


class RoundEven(Unary, name="tensor.round_even", meaning=np.rint):
    """The nearest whole number; of two, the even one."""

    jvp = no_tangent


class Add(Binary, name="tensor.add", meaning=np.add):
    """left + right."""

    def by_left(self, left: Term, right: Term, y: Term, dx: Term) -> Term:
        return dx

    by_right = by_left

    def transpose(self, builder: Builder, operands: Tangents, cotangents: Tangents) -> Tangents:
        (c,) = cotangents
        return c, c


class Subtract(Binary, name="tensor.subtract", meaning=np.subtract):
    """left - right."""

    def jvp(self, builder: Builder, tangents: Tangents) -> Tangents:
        left, right = tangents
        if right is None:
            return (left,)
        if left is None:
            return (emit(builder, "negate", right),)
        return (emit(builder, "subtract", left, right),)

    def transpose(self, builder: Builder, operands: Tangents, cotangents: Tangents) -> Tangents:
        (c,) = cotangents
        return c, None if operands[1] is not None else emit(builder, "negate", c)


class Multiply(Binary, name="tensor.multiply", meaning=np.multiply):
    """left * right."""

    def by_left(self, left: Term, right: Term, y: Term, dx: Term) -> Term:
        return dx * right

    def by_right(self, left: Term, right: Term, y: Term, dx: Term) -> Term:
        return dx * left

    def transpose(self, builder: Builder, operands: Tangents, cotangents: Tangents) -> Tangents:
        require_linear_in_one(operands)
        left, right, c = terms(builder, *operands, *cotangents)
        return ((c * right).value, None) if left is None else (None, (c * left).value)


class Divide(Binary, name="tensor.divide", meaning=numerics.divide):
    """left / right; integers truncate towards zero, and x / 0 is 0."""

    def jvp(self, builder: Builder, tangents: Tangents) -> Tangents:
        if None in tangents:
            return Binary.jvp(self, builder, tangents)
        # Both at once divide once, and ask for y, which others keep anyway.
        right, y, by_left, by_right = terms(builder, self.right, self.results[0], *tangents)
        return (((by_left - y * by_right) / right).value,)

    def by_left(self, left: Term, right: Term, y: Term, dx: Term) -> Term:
        return dx / right

    def by_right(self, left: Term, right: Term, y: Term, dx: Term) -> Term:
        return dx * -(y / right)

    def transpose(self, builder: Builder, operands: Tangents, cotangents: Tangents) -> Tangents:
        if operands[1] is None:
            raise Unmet("is not linear in what it divides by")
        return emit(builder, "divide", cotangents[0], operands[1]), None


class Remainder(Binary, name="tensor.remainder", meaning=numerics.remainder):
    """What a truncated division leaves, with the sign of left; of integers, x rem 0 is 0."""

    left: Operand[Tensor] = among(REALS)

    def by_left(self, left: Term, right: Term, y: Term, dx: Term) -> Term:
        return dx

    def by_right(self, left: Term, right: Term, y: Term, dx: Term) -> Term:
        return dx * -((left - y) / right).apply("round_even")


class Power(Binary, name="tensor.power", meaning=numerics.power):
    """left to the power right; an integer to a negative power is 1 / left ** -right, truncated."""

    def by_left(self, left: Term, right: Term, y: Term, dx: Term) -> Term:
        # Anything to the 0 is 1, so there 0 to the -1, which is infinite, must not count.
        zero, flat = (each.apply("equal", each.number(0)) for each in (left, right))
        base = left.number(1).where(zero.apply("bit_and", flat), left)
        return dx * (right * base.apply("power", right - 1))

    def by_right(self, left: Term, right: Term, y: Term, dx: Term) -> Term:
        # 0 to any positive power is 0, so there the logarithm of 0 must not count.
        zero = left.apply("equal", left.number(0))
        return dx * (y * left.where(zero.apply("bit_not"), 1).apply("log"))


class Maximum(Binary, name="tensor.maximum", meaning=order.MAXIMUM):
    """The larger; NaN if either is, and +0.0 is larger than -0.0."""

    left: Operand[Tensor] = among(ORDERED)

    def by_left(self, left: Term, right: Term, y: Term, dx: Term) -> Term:
        return dx * share(left, right, right.apply("less", left))

    def by_right(self, left: Term, right: Term, y: Term, dx: Term) -> Term:
        return dx * share(left, right, left.apply("less", right))


class Minimum(Binary, name="tensor.minimum", meaning=order.MINIMUM):
    """The smaller; NaN if either is, and -0.0 is smaller than +0.0."""

    left: Operand[Tensor] = among(ORDERED)

    def by_left(self, left: Term, right: Term, y: Term, dx: Term) -> Term:
        return dx * share(left, right, left.apply("less", right))

    def by_right(self, left: Term, right: Term, y: Term, dx: Term) -> Term:
        return dx * share(left, right, right.apply("less", left))


class BinaryFloat(Binary):
    """Two operands of one type of floats."""

    left: Operand[Tensor] = among(FLOATS)


class Arctan2(BinaryFloat, name="tensor.arctan2", meaning=np.arctan2):
    """The angle of the point (right, left), in -π..π."""

    def by_left(self, left: Term, right: Term, y: Term, dx: Term) -> Term:
        distance = self._distance(left, right)
        return dx * (right / distance / distance)

    def by_right(self, left: Term, right: Term, y: Term, dx: Term) -> Term:
        distance = self._distance(left, right)
        return dx * -(left / distance / distance)

    @staticmethod
    def _distance(left: Term, right: Term) -> Term:
        """That of the point from the origin, where nothing has a direction: there, 1."""
        distance = left.apply("hypot", right)
        return distance.where(distance.apply("not_equal", distance.number(0)), 1)


class CopySign(BinaryFloat, name="tensor.copy_sign", meaning=np.copysign):
    """left with the sign bit of right."""

    def by_left(self, left: Term, right: Term, y: Term, dx: Term) -> Term:
        return dx * (left.apply("sign") * left.number(1).apply("copy_sign", right))

    def by_right(self, left: Term, right: Term, y: Term, dx: Term) -> None:
        return None


class Hypot(BinaryFloat, name="tensor.hypot", meaning=np.hypot):
    """The square root of left² + right², without overflow on the way."""

    def by_left(self, left: Term, right: Term, y: Term, dx: Term) -> Term:
        return dx * (left / y.where(y.apply("equal", y.number(0)).apply("bit_not"), 1))

    def by_right(self, left: Term, right: Term, y: Term, dx: Term) -> Term:
        return self.by_left(right, left, y, dx)


class NextAfter(BinaryFloat, name="tensor.next_after"):
    """The number of the dtype itself that follows left on the way to right."""

    def by_left(self, left: Term, right: Term, y: Term, dx: Term) -> Term:
        return dx

    def by_right(self, left: Term, right: Term, y: Term, dx: Term) -> None:
        return None

    def run(self, frame: Any, *operands: Array) -> Array:
        return order.next_after(*operands)


def share(left: Term, right: Term, wins: Term) -> Term:
    """What of a change counts: all of it where its operand wins, half where both are equal."""
    equal = left.number(0.5).where(left.apply("equal", right), 0)
    return left.number(1).where(wins, equal)
