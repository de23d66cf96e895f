"""The inverse functions of sine, cosine, tangent: all by the angle of a point.

Comes in: terms of f32 or f64. Goes out: angles.
Never: a quotient that overflows; of an infinite point only the signs and the infinities count.
"""

from math import inf, pi

from .coefficients import ARCTAN
from .formats import format_of
from .terms import Term, copy_sign, multiply_add, polynomial, select, square_root

TANGENT_OF_EIGHTH = 0.41421356237309503
"""tan(π/8), beyond which an angle is taken from π/4."""


def arctan(x: Term) -> Term:
    """The angle whose tangent is x."""
    return copy_sign(_first_quadrant(abs(x), x.like(1.0)), x)


def arctan2(y: Term, x: Term) -> Term:
    """The angle of the point (x, y)."""
    up, right = abs(y), abs(x)
    both = up.equals(inf) & right.equals(inf)
    up, right = select(both, 1.0, up), select(both, 1.0, right)
    angle = _first_quadrant(up, right)
    layout = format_of(x)
    left = (x.bits(layout.unsigned) & layout.sign).differs(0)
    return copy_sign(select(left, pi - angle, angle), y)


def arcsin(x: Term) -> Term:
    """The angle whose sine is x."""
    angle = _first_quadrant(abs(x), square_root((1.0 - x) * (1.0 + x)))
    return copy_sign(angle, x)


def arccos(x: Term) -> Term:
    """The angle whose cosine is x."""
    return arctan2(square_root((1.0 - x) * (1.0 + x)), x)


def _first_quadrant(up: Term, right: Term) -> Term:
    """The angle of a point of which neither coordinate is negative."""
    steep = up > right
    small, large = select(steep, right, up), select(steep, up, right)
    ratio = small / select(large.equals(0.0), 1.0, large)
    beyond = ratio > TANGENT_OF_EIGHTH
    rest = select(beyond, (ratio - 1.0) / (ratio + 1.0), ratio)
    squared = rest * rest
    angle = multiply_add(rest * squared, polynomial(squared, ARCTAN[up.dtype][1:]), rest)
    angle = select(beyond, pi / 4 + angle, angle)
    return select(steep, pi / 2 - angle, angle)
