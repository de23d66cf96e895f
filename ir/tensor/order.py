"""The order of numbers, where zeros have signs and NaN has a place.

Comes in: arrays of integers, booleans or floats, the narrow ones too. Goes out: for floats,
integers that compare as the floats do, and back; and what is built on them: the larger and the
smaller of numbers (of pairs, along an axis, of every prefix), and the next number.
Never: widening; a dtype's bits are its own.
"""

from typing import Any

import ml_dtypes
import numpy as np

from ..payloads import Array

_INTEGERS = {size: np.dtype(f"i{size}") for size in (1, 2, 4, 8)}


def is_float(array: Array) -> bool:
    """Whether the elements are floats; numpy knows no kind for those of ml_dtypes."""
    return array.dtype.kind not in "biuc"


def order(array: Array, *, nan_first: bool = False) -> Array:
    """Integers that compare as the elements do: -0.0 before +0.0, NaN last, or first."""
    if not is_float(array):
        return array
    bits = array.view(_INTEGERS[array.dtype.itemsize])
    limits = np.iinfo(bits.dtype)
    keys = np.where(bits < 0, bits ^ limits.max, bits)
    nan = limits.min if nan_first else limits.max
    return np.where(np.isnan(array), nan, keys).astype(bits.dtype)


def from_order(keys: Array, dtype: np.dtype[Any]) -> Array:
    """The numbers whose `order` is `keys`."""
    if keys.dtype == dtype:
        return keys
    bits = np.where(keys < 0, keys ^ np.iinfo(keys.dtype).max, keys).astype(keys.dtype)
    numbers = bits.view(dtype)
    return np.where(np.isnan(numbers), np.asarray(np.nan, dtype), numbers)


def least(dtype: np.dtype[Any]) -> Array:
    """What is below all numbers of a dtype: -inf, or the least one where there is no infinity."""
    if dtype.kind == "b":
        return np.asarray(False)
    if dtype.kind in "iu":
        return np.asarray(np.iinfo(dtype).min, dtype)
    infinity = np.asarray(-np.inf, dtype)
    if not np.isnan(infinity):
        return infinity
    return np.asarray(ml_dtypes.finfo(dtype).min, dtype)  # pyright: ignore[reportUnknownMemberType]


def greatest(dtype: np.dtype[Any]) -> Array:
    """What is above all numbers of a dtype: inf, or the greatest one where there is no infinity."""
    if dtype.kind == "b":
        return np.asarray(True)
    return np.asarray(np.iinfo(dtype).max, dtype) if dtype.kind in "iu" else -least(dtype)


class Extreme:
    """The larger, or the smaller, of numbers: NaN if any is; +0.0 is larger than -0.0."""

    def __init__(self, larger: bool) -> None:
        self.larger = larger
        self.ufunc: np.ufunc = np.maximum if larger else np.minimum

    def __call__(self, left: Array, right: Array) -> Array:
        """Of each pair."""
        return from_order(self.ufunc(self._order(left), self._order(right)), left.dtype)

    def reduce(self, array: Array) -> Array:
        """Along the last axis; of no numbers, what every number beats."""
        start = self._order(least(array.dtype) if self.larger else greatest(array.dtype))
        keys = self.ufunc.reduce(self._order(array), axis=-1, initial=start[()])
        return from_order(np.asarray(keys), array.dtype)

    def accumulate(self, array: Array, axis: int) -> Array:
        """Of every prefix along an axis."""
        return from_order(self.ufunc.accumulate(self._order(array), axis=axis), array.dtype)

    def _order(self, array: Array) -> Array:
        return order(array, nan_first=not self.larger)


MAXIMUM = Extreme(larger=True)
MINIMUM = Extreme(larger=False)


def next_after(start: Array, towards: Array) -> Array:
    """The number after `start` on the way to `towards`, which itself ends the way."""
    up = start < towards
    # Both zeros are one place: a step up leaves from +0.0, a step down from -0.0.
    keys = np.where(start == 0, np.where(up, 0, -1), order(start))
    stepped = np.where(up, keys + 1, keys - 1).astype(order(start).dtype)
    unordered = np.isnan(start) | np.isnan(towards)
    moved = np.where(start == towards, towards, from_order(stepped, start.dtype))
    return np.where(unordered, np.asarray(np.nan, start.dtype), moved)
