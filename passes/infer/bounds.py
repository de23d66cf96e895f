"""Ranges of integers whose ends are sizes, and how to compute with them.

Comes in: sizes, ints or symbolic. Goes out: a `Range` in which every element of a tensor certainly
lies, at all sizes that the symbols may have; an empty tensor lies in any.
Never: a range beyond its dtype. A result that may wrap is anywhere in the dtype, see `fitted`.
"""

from collections.abc import Iterable
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from ...ir.dims import Dim, Size, interval, maximum, minimum
from ...ir.dtypes import BITS, DType, boolean
from ...ir.facts import Facts

FACTS = Facts()

COMPARISONS_KEPT = 4096
LETTERS_AT_MOST = 80
"""A longer expression costs more to reason about than it says; its bounds stand for it."""


class Range(NamedTuple):
    """`low` and `high` belong to it."""

    low: Size
    high: Size

    @property
    def only(self) -> int | None:
        """The one number in it, if it is one and no expression."""
        return self.low if isinstance(self.low, int) and self.low == self.high else None

    def __str__(self) -> str:
        return f"{self.low}..{self.high}"


def _limits(dtype: DType) -> Range:
    if dtype is boolean:
        return Range(0, 1)
    info = np.iinfo(dtype.storage)
    return Range(int(info.min), int(info.max))


LIMITS = {dtype: _limits(dtype) for dtype in BITS}
"""All of each dtype; false is 0, and true is 1."""


def fitted(low: Size, high: Size, dtype: DType) -> Range:
    """`low..high`, where no number of it wraps in `dtype`; else all of `dtype`."""
    everything = LIMITS[dtype]
    low, high = _short(low, 0), _short(high, 1)
    if least_of(everything.low) <= least_of(low) and most_of(high) <= most_of(everything.high):
        return Range(low, high)
    return everything


def below(size: Size, dtype: DType) -> Range:
    """0, 1, 2, … as many as `size` says."""
    return fitted(0, _short(size, 1) - 1, dtype)


def joined(one: Range, other: Range) -> Range:
    """The least range that holds both."""
    if one is other:
        return one
    low, high = smaller(one.low, other.low), larger(one.high, other.high)
    return Range(_short(low, 0), _short(high, 1))


def smaller(one: Size, other: Size) -> Size:
    """The smaller of two sizes."""
    if isinstance(one, int) and isinstance(other, int):
        return min(one, other)
    return minimum(one, other)


def larger(one: Size, other: Size) -> Size:
    """The larger of two sizes."""
    if isinstance(one, int) and isinstance(other, int):
        return max(one, other)
    return maximum(one, other)


def least_of(size: Size) -> int:
    """A number that is never above `size`."""
    return size if isinstance(size, int) else _interval(size)[0]


def most_of(size: Size) -> int:
    """A number that is never below `size`."""
    return size if isinstance(size, int) else _interval(size)[1]


def numbers(range_: Range) -> tuple[int, int]:
    """Plain ends for a range: the least and the most that its ends may be."""
    return least_of(range_.low), most_of(range_.high)


def product(one: Range, other: Range, dtype: DType) -> Range:
    """Where the product of an element of each lies."""
    if least_of(one.low) >= 0 and least_of(other.low) >= 0:
        return fitted(one.low * other.low, one.high * other.high, dtype)
    return spanned((x * y for x in numbers(one) for y in numbers(other)), dtype)


def spanned(corners: Iterable[int], dtype: DType) -> Range:
    """From the least to the greatest of some numbers."""
    found = list(corners)
    return fitted(min(found), max(found), dtype)


def at_most(small: Size, large: Size) -> bool:
    """Whether `small <= large` is certain."""
    if isinstance(small, int) and isinstance(large, int):
        return small <= large
    return _at_most(small, large)


def less(small: Size, large: Size) -> bool:
    """Whether `small < large` is certain."""
    if isinstance(small, int) and isinstance(large, int):
        return small < large
    return _less(small, large)


# The same few sizes are compared all over a program, and a proof takes up to milliseconds.
_at_most = lru_cache(COMPARISONS_KEPT)(FACTS.at_most)
_less = lru_cache(COMPARISONS_KEPT)(FACTS.less)


@cache
def _interval(size: Dim) -> tuple[int, int]:
    return interval(size)


def _short(size: Size, end: int) -> Size:
    """`size`, or where it is long the plain number that bounds it at this end of a range."""
    if isinstance(size, int) or len(str(size)) <= LETTERS_AT_MOST:
        return size
    return _interval(size)[end]
