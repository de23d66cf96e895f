"""Exponentials and logarithms of complex numbers, on their parts.

Comes in: an op, and the parts of its operand. Goes out: the parts of its result, where numbers are
infinite or not numbers the same as C's functions give.
Never: a part that overflows on the way to a result that does not.
"""

from collections.abc import Sequence
from math import inf
from typing import Any

from ...ir.builder import Builder
from ...ir.tensor.rules import Term
from ...ir.values import AnyValue

Parts = tuple[AnyValue, AnyValue]
"""The real and the imaginary part of a number."""
NEAR_ONE = (0.5, 1.5)
"""Where the larger part lies between these, the logarithm of the length may be near zero."""


def exponential(op: Any, builder: Builder, operands: Sequence[Parts]) -> Parts:
    """exp(a) * (cos(b) + i * sin(b)); half of exp(a) at a time, since only all of it may be huge"""
    a, b = (Term(builder, part) for part in operands[0])
    half = (a * 0.5).apply("exp")
    real, imaginary = ((half * b.apply(name)) * half for name in ("cos", "sin"))
    imaginary = b.where(_is(b, 0.0), imaginary)
    turns_forever = b.apply("is_finite").apply("bit_not")
    for limit, value in ((inf, inf), (-inf, 0.0)):
        there = _is(a, limit).apply("bit_and", turns_forever)
        real = a.number(value).where(there, real)
    imaginary = a.number(0.0).where(_is(a, -inf).apply("bit_and", turns_forever), imaginary)
    return real.value, imaginary.value


def logarithm(op: Any, builder: Builder, operands: Sequence[Parts]) -> Parts:
    """log(|z|) + i * arctan2(b, a), the first from the larger part, or from how far 1 is"""
    a, b = (Term(builder, part) for part in operands[0])
    one, other = a.apply("absolute"), b.apply("absolute")
    large, small = one.apply("maximum", other), one.apply("minimum", other)
    ratio = large.number(0.0).where(_is(large, 0.0), small / large)
    far = large.apply("log") + (ratio * ratio).apply("log1p") * 0.5
    near = ((large - 1.0) * (large + 1.0) + small * small).apply("log1p") * 0.5
    low, high = (large.number(each) for each in NEAR_ONE)
    is_near = low.apply("less", large).apply("bit_and", large.apply("less", high))
    endless = _is(one, inf).apply("bit_or", _is(other, inf))
    real = large.number(inf).where(endless, near.where(is_near, far))
    return real.value, b.apply("arctan2", a).value


def _is(x: Term, number: float) -> Term:
    """Whether x is a number."""
    return x.apply("equal", x.number(number))
