"""Logarithms.

Comes in: a term of f32 or f64. Goes out: the logarithm of it: minus infinity of zero, NaN of what
is negative.
Never: a table; one polynomial serves all bases.
"""

from dataclasses import dataclass
from math import inf, nan

from .coefficients import LOG
from .formats import (
    SQUARE_ROOT_OF_HALF,
    as_float,
    format_of,
    mantissa_and_exponent,
    pieces,
    power_of_two,
)
from .terms import Term, multiply_add, polynomial, select


@dataclass(frozen=True, slots=True)
class Base:
    """The base of a logarithm: the logarithms of e and of 2 to it, as decimal numbers."""

    of_e: str
    of_2: str


NATURAL = Base("1", "0.693147180559945309417232121458176568075500134360255254120680009")
BINARY = Base("1.44269504088896340735992468100189213742664595415298593413545", "1")
DECIMAL = Base(
    "0.434294481903251827651128918916605082294397005803666566114454",
    "0.301029995663981195213738894724493026768189881462108541310427",
)
WIDTHS = {"f32": ((24, 24), (16, 24)), "f64": ((53, 53), (42, 53))}
"""The bits of the pieces of both: exponents times the first piece of log 2 are exact."""


def log(x: Term) -> Term:
    """The natural logarithm."""
    return _logarithm(x, NATURAL)


def log2(x: Term) -> Term:
    """The logarithm to base 2."""
    return _logarithm(x, BINARY)


def log10(x: Term) -> Term:
    """The logarithm to base 10."""
    return _logarithm(x, DECIMAL)


def _logarithm(x: Term, base: Base) -> Term:
    mantissa, exponent = mantissa_and_exponent(x)
    found = _combined(mantissa - 1.0, exponent, base)
    pole = select(x.equals(0.0), x.like(-inf), nan)
    return select(x > 0.0, select(x.equals(inf), x, found), pole)


def log1p(x: Term) -> Term:
    """log(1 + x). With 1 + x = m 2^k, m - 1 is x 2^-k + (2^-k - 1), which is rounded once."""
    layout = format_of(x)
    total = x + 1.0
    low = layout.one - SQUARE_ROOT_OF_HALF[x.dtype]
    exponent = (total.bits(layout.unsigned) + low) >> layout.fraction  # with the bias
    # 2^(2-k), a quarter of which may be a denormal.
    power = power_of_two(2 * layout.bias + 2 - exponent, layout) * 0.25
    mantissa = multiply_add(x, power, power - 1.0)
    found = _combined(mantissa, as_float(exponent, layout) - layout.bias, NATURAL)
    found = select(abs(x) < layout.least_normal, x, found)
    pole = select(x.equals(-1.0), x.like(-inf), nan)
    return select(x > -1.0, select(x.equals(inf), x, found), pole)


def _combined(rest: Term, exponent: Term, base: Base) -> Term:
    """log(1 + rest) + exponent log 2, to the base."""
    wide, whole = WIDTHS[rest.dtype.name]
    of_e, of_e_rest = (*pieces(base.of_e, wide), 0.0)[:2]
    of_2, of_2_rest = (*pieces(base.of_2, whole), 0.0)[:2]
    small = rest * rest * polynomial(rest, LOG[rest.dtype])
    if of_e != 1.0:
        small = multiply_add(rest, of_e_rest, small * of_e)
    if of_2_rest:
        small = multiply_add(exponent, of_2_rest, small)
    upper = rest + small if of_e == 1.0 else multiply_add(rest, of_e, small)
    return multiply_add(exponent, of_2, upper)
