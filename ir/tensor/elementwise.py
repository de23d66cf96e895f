"""Elementwise ops: one class an op; only the name, the dtypes and the meaning differ.

Comes in: tensors of equal shape (broadcasting is a view op of its own). Goes out: a tensor of that
shape. Narrow floats are computed in f32 and rounded once; integers wrap. Here stand the bases and
arithmetic; `transcendental`, `bits` and `compare` hold the other ops.
Never: promotion, or broadcasting.
"""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ..declare import Operand, Result, among, same_as
from ..dtypes import FLOATS, NUMBERS, ORDERED, REALS
from ..interpreter.arrays import elementwise
from ..payloads import Array
from ..types import Tensor
from . import numerics, order
from .base import TensorOp

Meaning = Callable[..., Any]


class Elementwise(TensorOp):
    """An op of which each element of the result depends on the operands' elements at its place."""

    meaning: ClassVar[Meaning]

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


class Binary(Elementwise):
    """Two operands of one type."""

    left: Operand[Tensor] = among(NUMBERS)
    right: Operand[Tensor] = same_as("left")
    result: Result[Tensor] = same_as("left")


class Negate(Unary, name="tensor.negate", meaning=np.negative):
    """-x; the sign bit of a float flips, NaN's too."""

    x: Operand[Tensor] = among(NUMBERS)


class Absolute(Unary, name="tensor.absolute", meaning=np.absolute):
    """|x|; of a complex number its real length, of the least integer itself."""

    x: Operand[Tensor] = among(NUMBERS)
    result: Result[Tensor]

    @staticmethod
    def infer(x: Tensor) -> Tensor:
        return x.with_dtype(x.dtype.real)


class Sign(Unary, name="tensor.sign", meaning=numerics.sign):
    """-1, 0 or 1; a zero keeps its sign, and NaN stays."""

    x: Operand[Tensor] = among(REALS)


class Floor(Unary, name="tensor.floor", meaning=np.floor):
    """The greatest whole number that is not above x."""


class Ceil(Unary, name="tensor.ceil", meaning=np.ceil):
    """The least whole number that is not below x."""


class Truncate(Unary, name="tensor.truncate", meaning=np.trunc):
    """The whole number next to x on the way to zero."""


class RoundEven(Unary, name="tensor.round_even", meaning=np.rint):
    """The nearest whole number; of two, the even one."""


class Add(Binary, name="tensor.add", meaning=np.add):
    """left + right."""


class Subtract(Binary, name="tensor.subtract", meaning=np.subtract):
    """left - right."""


class Multiply(Binary, name="tensor.multiply", meaning=np.multiply):
    """left * right."""


class Divide(Binary, name="tensor.divide", meaning=numerics.divide):
    """left / right; integers truncate towards zero, and x / 0 is 0."""


class Remainder(Binary, name="tensor.remainder", meaning=numerics.remainder):
    """What a truncated division leaves, with the sign of left; of integers, x rem 0 is 0."""

    left: Operand[Tensor] = among(REALS)


class Power(Binary, name="tensor.power", meaning=numerics.power):
    """left to the power right; an integer to a negative power is 1 / left ** -right, truncated."""


class Maximum(Binary, name="tensor.maximum", meaning=order.MAXIMUM):
    """The larger; NaN if either is, and +0.0 is larger than -0.0."""

    left: Operand[Tensor] = among(ORDERED)


class Minimum(Binary, name="tensor.minimum", meaning=order.MINIMUM):
    """The smaller; NaN if either is, and -0.0 is smaller than +0.0."""

    left: Operand[Tensor] = among(ORDERED)


class BinaryFloat(Binary):
    """Two operands of one type of floats."""

    left: Operand[Tensor] = among(FLOATS)


class Arctan2(BinaryFloat, name="tensor.arctan2", meaning=np.arctan2):
    """The angle of the point (right, left), in -π..π."""


class CopySign(BinaryFloat, name="tensor.copy_sign", meaning=np.copysign):
    """left with the sign bit of right."""


class Hypot(BinaryFloat, name="tensor.hypot", meaning=np.hypot):
    """The square root of left² + right², without overflow on the way."""


class NextAfter(BinaryFloat, name="tensor.next_after"):
    """The number of the dtype itself that follows left on the way to right."""

    def run(self, frame: Any, *operands: Array) -> Array:
        return order.next_after(*operands)
