"""The fused multiply-add, which numpy lacks: a product and a sum with one rounding between them.

Comes in: arrays of f32 or f64. Goes out: an array of the same dtype.
Never: the product rounded before the sum.
"""

from fractions import Fraction

import numpy as np

from ..payloads import Array


def fused_multiply_add(left: Array, right: Array, addend: Array) -> Array:
    """left * right + addend, rounded once."""
    narrow = left.dtype == np.float32
    return _of_singles(left, right, addend) if narrow else _of_doubles(left, right, addend)


def _of_singles(left: Array, right: Array, addend: Array) -> Array:
    """Through f64, in which the product is exact. The sum rounds to odd there: of the neighbours
    of a number that f64 lacks, the one whose last bit is 1, so that f32 is rounded to rightly."""
    product = left.astype(np.float64) * right
    near = np.asarray(product + addend)
    # The two errors of the sum, which are exact (Knuth's two-sum).
    rest = near - product
    error = (product - (near - rest)) + (addend - rest)
    even = near.view(np.int64) & 1 == 0
    towards = np.where(error > 0, np.inf, -np.inf)
    inexact = np.isfinite(near) & (error != 0)
    return np.where(inexact & even, np.nextafter(near, towards), near).astype(np.float32)


def _of_doubles(left: Array, right: Array, addend: Array) -> Array:
    exact = np.frompyfunc(_of_floats, 3, 1)
    return np.asarray(exact(left, right, addend), np.float64)


def _of_floats(left: float, right: float, addend: float) -> float:
    if not (np.isfinite(left) and np.isfinite(right)):
        return left * right + addend
    if not np.isfinite(addend):
        return addend  # even where the product would overflow on its own
    exact = Fraction(left) * Fraction(right) + Fraction(addend)
    if exact == 0:
        return left * right + addend  # which knows the sign
    try:
        return float(exact)
    except OverflowError:
        return np.inf if exact > 0 else -np.inf
