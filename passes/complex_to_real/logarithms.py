"""Logarithms of complex numbers, on their parts.

Comes in: both parts of a number. Goes out: both parts of the result, where numbers are infinite or
not numbers the same as C's functions give.
Never: a part that overflows on the way, or is lost where the length of a number is near 1.
"""

from math import inf, log

from ...ir.dtypes import f32
from ...ir.tensor.rules import Term
from .parts import Function, Pair, both, either, is_infinite, is_number, sizes

NEAR_ONE = (0.5, 1.5)
"""Where the larger part lies between these, the logarithm of the length may be near zero."""


def logarithm(a: Term, b: Term) -> Pair:
    """log(|z|) + i * arctan2(b, a)"""
    large, small = sizes(a, b)
    return _of_length(a, b, _beyond_one(large - 1.0, small)), b.apply("arctan2", a)


def logarithm_of_more(a: Term, b: Term) -> Pair:
    """log(1 + z), from what |1 + z|**2 is beyond 1"""
    more = a + 1.0
    return _of_length(more, b, _beyond_one(a, b)), b.apply("arctan2", more)


def to_base(base: float) -> Function:
    """log(z) / log(base)"""

    def found(a: Term, b: Term) -> Pair:
        real, imaginary = logarithm(a, b)
        return real * (1 / log(base)), imaginary * (1 / log(base))

    return found


def _of_length(a: Term, b: Term, beyond: Term) -> Term:
    """log(|z|), from the larger part, or from what |z|**2 is beyond 1"""
    large, small = sizes(a, b)
    ratio = large.number(0.0).where(is_number(large, 0.0), small / large)
    far = large.apply("log") + (ratio * ratio).apply("log1p") * 0.5
    low, high = (large.number(each) for each in NEAR_ONE)
    is_near = both(low.apply("less", large), large.apply("less", high))
    real = (beyond.apply("log1p") * 0.5).where(is_near, far)
    return large.number(inf).where(either(is_infinite(a), is_infinite(b)), real)


def _beyond_one(a: Term, b: Term) -> Term:
    """(1 + a)**2 + b**2 - 1, with what each op loses, since little may be left"""
    square, of_square = _square(a)
    other, of_other = _square(b)
    total, of_first = _sum(a + a, square)
    total, of_second = _sum(total, other)
    return total + ((of_first + of_second) + (of_square + of_other))


def _sum(left: Term, right: Term) -> Pair:
    """left + right, and what it loses when it is rounded."""
    total = left + right
    added = total - left
    return total, (left - (total - added)) + (right - added)


def _square(x: Term) -> Pair:
    """x * x, and what it loses when it is rounded: x falls into halves whose products are exact."""
    wide = x * (2.0**12 + 1 if x.value.dtype is f32 else 2.0**27 + 1)
    high = wide - (wide - x)
    low, square, cross = x - high, x * x, high * (x - high)
    return square, ((high * high - square) + (cross + cross)) + low * low
