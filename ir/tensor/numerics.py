"""Arithmetic whose corner cases the IR defines where numpy leaves them open, or fails.

Comes in: arrays already in the dtype that the arithmetic is done in. Goes out: arrays of it.
Never: a rule that `docs/semantics.md` does not state.
"""

import numpy as np

from ..payloads import Array


def divide(left: Array, right: Array) -> Array:
    """Floats: IEEE. Integers: truncated towards zero, x / 0 is 0, and the least / -1 is itself."""
    if left.dtype.kind not in "iu":
        return np.true_divide(left, right)
    zero = right == 0
    safe = np.where(zero, 1, right).astype(right.dtype)
    quotient = np.floor_divide(left, safe)
    inexact = quotient * safe != left
    towards_zero = quotient + (inexact & ((left < 0) != (safe < 0)))
    return np.where(zero, 0, towards_zero).astype(left.dtype)


def remainder(left: Array, right: Array) -> Array:
    """What `divide`, truncated, leaves; its sign is the dividend's. Integers: x rem 0 is 0."""
    if left.dtype.kind not in "iu":
        return np.fmod(left, right)
    # The least number by -1 traps on some processors; that remainder is 0 too.
    trivial = (right == 0) | (right == -1)
    safe = np.where(trivial, 1, right).astype(right.dtype)
    return np.fmod(left, safe)


def power(left: Array, right: Array) -> Array:
    """Floats: IEEE pow. Integers wrap; to a negative power, 1 / x ** -n as `divide` has it."""
    if left.dtype.kind not in "iu":
        return np.power(left, right)
    negative = right < 0
    raised = np.power(left, np.where(negative, 0, right).astype(left.dtype))
    of_minus_one = np.where(right & 1, -1, 1)
    inverse = np.where(left == -1, of_minus_one, left == 1).astype(left.dtype)
    return np.where(negative, inverse, raised)


def sign(x: Array) -> Array:
    """-1, 0 or 1; a zero keeps its sign, and NaN stays."""
    return np.where((x == 0) | np.isnan(x), x, np.sign(x))
