"""Numbers of twice the bits, as sums of two floats: the upper one is the sum, rounded.

Comes in: terms, or pairs of them. Goes out: pairs.
Never: a pair of which the lower term reaches the last bit of the upper one.
"""

from collections.abc import Sequence
from typing import NamedTuple

from ...ir.dtypes import f64, u64
from .terms import Term, multiply_add

UPPER_BITS = 0xFFFFFFFFF8000000
"""The sign, the exponent and the upper 26 bits of a double: products of two such are exact."""


class Pair(NamedTuple):
    """upper + lower"""

    upper: Term
    lower: Term


def ordered_sum(large: Term, small: Term) -> Pair:
    """large + small, exactly, if the one is not smaller than the other."""
    total = large + small
    return Pair(total, small - (total - large))


def exact_sum(x: Term, y: Term) -> Pair:
    """x + y, exactly, whichever is larger."""
    total = x + y
    of_y = total - x
    return Pair(total, (x - (total - of_y)) + (y - of_y))


def product(x: Term, y: Term) -> Pair:
    """x * y of doubles, exactly."""
    total = x * y
    if x.sheet.fused:
        return Pair(total, multiply_add(x, y, -total))
    (x0, x1), (y0, y1) = _halves(x), _halves(y)
    return Pair(total, ((x0 * y0 - total) + x0 * y1 + x1 * y0) + x1 * y1)


def multiply(x: Pair, y: Pair) -> Pair:
    """x * y, to about 100 bits."""
    total = product(x.upper, y.upper)
    rest = multiply_add(x.upper, y.lower, multiply_add(x.lower, y.upper, total.lower))
    return ordered_sum(total.upper, rest)


def quotient(x: Term, y: Pair) -> Pair:
    """x / y, to about 100 bits."""
    first = x / y.upper
    taken = product(first, y.upper)
    rest = ((x - taken.upper) - taken.lower) - first * y.lower
    return ordered_sum(first, rest / y.upper)


def add(large: Pair, small: Pair) -> Pair:
    """large + small, to about 100 bits; the one is not smaller than the other."""
    total = ordered_sum(large.upper, small.upper)
    return ordered_sum(total.upper, total.lower + (large.lower + small.lower))


def constant(term: Term, pieces: Sequence[float]) -> Pair:
    """A number of two pieces, beside a term."""
    return Pair(term.like(pieces[0]), term.like(pieces[1]))


def _halves(x: Term) -> tuple[Term, Term]:
    upper = (x.bits(u64) & UPPER_BITS).bits(f64)
    return upper, x - upper
