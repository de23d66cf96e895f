"""Numbers at which programs go wrong: signed zeros, NaNs, infinities, subnormals, extremes.

Comes in: a dtype and a source of randomness. Goes out: numpy scalars and arrays of its storage.
Never: a distribution that means anything.
"""

from functools import cache
from random import Random
from typing import Any

import ml_dtypes
import numpy as np

from brimstone.ir.dtypes import DType, Kind

Array = np.ndarray[Any, np.dtype[Any]]


def array(random: Random, dtype: DType, shape: tuple[int, ...]) -> Array:
    """Small plain numbers, special ones among them."""
    known = special(dtype)
    picked = [random.randrange(len(known)) for _ in range(int(np.prod(shape)))]
    return known[picked].reshape(shape)


@cache
def special(dtype: DType) -> Array:
    """Every number of a dtype worth trying; plain ones stand there several times."""
    if dtype.kind is Kind.BOOL:
        return np.array([False, True])
    if dtype.kind is Kind.COMPLEX:
        parts = special(dtype.real)
        return np.array([complex(a, b) for a in parts for b in parts[::3]], dtype.storage)
    if dtype.kind is Kind.FLOAT:
        return _floats(dtype)
    limits = np.iinfo(dtype.storage)
    near = [0, 1, 1, 2, 2, 3, 5, 7, 8, 31, 100]
    signed = [-1, -1, -2, -7] if limits.min < 0 else []
    ends = [int(limits.min), int(limits.min) + 1, int(limits.max) - 1, int(limits.max)]
    return np.array([*near, *signed, *ends], dtype.storage)


def _floats(dtype: DType) -> Array:
    """Plain numbers, both zeros, the least subnormal and normal, the largest, infinity, NaNs."""
    limits = ml_dtypes.finfo(dtype.storage)
    plain = [1.0, 1.0, -1.0, 2.0, 0.5, -0.25, 1.5, 3.0, -7.0, 1 / 3, 0.1]
    small = [float(limits.smallest_subnormal), -float(limits.smallest_normal), float(limits.eps)]
    large = [float(limits.max), float(limits.min), float("inf"), float("-inf"), float("nan")]
    with np.errstate(all="ignore"):
        return np.array([*plain, 0.0, -0.0, *small, *large]).astype(dtype.storage)
