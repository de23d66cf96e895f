"""Rounding and accumulation: how numpy is made to mean what the IR means.

Comes in: arrays in the storage of their dtype. Goes out: arrays rounded once to the result's dtype.
f8, f16 and bf16 are computed in f32; reductions, scans and contractions of them accumulate in f32.
Never: a rule of a single op.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..dtypes import DType, Kind
from ..payloads import Array, rounded


def stored(array: Any, dtype: DType) -> Array:
    """`array` rounded to `dtype`."""
    return rounded(np.asarray(array), dtype)


def widened(array: Array, dtype: DType) -> Array:
    """`array`, of `dtype`, in the dtype its arithmetic is done in, and in row-major order: numpy
    rounds some functions otherwise where elements are not neighbours."""
    made = np.asarray(array, dtype.accumulator.storage, order="C")
    # One element that runs backwards is in order for numpy, which then computes it otherwise.
    return made.copy() if min(made.strides, default=0) < 0 else made


def elementwise(function: Callable[..., Any], dtype: DType, result: DType, *arrays: Array) -> Array:
    """`function` of arrays of `dtype`, computed wide and rounded once to `result`."""
    return stored(function(*[widened(array, dtype) for array in arrays]), result)


def convert(array: Array, source: DType, target: DType) -> Array:
    """A cast: floats to integers saturate and turn NaN into 0, wide integers wrap."""
    if source is target:
        return array
    if target.kind is Kind.BOOL:
        return array != 0
    if source.kind is Kind.COMPLEX and target.kind is not Kind.COMPLEX:
        array, source = np.real(array), source.real
    if source.kind is Kind.FLOAT and target.kind in (Kind.SIGNED, Kind.UNSIGNED):
        return _saturated(array.astype(np.float64), target)
    return rounded(array, target)


def _saturated(array: Array, target: DType) -> Array:
    limits = np.iinfo(target.storage)
    whole = np.trunc(np.where(np.isnan(array), 0.0, array))
    # 2^63 - 1 is no double: compare with the power of two above, which is.
    high = whole >= float(int(limits.max) + 1)
    low = whole <= float(limits.min)
    inside = np.where(high | low, 0.0, whole).astype(target.storage)
    return np.where(high, limits.max, np.where(low, limits.min, inside)).astype(target.storage)
