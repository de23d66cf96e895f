"""The error function and its inverse.

Comes in: a term of f32 or f64. Goes out: the function of it.
Never: a difference of two numbers near 1, where what is lost counts.
"""

from math import inf

from ...ir.dtypes import f32, f64
from .coefficients import (
    ERF_INVERSE_FAR,
    ERF_INVERSE_FARTHEST,
    ERF_INVERSE_NEAR,
    ERF_NEAR,
    ERFC,
    ERFC_FAR,
    EXP2_HALF,
    LOG2_ERFC,
)
from .double_words import product
from .exponentials import exp
from .formats import format_of, nearest_whole, power_of_two
from .logarithms import log
from .terms import Term, at_most, copy_sign, multiply_add, polynomial, select, square_root

FAR = {"f32": 0.9, "f64": 1.0}
ERF_IS_ONE = {"f32": 4.0, "f64": 6.0}
ERFC_IS_ZERO = 28.0
MIDDLES = 3.125, 3.25, 5.0
"""The middles of the intervals in which the polynomials of the inverse are good."""


def erf(x: Term) -> Term:
    """2 / √π ∫ exp(-t²) dt from 0 to x: odd near zero, 1 - erfc far from it."""
    squared = x * x
    near = multiply_add(x, polynomial(squared, ERF_NEAR[x.dtype]), x)
    size = at_most(abs(x), ERF_IS_ONE[x.dtype.name])
    far = _far_of_single(size) if x.dtype is f32 else _far_of_double(size)
    return copy_sign(select(abs(x) < FAR[x.dtype.name], near, far), x)


def _far_of_single(x: Term) -> Term:
    """1 - 2^log2(erfc(x)): what is taken away is so small that a short polynomial will do."""
    layout = format_of(x)
    logarithm = polynomial(x, LOG2_ERFC[f32])
    whole, bits = nearest_whole(logarithm, 1.0, layout.bias)
    power = power_of_two(bits, layout)
    return multiply_add(polynomial(logarithm - whole, EXP2_HALF[f32]), -power, 1.0)


def _far_of_double(x: Term) -> Term:
    """1 - exp(-x²) times a polynomial."""
    ratio = polynomial((x - 2.0) / (x + 2.0), ERFC_FAR[x.dtype])
    return 1.0 - exp(-(x * x)) * ratio


def erfc(x: Term) -> Term:
    """1 - erf near zero; far from it exp(-x²) / (|x| + 2) times a polynomial, or 2 less that."""
    if x.dtype is f32:  # whose square has too few bits
        return erfc(x.cast(f64)).cast(f32)
    near = 1.0 - multiply_add(x, polynomial(x * x, ERF_NEAR[f64]), x)
    size = at_most(abs(x), ERFC_IS_ZERO)
    squared, rest = product(size, size)
    share = 1.0 / (size + 2.0)
    far = exp(-squared) * (share * polynomial((size - 2.0) * share, ERFC[f64]))
    far = multiply_add(far, -rest, far)
    return select(abs(x) < 0.5, near, select(x < 0.0, 2.0 - far, far))


def erf_inverse(x: Term) -> Term:
    """The y with erf(y) = x, as x times a polynomial of w = -log(1 - x²), or of its root."""
    if x.dtype is f32:
        return erf_inverse(x.cast(f64)).cast(f32)
    size = abs(x)
    depth = -log((1.0 - x) * (1.0 + x))
    root = square_root(depth)
    near = polynomial(depth - MIDDLES[0], ERF_INVERSE_NEAR[f64])
    far = polynomial(root - MIDDLES[1], ERF_INVERSE_FAR[f64])
    farthest = polynomial(root - MIDDLES[2], ERF_INVERSE_FARTHEST[f64])
    found = select(root < 2.5, near, select(root < 4.0, far, farthest)) * x
    return select(size.equals(1.0), copy_sign(x.like(inf), x), found)
