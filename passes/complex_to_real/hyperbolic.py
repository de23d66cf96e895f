"""Hyperbolic functions of complex numbers, on their parts; circular ones are these, turned.

Comes in: both parts of a number. Goes out: both parts of the result, where numbers are infinite or
not numbers the same as C's functions give.
Never: a part that overflows on the way to a result that does not.
"""

from ...ir.dtypes import f32
from ...ir.tensor.rules import Term
from .parts import Pair, both, is_infinite, is_number, is_open


def hyperbolic_sine(a: Term, b: Term) -> Pair:
    """sinh(a) * cos(b) + i * cosh(a) * sin(b)"""
    near, rest = _shared(a, 80.0 if a.value.dtype is f32 else 700.0)
    beyond = rest.apply("exp")
    real = near.apply("sinh") * b.apply("cos") * beyond
    imaginary = near.apply("cosh") * b.apply("sin") * beyond
    real = a.where(both(is_open(b), is_number(a, 0.0)), real)
    real = a.apply("absolute").where(both(is_open(b), is_infinite(a)), real)
    return real, b.where(is_number(b, 0.0), imaginary)


def hyperbolic_cosine(a: Term, b: Term) -> Pair:
    """cosh(a) * cos(b) + i * sinh(a) * sin(b)"""
    near, rest = _shared(a, 80.0 if a.value.dtype is f32 else 700.0)
    beyond = rest.apply("exp")
    real = near.apply("cosh") * b.apply("cos") * beyond
    imaginary = near.apply("sinh") * b.apply("sin") * beyond
    real = a.apply("absolute").where(both(is_open(b), is_infinite(a)), real)
    imaginary = a.number(0.0).where(both(is_open(b), is_number(a, 0.0)), imaginary)
    flat = (-b).where(a.apply("less", a.number(0.0)), b)
    return real, flat.where(both(a.apply("not_equal", a.number(0.0)), is_number(b, 0.0)), imaginary)


def cosine(a: Term, b: Term) -> Pair:
    """cos(a + bi) -> cosh(-b + ai)"""
    return hyperbolic_cosine(-b, a)


def hyperbolic_tangent(a: Term, b: Term) -> Pair:
    """At an end, as the standard of arrays has it, the zero beside ±1 has the sign of b."""
    real, imaginary = _tangent(a, b)
    at_end = both(is_infinite(a), b.apply("is_finite"))
    return real, b.number(0.0).apply("copy_sign", b).where(at_end, imaginary)


def tangent(a: Term, b: Term) -> Pair:
    """tan(z), which is tanh turned; at an end, the zero beside ±1 has the sign of sin(2a)."""
    imaginary, real = _tangent(b, a)
    return real, imaginary


def _tangent(a: Term, b: Term) -> Pair:
    """With t = tan(b), s = sinh(a), u = 1 + t**2: u * √(1 + s**2) * s and t, by 1 + u * s**2"""
    near, rest = _shared(a, 11.0 if a.value.dtype is f32 else 22.0)
    slope, sine = b.apply("tan"), near.apply("sinh")
    steep, square = slope * slope + 1.0, sine * sine
    below = steep * square + 1.0
    real = steep * (square + 1.0).apply("square_root") * sine / below
    shrunk = slope / below * (rest * -2.0).apply("exp")
    vanishes = both(is_infinite(a), is_open(b))
    imaginary = b.number(0.0).apply("copy_sign", b).where(vanishes, shrunk)
    ended = a.number(1.0).apply("copy_sign", a)
    real = a.where(both(is_open(b), is_number(a, 0.0)), real)
    return ended.where(is_infinite(a), real), b.where(is_number(b, 0.0), imaginary)


def _shared(a: Term, limit: float) -> Pair:
    """a up to a limit on either side, and how far it is beyond it."""
    size = a.apply("absolute")
    near = size.apply("minimum", a.number(limit))
    return near.apply("copy_sign", a), size - near
