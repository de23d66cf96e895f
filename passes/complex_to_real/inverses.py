"""Inverses of hyperbolic and circular functions of complex numbers, on their parts.

Comes in: both parts of a number. Goes out: both parts of the result, on the sides of cuts that
signs of zeros tell; where numbers are infinite or not numbers the same as C's functions give.
Never: a difference of almost the same numbers: all are sums of what has the same sign.
"""

from math import inf, log, pi

from ...ir.tensor.rules import Term
from .parts import Pair, both, either, is_infinite, is_number, sizes
from .roots import square_root

FAR = 2.0**60
"""From here on, 1 beside a number is nothing."""
CLOSE = 2.0**-60
"""Up to here, a distance from 1 is nothing beside 1."""


def arc_sine(a: Term, b: Term) -> Pair:
    """arctan(a / Re(√(1-z) * √(1+z))) + i * arcsinh(Im(conj(√(1-z)) * √(1+z)))"""
    (c, d), (e, f) = _roots(a, b)
    shrink, is_far = _shrink(a, b)
    across = b.apply("absolute").where(is_far, c * e - d * f)
    real = a.apply("arctan2", across)
    return a.where(is_number(a, 0.0), real), _height(a, b, c * shrink * f - d * shrink * e)


def arc_cosine(a: Term, b: Term) -> Pair:
    """2 * arctan(Re(√(1-z)) / Re(√(1+z))) - i * Im(arcsin(z))"""
    (c, d), (e, f) = _roots(a, b)
    shrink, is_far = _shrink(a, b)
    angle = b.apply("absolute").where(is_far, c).apply("arctan2", a.where(is_far, e))
    real = a.number(pi / 2).where(is_number(a, 0.0), angle.where(is_far, angle + angle))
    return real, -_height(a, b, c * shrink * f - d * shrink * e)


def arc_hyperbolic_cosine(a: Term, b: Term) -> Pair:
    """i * arccos(z), or -i times it, so that the real part is not negative"""
    real, imaginary = arc_cosine(a, b)
    return imaginary.apply("absolute"), real.apply("copy_sign", b)


def arc_hyperbolic_tangent(a: Term, b: Term) -> Pair:
    """log1p(4a / |1-z|**2) / 4 + i * arctan2(2b, (1-a) * (1+a) - b**2) / 2, for a not negative"""
    size = a.apply("absolute")
    to_one = 1.0 - size
    distance = to_one.apply("hypot", b)
    spread = (size / distance * 4.0 / distance).apply("log1p") * 0.25
    close = (log(2) - distance.apply("log")) * 0.5
    length = close.where(distance.apply("less", distance.number(CLOSE)), spread)
    endless = either(is_infinite(a), is_infinite(b))
    real = length.number(0.0).where(endless, length).apply("copy_sign", a)
    across = (to_one * (size + 1.0) - b * b) * 0.5
    angle = b.apply("arctan2", across) * 0.5
    quarter = b.number(pi / 2).apply("copy_sign", b)
    imaginary = quarter.where(both(endless, b.apply("equal", b)), angle)
    return a.where(is_number(a, 0.0), real), imaginary


def _roots(a: Term, b: Term) -> tuple[Pair, Pair]:
    """√(1-z) and √(1+z)"""
    return square_root(1.0 - a, -b), square_root(a + 1.0, b)


def _shrink(a: Term, b: Term) -> Pair:
    """What keeps products of the roots from overflowing, and where they might."""
    large, _ = sizes(a, b)
    is_far = large.apply("less_equal", large.number(FAR)).apply("bit_not")
    return large.number(0.25).where(is_far, 1.0), is_far


def _height(a: Term, b: Term, shrunk: Term) -> Term:
    """arcsinh of what was perhaps made a quarter of: there, log(4) is missing."""
    _, is_far = _shrink(a, b)
    size = shrunk.apply("absolute").apply("arcsinh")
    whole = (size + log(4)).where(is_far, size).apply("copy_sign", b)
    endless = either(is_infinite(a), is_infinite(b))
    return b.number(inf).apply("copy_sign", b).where(endless, whole)
