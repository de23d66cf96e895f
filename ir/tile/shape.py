"""Tiles that come from nothing, and tiles in another shape.

Comes in: scalars and tiles. Goes out: tiles of static shape (and, by `extract`, a scalar).
Never: arithmetic; an element goes out as it came in.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from ..declare import Attr, Operand, Operands, Result, among
from ..dtypes import REALS, DType
from ..errors import require
from ..interpreter.arrays import stored
from ..payloads import Array, Number, Payload
from ..types import Scalar, Tile
from .base import VALUES, TileOp, check_axis, sizes_of


class Constant(TileOp, name="tile.constant"):
    """A number that the program carries."""

    value: Attr[Payload]
    result: Result[Scalar]

    is_constant = True

    @staticmethod
    def infer(value: Payload) -> Scalar:
        require(isinstance(value, Number), "a constant is one number; `tile.full` makes a tile")
        require(value.dtype in VALUES, "complex numbers live on the tensor floor only", value.dtype)
        return Scalar(value.dtype)

    def run(self, frame: Any) -> Array:
        return self.value.array


class Full(TileOp, name="tile.full"):
    """A tile whose elements all are `x`."""

    x: Operand[Scalar] = among(VALUES)
    shape: Attr[tuple[int, ...]]
    result: Result[Tile]

    @staticmethod
    def infer(x: Scalar, shape: tuple[int, ...]) -> Tile:
        return Tile(shape, x.dtype)

    def run(self, frame: Any, x: Array) -> Array:
        return np.full(self.shape, x, x.dtype)


class Iota(TileOp, name="tile.iota"):
    """0, 1, 2, … along one axis, the same along the others."""

    shape: Attr[tuple[int, ...]]
    axis: Attr[int]
    dtype: Attr[DType]
    result: Result[Tile]

    @staticmethod
    def infer(shape: tuple[int, ...], axis: int, dtype: DType) -> Tile:
        require(dtype in REALS, "cannot count in this dtype", dtype)
        made: Tile = Tile(shape, dtype)
        check_axis(axis, made)
        return made

    def run(self, frame: Any) -> Array:
        along = np.arange(self.shape[self.axis]).reshape(
            [-1 if axis == self.axis else 1 for axis in range(len(self.shape))]
        )
        return stored(np.broadcast_to(along, self.shape), self.dtype)


class Broadcast(TileOp, name="tile.broadcast"):
    """Repeat: axis i of `x`, as long as axis `axes[i]` of the result or 1, becomes that axis."""

    x: Operand[Tile] = among(VALUES)
    shape: Attr[tuple[int, ...]]
    axes: Attr[tuple[int, ...]] = ()
    result: Result[Tile]

    @staticmethod
    def infer(x: Tile, shape: tuple[int, ...], axes: tuple[int, ...]) -> Tile:
        require(len(axes) == x.rank, f"{len(axes)} axes for a tile of rank {x.rank}")
        rising = all(low < high for low, high in pairwise(axes))
        inside = all(0 <= axis < len(shape) for axis in axes)
        require(rising and inside, "axes are not rising axes of the shape", list(axes), list(shape))
        fit = all(size in (1, shape[axis]) for size, axis in zip(x.shape, axes, strict=True))
        require(fit, "a size is neither 1 nor that of the result", x, list(shape))
        return Tile(shape, x.dtype)

    def run(self, frame: Any, x: Array) -> Array:
        placed = [1] * len(self.shape)
        for size, axis in zip(x.shape, self.axes, strict=True):
            placed[axis] = size
        return np.broadcast_to(x.reshape(placed), self.shape)


class Reshape(TileOp, name="tile.reshape"):
    """The same elements in row-major order, in another shape."""

    x: Operand[Tile] = among(VALUES)
    shape: Attr[tuple[int, ...]]
    result: Result[Tile]

    @staticmethod
    def infer(x: Tile, shape: tuple[int, ...]) -> Tile:
        same = prod(sizes_of(x)) == prod(shape)
        require(same, "another number of elements", x, list(shape))
        return Tile(shape, x.dtype)

    def run(self, frame: Any, x: Array) -> Array:
        return x.reshape(self.shape)


class Permute(TileOp, name="tile.permute"):
    """Axis i of the result is axis `axes[i]` of `x`."""

    x: Operand[Tile] = among(VALUES)
    axes: Attr[tuple[int, ...]]
    result: Result[Tile]

    @staticmethod
    def infer(x: Tile, axes: tuple[int, ...]) -> Tile:
        permutes = sorted(axes) == list(range(x.rank))
        require(permutes, f"axes are no permutation of {x.rank} axes", list(axes))
        return Tile(tuple([x.shape[axis] for axis in axes]), x.dtype)

    def run(self, frame: Any, x: Array) -> Array:
        return x.transpose(self.axes)


class Concat(TileOp, name="tile.concat"):
    """Tiles behind each other along an axis."""

    parts: Operands[Tile] = among(VALUES)
    axis: Attr[int]
    result: Result[Tile]

    @staticmethod
    def infer(parts: Sequence[Tile], axis: int) -> Tile:
        require(parts, "nothing to concatenate")
        check_axis(axis, parts[0])
        total = 0
        for part in parts:
            alike = part.dtype is parts[0].dtype and _but(part, axis) == _but(parts[0], axis)
            require(alike, "the tiles differ elsewhere than along the axis", parts[0], part)
            total += sizes_of(part)[axis]
        shape = list(parts[0].shape)
        shape[axis] = total
        return Tile(tuple(shape), parts[0].dtype)

    def run(self, frame: Any, *parts: Array) -> Array:
        return np.concatenate(parts, self.axis)


class Extract(TileOp, name="tile.extract"):
    """The only element of a tile, as a scalar."""

    x: Operand[Tile] = among(VALUES)
    result: Result[Scalar]

    @staticmethod
    def infer(x: Tile) -> Scalar:
        require(prod(sizes_of(x)) == 1, "a tile of one element is wanted", x)
        return Scalar(x.dtype)

    def run(self, frame: Any, x: Array) -> Array:
        return x.reshape(())


def _but(tile: Tile, axis: int) -> tuple[int, ...]:
    """All sizes but one."""
    sizes = sizes_of(tile)
    return sizes[:axis] + sizes[axis + 1 :]
