"""What formulas of both parts of a complex number are written with.

Comes in: the real and the imaginary part of a number, as terms. Goes out: the parts of others.
Never: a function of complex numbers; those stand in the files about them.
"""

from collections.abc import Callable
from math import inf

from ...ir.tensor.rules import Term

Pair = tuple[Term, Term]
"""The real and the imaginary part of a number."""
Function = Callable[[Term, Term], Pair]
"""A function of a complex number, from its parts to those of the result."""


def turned(function: Function) -> Function:
    """The function f of which `function` is -i * f(i * z), or i * conj(f) at i * conj(z)."""

    def found(a: Term, b: Term) -> Pair:
        imaginary, real = function(b, a)
        return real, imaginary

    return found


def is_number(x: Term, number: float) -> Term:
    """Whether x is a number."""
    return x.apply("equal", x.number(number))


def is_infinite(x: Term) -> Term:
    """Whether x is infinite, on either side."""
    return is_number(x.apply("absolute"), inf)


def is_open(x: Term) -> Term:
    """Whether x is infinite, or no number: as an angle it points nowhere."""
    return x.apply("is_finite").apply("bit_not")


def both(one: Term, other: Term) -> Term:
    """Whether both hold."""
    return one.apply("bit_and", other)


def either(one: Term, other: Term) -> Term:
    """Whether one holds, or both."""
    return one.apply("bit_or", other)


def sizes(a: Term, b: Term) -> Pair:
    """The larger and the smaller of both parts' sizes."""
    one, other = a.apply("absolute"), b.apply("absolute")
    return one.apply("maximum", other), one.apply("minimum", other)


def chosen(predicate: Term, one: Pair, other: Pair) -> Pair:
    """The one number where the predicate holds, the other elsewhere."""
    return one[0].where(predicate, other[0]), one[1].where(predicate, other[1])


def product(left: Pair, right: Pair) -> Pair:
    """(a + bi) * (c + di) -> (a*c - b*d) + (a*d + b*c)i"""
    (a, b), (c, d) = left, right
    return a * c - b * d, a * d + b * c


def quotient(left: Pair, right: Pair) -> Pair:
    """(a + bi) / (c + di), by way of d/c or c/d, whichever is small; by zero, (a + bi) / |c|"""
    (a, b), (c, d) = left, right
    by_real = d.apply("absolute").apply("less_equal", c.apply("absolute"))
    large, small = c.where(by_real, d), d.where(by_real, c)
    first, second = a.where(by_real, b), b.where(by_real, a)
    sign = c.number(1.0).where(by_real, -1.0)
    ratio = small / large
    scale = 1.0 / (large + small * ratio)
    real = (first + second * ratio) * scale
    imaginary = (second - first * ratio) * sign * scale
    by_zero, length = both(by_real, is_number(large, 0.0)), large.apply("absolute")
    return (a / length).where(by_zero, real), (b / length).where(by_zero, imaginary)


def reciprocal(a: Term, b: Term) -> Pair:
    """1 / (a + bi), by way of b/a or a/b, whichever is small; of zero, no number"""
    by_real = b.apply("absolute").apply("less_equal", a.apply("absolute"))
    large, small = a.where(by_real, b), b.where(by_real, a)
    ratio = small / large
    scale = 1.0 / (large + small * ratio)
    rest = ratio * scale
    return scale.where(by_real, rest), (-rest).where(by_real, -scale)
