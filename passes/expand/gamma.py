"""The logarithm of the gamma function and its derivative.

Comes in: a term of f64, or of f32, which is computed in f64. Goes out: the function of it; near its
zeros with an error relative to 1.
Never: a series that is only right far from zero, used near it: small arguments are moved up first.
"""

from math import inf, log, nan, pi

from ...ir.dtypes import f32, f64
from .coefficients import COS_NEAR, SIN, SIN_NEAR
from .logarithms import log as logarithm
from .terms import Term, polynomial, round_even, select

FAR = 10.0
STEPS = 10
"""From where on the asymptotic series are good, and how many steps of 1 lead there."""

TINY = 2.0**-60
"""Below which Γ(x) is 1 / x."""

# B(2k) / (2k (2k - 1)) and B(2k) / 2k, of the Bernoulli numbers.
LOG_GAMMA_SERIES = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
DIGAMMA_SERIES = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)


def log_gamma(x: Term) -> Term:
    """log |Γ(x)|; below zero by Γ(x) Γ(-x) = -π / (x sin πx)."""
    if x.dtype is f32:
        return log_gamma(x.cast(f64)).cast(f32)
    size = abs(x)
    found = _log_gamma_above_zero(size)
    distance = x - round_even(x)
    angle = distance * pi
    sine = abs(angle * polynomial(angle * angle, SIN[f64]))
    mirrored = logarithm(pi / (size * sine)) - found
    found = select(x < 0.0, mirrored, found)
    found = select(size.equals(inf) | ((x <= 0.0) & distance.equals(0.0)), inf, found)
    found = select(x.equals(1.0) | x.equals(2.0), 0.0, found)
    return select(size < TINY, -logarithm(size), found)


def _log_gamma_above_zero(x: Term) -> Term:
    """Stirling's series, less the logarithm of the steps that led to where it is good."""
    steps = x.like(1.0)
    for _ in range(STEPS):
        below = x < FAR
        steps = select(below, steps * x, steps)
        x = select(below, x + 1.0, x)
    inverse = 1.0 / x
    series = inverse * polynomial(inverse * inverse, LOG_GAMMA_SERIES)
    return (x - 0.5) * logarithm(x) - x + (series + log(2 * pi) / 2) - logarithm(steps)


def digamma(x: Term) -> Term:
    """Γ'(x) / Γ(x); below zero by ψ(1 - x) - ψ(x) = π / tan πx."""
    if x.dtype is f32:
        return digamma(x.cast(f64)).cast(f32)
    negative = x < 0.0
    found = _digamma_above_zero(select(negative, 1.0 - x, x))
    found = select(negative, found - _reflection(x), found)
    pole = select(negative, nan, 1.0 / -x)
    whole = round_even(x).equals(x) & (x <= 0.0)
    return select(whole, pole, select(x.equals(inf), x, found))


def _digamma_above_zero(x: Term) -> Term:
    """The asymptotic series, less a fraction: the sum of 1 / x of the steps that led there."""
    above, below = x.like(0.0), x.like(1.0)
    for _ in range(STEPS):
        small = x < FAR
        above = select(small, above * x + below, above)
        below = select(small, below * x, below)
        x = select(small, x + 1.0, x)
    inverse = 1.0 / (x * x)
    series = inverse * polynomial(inverse, DIGAMMA_SERIES)
    return logarithm(x) - 0.5 / x - series - above / below


def _reflection(x: Term) -> Term:
    """π / tan πx, which has the period 1; the distance to a whole number is exact."""
    distance = x - round_even(x)
    steep = abs(distance) > 0.25
    half = select(distance < 0.0, -0.5, x.like(0.5))
    angle = select(steep, half - distance, distance) * pi
    squared = angle * angle
    sine, cosine = angle * polynomial(squared, SIN_NEAR[f64]), polynomial(squared, COS_NEAR[f64])
    return select(steep, sine, cosine) / select(steep, cosine, sine) * pi
