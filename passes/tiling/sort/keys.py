"""Keys as numbers: unsigned integers in whose order elements are sorted.

Comes in: elements, as scalars or tiles. Goes out: u32 or u64 of the same shape. NaN is the greatest
of all, ascending and descending; the zeros are one number.
Never: a number from which the element could be told; elements move along beside their keys.
"""

from typing import Any

import numpy as np

from ....ir import tile
from ....ir.dtypes import UNSIGNED, DType, Kind, boolean, u32, u64
from ....ir.payloads import Number, payload
from ....ir.tensor import order
from ....ir.tile import BinaryKind, CompareKind
from ....ir.types import Tile
from ....ir.values import AnyValue
from ..draft import Draft

BY_WIDTH = {dtype.bits: dtype for dtype in UNSIGNED}


def key_dtype(dtype: DType) -> DType:
    """What the keys of a dtype are."""
    return u64 if dtype.bits == 64 else u32


def greatest_key(dtype: DType) -> int:
    """As large as a key may be."""
    return (1 << dtype.bits) - 1


def key_of(draft: Draft, x: AnyValue, descending: bool) -> AnyValue:
    """The keys of elements."""
    dtype, wide = x.dtype, key_dtype(x.dtype)
    if dtype is not boolean and dtype not in UNSIGNED:
        x = draft.emit(tile.Bitcast, x, dtype=BY_WIDTH[dtype.bits])
    bits = draft.cast(x, wide)
    if dtype.kind is Kind.FLOAT:
        return _of_float(draft, bits, dtype, descending)
    flipped = 1 << (dtype.bits - 1) if dtype.kind is Kind.SIGNED else 0
    flipped ^= greatest_key(dtype) if descending else 0
    return draft.binary(BinaryKind.BIT_XOR, bits, like(draft, flipped, bits)) if flipped else bits


def _of_float(draft: Draft, bits: AnyValue, dtype: DType, descending: bool) -> AnyValue:
    """The distance from zero, up or down from the middle."""
    middle = 1 << (dtype.bits - 1)
    infinity = int(order.greatest(dtype.storage).view(f"u{dtype.itemsize}"))
    distance = draft.binary(BinaryKind.BIT_AND, bits, like(draft, middle - 1, bits))
    zero = like(draft, middle, bits)
    sides = [draft.binary(kind, zero, distance) for kind in (BinaryKind.SUBTRACT, BinaryKind.ADD)]
    below, above = reversed(sides) if descending else sides
    negative = draft.compare(CompareKind.LESS, distance, bits)
    key = draft.select(negative, below, above)
    is_nan = draft.compare(CompareKind.LESS, like(draft, infinity, bits), distance)
    return draft.select(is_nan, like(draft, greatest_key(dtype), bits), key)


def like(draft: Draft, number: int, x: AnyValue) -> AnyValue:
    """A number of x's type."""
    constant = draft.number(number, x.dtype)
    return draft.emit(tile.Full, constant, shape=x.type.shape) if is_tile(x) else constant


def is_tile(x: AnyValue) -> bool:
    """Whether there are several elements."""
    return isinstance(x.type, Tile)


def sorts_last(dtype: DType, descending: bool) -> Number:
    """An element behind which none comes; it stands behind equal ones, if it comes after them."""
    if dtype.kind is Kind.FLOAT:
        found: Any = np.asarray(np.nan, dtype.storage)
    else:
        found = (order.least if descending else order.greatest)(dtype.storage)
    made = payload(found, dtype)
    assert isinstance(made, Number)
    return made
