"""The derivative of digamma, which has no op of its own, as a formula.

Comes in: the argument, as a term of a formula. Goes out: Σ 1 / (x + k)² over all k from 0 on, to
a relative error of 1e-15 in f64; narrow floats are computed in f32.
Never: a branch; both sides of zero are computed everywhere, and one of them is chosen.
"""

import math

from .rules import Term

SUMMED = 12
"""How many terms are summed before the asymptotic series takes over."""

# The Bernoulli numbers B(2k), from k = 1 on.
BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)


def trigamma(x: Term) -> Term:
    """The second derivative of log Γ."""
    wide = x.cast(x.value.dtype.accumulator)
    negative = wide.apply("less", wide.number(0.5))
    mirrored = (1 - wide).where(negative, wide)
    above = _of_positive(mirrored)
    # The sine has period 2 here, so the distance to an integer is enough, and it is exact.
    distance = (wide - wide.apply("round_even")).where(negative, 0.5)
    sine = (math.pi * distance).apply("sin")
    return (math.pi**2 / (sine * sine) - above).where(negative, above).cast(x.value.dtype)


def _of_positive(x: Term) -> Term:
    """For x of at least 1/2: the first terms, and a series for the rest."""
    total = 1 / (x * x)
    for step in range(1, SUMMED):
        shifted = x + step
        total = total + 1 / (shifted * shifted)
    return total + _far(x + SUMMED)


def _far(x: Term) -> Term:
    """1 / x + 1 / 2x² + Σ B(2k) / x^(2k + 1)"""
    inverse = 1 / x
    square = inverse * inverse
    series = square * BERNOULLI[-1]
    for coefficient in reversed(BERNOULLI[:-1]):
        series = (series + coefficient) * square
    return inverse + 0.5 * square + series * inverse
