"""Powers of complex numbers, on their parts.

Comes in: both parts of a number and of its exponent. Goes out: both parts of the power.
Never: a logarithm where the exponent is a whole number below 100, of which numpy makes products.
"""

from ...ir.tensor.rules import Term
from .exponentials import exponential
from .logarithms import logarithm
from .parts import Pair, both, chosen, is_number, product, quotient

WHOLE, BITS, FEW = 100.0, 7, 4.0
"""Exponents below the first are products; so many bits have they; few factors have no 1 before."""


def power(base: Pair, exponent: Pair) -> Pair:
    """exp(w * log(z)), or products; anything to the 0 is 1, and 0 to the rest 0, or no number"""
    c, d = exponent
    size = c.apply("absolute")
    is_whole = both(size.apply("equal", size.apply("floor")), is_number(d, 0.0))
    is_whole = both(is_whole, size.apply("less", size.number(WHOLE)))
    general = exponential(*product(exponent, logarithm(*base)))
    real, imaginary = chosen(is_whole, _whole_power(base, c), general)
    from_zero = both(is_number(base[0], 0.0), is_number(base[1], 0.0))
    none = c.number(0.0).where(c.number(0.0).apply("less", c), float("nan"))
    real, imaginary = none.where(from_zero, real), none.where(from_zero, imaginary)
    flat = both(is_number(c, 0.0), is_number(d, 0.0))
    return c.number(1.0).where(flat, real), c.number(0.0).where(flat, imaginary)


def _whole_power(base: Pair, exponent: Term) -> Pair:
    """Squares of squares, as many as the exponent has bits; the product of some, or 1 by it."""
    left, square = exponent.apply("absolute"), base
    raised = one = left.number(1.0), left.number(0.0)
    begins = both(left.number(0.0).apply("less", exponent), left.apply("less", left.number(FEW)))
    for _ in range(BITS):
        half = (left * 0.5).apply("floor")
        is_odd = (left - half * 2.0).apply("equal", left.number(1.0))
        longer = chosen(begins, square, product(raised, square))
        raised = chosen(is_odd, longer, raised)
        begins = both(begins, is_odd.apply("bit_not"))
        left, square = half, product(square, square)
    is_upside_down = exponent.apply("less", exponent.number(0.0))
    return chosen(is_upside_down, quotient(one, raised), raised)
