"""Sine, cosine, tangent.

Comes in: a term of f32 or f64, of any size. Goes out: the function of it; NaN of infinities.
Never: a table.
"""

from ...ir.dtypes import f32
from .angles import Unit, reduced, reduced_wide
from .coefficients import COS_NEAR, SIN, SIN_NEAR
from .formats import format_of
from .terms import Term, multiply_add, polynomial, select

HALF_TURN = Unit(1)
HALF_TURN_BETWEEN = Unit(1, 0.5)
QUARTER_TURN = Unit(2)


def sin(x: Term) -> Term:
    """With x = nπ + r, the sine of r, with the other sign if n is odd."""
    rest, whole = reduced(x, HALF_TURN)
    found = _alternating(_sine(rest, SIN[x.dtype]), whole)
    return select(x.equals(0.0), x, found)


def cos(x: Term) -> Term:
    """With x = (n + 1/2)π + r, minus the sine of r, with the other sign if n is odd."""
    rest, whole = reduced(x, HALF_TURN_BETWEEN)
    return _alternating(_sine(rest, SIN[x.dtype]), whole + 1)


def tan(x: Term) -> Term:
    """With x = nπ/2 + r, the tangent of r, or minus its inverse if n is odd."""
    # In f32 the rounding of r, of the sine, the cosine and the quotient would be too much.
    rest, whole = reduced_wide(x, QUARTER_TURN) if x.dtype is f32 else reduced(x, QUARTER_TURN)
    squared = rest * rest
    sine, cosine = _sine(rest, SIN_NEAR[x.dtype]), polynomial(squared, COS_NEAR[x.dtype])
    odd = (whole & 1).equals(1)
    found = select(odd, -cosine, sine) / select(odd, sine, cosine)
    return select(x.equals(0.0), x, found.cast(x.dtype))


def _sine(x: Term, coefficients: tuple[float, ...]) -> Term:
    squared = x * x
    return multiply_add(x * squared, polynomial(squared, coefficients[1:]), x)


def _alternating(x: Term, whole: Term) -> Term:
    """x, or -x where the whole number, of which there are the bits, is odd."""
    layout = format_of(x)
    sign = whole << (layout.dtype.bits - 1)
    return (x.bits(layout.unsigned) ^ sign).bits(x.dtype)
