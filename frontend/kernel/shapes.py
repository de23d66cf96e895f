"""Tiles that come from nothing, and tiles put together.

Comes in: shapes of plain integers, numbers, tiles. Goes out: tiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...ir import tile as ops
from ..dtypes import as_dtype
from ..functions.common import as_axis
from .draft import current
from .values import Tile, broadcast, emitted, lifted, made
from .views import tile_shape


def full(shape: Any, value: Any, dtype: Any = None) -> Any:
    """A tile whose elements all are one number, of its dtype or of another."""
    number = lifted("full", value, None if dtype is None else as_dtype(dtype).ir)
    if dtype is not None and number.dtype is not as_dtype(dtype).ir:
        number = current("full").emit(ops.Cast, number, dtype=as_dtype(dtype).ir)
    return Tile(current("full"), broadcast(number, tile_shape("full", shape)))


def zeros(shape: Any, dtype: Any) -> Any:
    """A tile of zeros."""
    return full(shape, 0, dtype)


def arange(size: int, dtype: Any = "int64") -> Any:
    """0, 1, 2, … size - 1."""
    shape = tile_shape("arange", size)
    return emitted("arange", ops.Iota, shape=shape, axis=0, dtype=as_dtype(dtype).ir)


def concat(parts: Sequence[Tile], axis: int = 0) -> Any:
    """Tiles behind each other along an axis."""
    tiles = [lifted("concat", each) for each in parts]
    place = as_axis(axis, len(parts[0].shape), "concat")
    return made(current("concat").emit(ops.Concat, tiles, axis=place))


def broadcast_to(x: Any, shape: Any) -> Any:
    """A tile or a number, repeated as numpy does."""
    return made(broadcast(lifted("broadcast_to", x), tile_shape("broadcast_to", shape)))
