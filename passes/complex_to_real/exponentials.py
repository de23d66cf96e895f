"""Exponentials of complex numbers, on their parts.

Comes in: both parts of a number. Goes out: both parts of the result, where numbers are infinite or
not numbers the same as C's functions give.
Never: a part that overflows on the way to a result that does not.
"""

from math import inf, log

from ...ir.tensor.rules import Term
from .parts import Pair, both, is_number, is_open


def exponential(a: Term, b: Term) -> Pair:
    """exp(a) * (cos(b) + i * sin(b))"""
    return _in_halves((a * 0.5).apply("exp"), a, b)


def exponential_of_two(a: Term, b: Term) -> Pair:
    """exp2(a) * (cos(b * log(2)) + i * sin(b * log(2)))"""
    return _in_halves((a * 0.5).apply("exp2"), a, b * log(2))


def exponential_less_one(a: Term, b: Term) -> Pair:
    """expm1(a) * cos(b) - 2 * sin(b / 2)**2, which is exact near zero, and exp(a) * sin(b)"""
    raised, imaginary = exponential(a, b)
    sine, less = (b * 0.5).apply("sin"), a.apply("expm1")
    near = less * b.apply("cos") - (sine + sine) * sine
    is_near = both(a.apply("absolute").apply("less", a.number(1.0)), b.apply("is_finite"))
    real = near.where(is_near, raised - 1.0)
    return (less + 0.0).where(is_number(b, 0.0), real), imaginary


def _in_halves(half: Term, a: Term, b: Term) -> Pair:
    """half**2 * (cos(b) + i * sin(b)); only all of half**2 = e**a may be huge"""
    real, imaginary = ((half * b.apply(name)) * half for name in ("cos", "sin"))
    imaginary = b.where(is_number(b, 0.0), imaginary)
    for limit, value in ((inf, inf), (-inf, 0.0)):
        there = both(is_number(a, limit), is_open(b))
        real = a.number(value).where(there, real)
    vanishes = both(is_number(a, -inf), is_open(b))
    return real, a.number(0.0).apply("copy_sign", b).where(vanishes, imaginary)
