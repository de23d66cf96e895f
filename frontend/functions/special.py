"""Functions beyond arithmetic that statistics and signal processing use.

Comes in: tensors of floats. Goes out: tensors of the same dtype.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ...ir import dtypes as ir
from ...ir import tensor as ops
from ..handle import wrap
from .common import promote
from .elementwise import abs as absolute
from .elementwise import add, divide, log, log1p, multiply, negative, sin, square, subtract, unary
from .logic import equal, greater, isfinite, isnan, less, logical_and, logical_not, where

if TYPE_CHECKING:
    from ..tensor import Tensor

SERIES = 0.5
"""Below this angle `sinc` is a series, whose next term would be less than doubles tell apart."""
_SINC = [(-1) ** n / math.factorial(2 * n + 1) for n in range(8)]


def erfc(x: Any, /) -> Tensor:
    """1 - erf(x), accurate where little of it is left."""
    return unary(ops.Erfc, "erfc", x, ir.FLOATS)


def erfinv(x: Any, /) -> Tensor:
    """The number whose error function is x."""
    return unary(ops.ErfInverse, "erfinv", x, ir.FLOATS)


def lgamma(x: Any, /) -> Tensor:
    """log |Γ(x)|."""
    return unary(ops.LogGamma, "lgamma", x, ir.FLOATS)


def digamma(x: Any, /) -> Tensor:
    """The derivative of log Γ(x)."""
    return unary(ops.Digamma, "digamma", x, ir.FLOATS)


def logit(x: Any, /) -> Tensor:
    """log(x / (1 - x)), the inverse of `sigmoid`."""
    return subtract(log(x), log1p(negative(x)))


def sinc(x: Any, /) -> Tensor:
    """sin(πx) / (πx), and 1 at 0."""
    angle = multiply(math.pi, x)
    close = less(absolute(angle), SERIES)  # where little of its derivatives would be left
    power, total = square(where(close, angle, 0.0)), _SINC[-1]
    for coefficient in _SINC[-2::-1]:
        total = add(coefficient, multiply(total, power))
    far = where(close, 1.0, angle)
    return where(close, total, divide(sin(far), far))


def xlogy(x: Any, y: Any, /) -> Tensor:
    """x * log(y), and 0 where x is 0, unless y is NaN."""
    first, second = (wrap(node) for node in promote("xlogy", x, y, among=ir.FLOATS, floats=True))
    known = logical_and(greater(second, 0), isfinite(second))
    absent = logical_and(equal(first, 0), logical_not(known))
    product = multiply(first, log(where(absent, 1.0, second)))
    return where(absent, _zero_or_nan(second), add(product, 0.0))  # never -0.0


def _zero_or_nan(x: Tensor) -> Tensor:
    """NaN where x is, 0 elsewhere."""
    return where(isnan(x), x, 0.0)


def entropy(x: Any, /) -> Tensor:
    """-x * log(x), and 0 at 0."""
    return negative(xlogy(x, x))


def degrees(x: Any, /) -> Tensor:
    """Radians as degrees."""
    return multiply(x, 180 / math.pi)


def radians(x: Any, /) -> Tensor:
    """Degrees as radians."""
    return multiply(x, math.pi / 180)


def heaviside(x: Any, value: Any, /) -> Tensor:
    """0 below 0, 1 above, `value` at 0; NaN stays."""
    first, at_zero = (wrap(n) for n in promote("heaviside", x, value, among=ir.FLOATS, floats=True))
    return where(isnan(first), first, where(equal(first, 0), at_zero, greater(first, 0) * 1.0))


def lerp(start: Any, end: Any, weight: Any, /) -> Tensor:
    """start + weight * (end - start)."""
    return add(start, multiply(weight, subtract(end, start)))
