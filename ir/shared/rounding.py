"""Rounding to the floats narrower than f64, once: to the nearest, ties to even.

Comes in: an array of numbers, or an integer of any size. Goes out: the array in the storage of a
dtype, or a double that rounds to it.
ml_dtypes rounds f64 and wide integers to f32 first and then again, so 1 + 2^-8 + 2^-40 would become
the bf16 below it. Here the first step rounds to odd, which leaves the second all it has to know.
Never: saturation or wrapping; floats to integers are the cast's business.
"""

import math
from typing import Any

import numpy as np

from ..dtypes import DType, Kind

Array = np.ndarray[Any, np.dtype[Any]]

SPARE_BITS = 12
"""How many low bits of a 64-bit integer a double may lack."""


def rounded(array: Array, dtype: DType) -> Array:
    """`array` in the storage of `dtype`, each number rounded once."""
    if array.dtype == dtype.storage:
        return array
    narrow = dtype.kind is Kind.FLOAT and dtype.bits < 32
    wide = array.dtype.kind in "iuf" and array.dtype.itemsize > 2 and array.dtype != np.float32
    exact = _odd_single(_odd_double(array)) if narrow and wide else array
    return np.asarray(exact.astype(dtype.storage, copy=False))


def _odd_double(array: Array) -> Array:
    """As f64; of an integer with more bits, the last one kept says whether any was lost."""
    if array.dtype.kind == "f" or array.dtype.itemsize < 8:
        return array.astype(np.float64)
    kept = array >> SPARE_BITS << SPARE_BITS
    lost = (kept != array).astype(array.dtype)
    small = np.abs(array) < 1 << 52
    return np.where(small, array, kept | lost << SPARE_BITS).astype(np.float64)


def _odd_single(array: Array) -> Array:
    """As f32; of the two neighbours of a number that f32 lacks, the one whose last bit is 1."""
    near = np.asarray(array.astype(np.float32))
    back = near.astype(np.float64)
    even = near.view(np.uint32) & 1 == 0
    side = np.where(back < array, np.inf, -np.inf).astype(np.float32)
    return np.where((back != array) & even, np.nextafter(near, side), near)


def odd_float(value: int) -> float:
    """`value` as a double; of one with more bits, the last one kept says whether any was lost."""
    spare = max(value.bit_length() - 53, 0)
    kept = value >> spare
    return math.ldexp(kept | (kept << spare != value), spare)
