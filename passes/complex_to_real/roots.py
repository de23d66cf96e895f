"""Roots of complex numbers, on their parts.

Comes in: both parts of a number. Goes out: both parts of the result, where numbers are infinite or
not numbers the same as C's functions give.
Never: a part that overflows, or loses bits of a denormal, on the way to a result that does not.
"""

from math import inf

from ...ir.tensor.rules import Term
from .parts import Pair, is_infinite, is_number, reciprocal, sizes


def square_root(a: Term, b: Term) -> Pair:
    """The larger part is √((|a| + |z|) / 2), the other what makes twice their product b."""
    large, _ = sizes(a, b)
    is_small = large.apply("less", large.number(1.0))
    scale = large.number(2.0**100).where(is_small, 0.25)
    back = large.number(2.0**-50).where(is_small, 2.0)
    one, other = (part * scale for part in (a.apply("absolute"), b))
    root = ((one + one.apply("hypot", other)) * 0.5).apply("square_root") * back
    rest = b / root * 0.5
    leans_right = a.number(0.0).apply("less_equal", a)
    real = root.where(leans_right, rest.apply("absolute"))
    imaginary = rest.where(leans_right, root.apply("copy_sign", b))
    none, endless = is_number(large, 0.0), is_infinite(b)
    real = a.number(inf).where(endless, a.number(0.0).where(none, real))
    return real, b.where(none.apply("bit_or", endless), imaginary)


def reciprocal_of_root(a: Term, b: Term) -> Pair:
    """1 / √z"""
    return reciprocal(*square_root(a, b))
