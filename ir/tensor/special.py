"""Special functions that neither numpy nor the C library offers on arrays.

Comes in: arrays of f32 or f64. Goes out: arrays of the same dtype, computed in f64. The error is
a few units in the last place of the result, or of 1 where the result is near a zero of its own.
Never: SciPy.
"""

import math
from collections.abc import Callable

import numpy as np

from ..payloads import Array

HALLEY_STEPS = 3
ASYMPTOTIC_FROM = 10
"""Where the asymptotic series of digamma is good to a double's last bit."""

# B(2k) / 2k, of the Bernoulli numbers.
DIGAMMA_SERIES = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12, -3617 / 8160)


def erf(x: Array) -> Array:
    """2 / √π · ∫₀ˣ exp(-t²) dt."""
    return _each(math.erf, x).astype(x.dtype)


def erfc(x: Array) -> Array:
    """1 - erf(x), accurate where little of it is left."""
    return _each(math.erfc, x).astype(x.dtype)


def erf_inverse(x: Array) -> Array:
    """The y with erf(y) = x: ±inf at ±1, NaN outside."""
    size = np.abs(x.astype(np.float64))
    inside = np.where(size < 1, size, 0.0)
    y = _winitzki(inside)
    for _ in range(HALLEY_STEPS):
        # 1 - x is exact where erf(y) is near 1 and has lost what tells its arguments apart.
        upper = (1 - inside) - _each(math.erfc, y)
        error = np.where(inside > 0.5, upper, _each(math.erf, y) - inside)
        newton = error * np.exp(y * y) * (math.sqrt(math.pi) / 2)
        y = y - newton / (1 + y * newton)
    outside = np.where(size == 1, np.inf, np.nan)
    return np.copysign(np.where(size < 1, y, outside), x).astype(x.dtype)


def log_gamma(x: Array) -> Array:
    """log |Γ(x)|; inf at 0, at the negative integers and at -inf."""
    return _each(_log_gamma, x).astype(x.dtype)


def digamma(x: Array) -> Array:
    """Γ'(x) / Γ(x); ∓inf at ±0, NaN at the negative integers and at -inf."""
    wide = x.astype(np.float64)
    mirrored = wide < 0
    y = np.where(mirrored, 1 - wide, wide)
    total = np.zeros_like(y)
    for _ in range(ASYMPTOTIC_FROM):
        below = y < ASYMPTOTIC_FROM
        total = np.where(below, total - 1 / y, total)
        y = np.where(below, y + 1, y)
    total = total + _digamma_far(y)
    # The tangent has period 1 here, so only the distance to an integer matters, and it is exact.
    distance = wide - np.rint(wide)
    reflection = np.where(distance == 0, np.nan, math.pi / np.tan(math.pi * distance))
    return np.where(mirrored, total - reflection, total).astype(x.dtype)


def _each(function: Callable[[float], float], x: Array) -> Array:
    """A function of Python floats, of every element."""
    return np.asarray(np.frompyfunc(function, 1, 1)(x.astype(np.float64)), np.float64)


def _log_gamma(x: float) -> float:
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):  # a pole; beyond the largest double
        return math.inf


def _winitzki(x: Array) -> Array:
    """erf_inverse(x) for 0 <= x < 1, to three digits."""
    shape = 0.147
    logarithm = np.log((1 - x) * (1 + x))
    middle = 2 / (math.pi * shape) + logarithm / 2
    return np.sqrt(np.sqrt(middle * middle - logarithm / shape) - middle)


def _digamma_far(y: Array) -> Array:
    """The asymptotic series: log(y) - 1 / 2y - Σ B(2k) / (2k y^2k)."""
    inverse = 1 / (y * y)
    series = np.zeros_like(y)
    for coefficient in reversed(DIGAMMA_SERIES):
        series = (series + coefficient) * inverse
    return np.log(y) - 0.5 / y - series
