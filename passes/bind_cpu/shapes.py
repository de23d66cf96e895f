"""Tiles that come from nothing, and tiles in another shape.

Comes in: tile ops that move elements. Goes out: the same vectors at other places, at no cost; where
the last axis changes, vectors are taken apart and put together.
Never: arithmetic, but for counting.
"""

import numpy as np

from ...ir import loop, tile
from ...ir.dtypes import DType
from ...ir.interpreter.arrays import stored
from ...ir.types import Tile
from ...ir.values import AnyValue
from .binding import Binding, Rules
from .registers import (
    Registers,
    Shape,
    count_of,
    lane,
    objects,
    packed,
    parts_shape,
    registers,
    scalars,
    shape_of,
    width_of,
)  # fmt: skip
from .transpose import swapped, swapped_shape


def bind_constant(binding: Binding, op: tile.Constant) -> AnyValue:
    """The same number."""
    return binding.emitter.emit(loop.Constant, op.value)


def bind_full(binding: Binding, op: tile.Full) -> Registers:
    """One vector, everywhere."""
    return filled(binding, binding.scalar(op.x), op.shape)


def filled(binding: Binding, value: AnyValue, shape: Shape) -> Registers:
    """A tile of a scalar."""
    part = binding.emitter.splat(value, width_of(shape, binding.lanes))
    return registers(shape, binding.lanes, [part] * count_of(shape, binding.lanes))


def bind_iota(binding: Binding, op: tile.Iota) -> Registers:
    """Constants: rows of numbers, or one number in every lane."""
    width = width_of(op.shape, binding.lanes)
    last = len(op.shape) - 1
    parts = [
        counted(binding, place[op.axis], op.axis == last, width, op.dtype)
        for place in np.ndindex(parts_shape(op.shape, width))
    ]
    return registers(op.shape, binding.lanes, parts)


def counted(binding: Binding, at: int, along: bool, width: int, dtype: DType) -> AnyValue:
    """One vector of counting: from `at * width` on, or `at` in every lane."""
    if width == 1:
        return binding.emitter.constant(stored(np.asarray(at), dtype), dtype)
    row = np.arange(at * width, (at + 1) * width) if along else np.full(width, at)
    return binding.emitter.constant(stored(row, dtype), dtype)


def bind_broadcast(binding: Binding, op: tile.Broadcast) -> Registers:
    """Vectors at more places, or a number in every lane."""
    x, shape = binding.tile(op.x), op.shape
    last = len(shape) - 1
    width = width_of(shape, binding.lanes)
    if x.shape and x.shape[-1] != 1 and op.axes[-1] == last:
        placed = _placed(x.parts.shape, op.axes, len(shape))
        spread = np.broadcast_to(x.parts.reshape(placed), parts_shape(shape, width))
        return Registers(shape, x.width, spread)
    emitter = binding.emitter
    numbers = scalars(emitter, x)
    splats = objects([emitter.splat(each, width) for each in numbers.flat], numbers.shape)
    placed = _placed(splats.shape, op.axes, len(shape))
    return Registers(
        shape, width, np.broadcast_to(splats.reshape(placed), parts_shape(shape, width))
    )


def _placed(sizes: Shape, axes: tuple[int, ...], rank: int) -> list[int]:
    placed = [1] * rank
    for size, axis in zip(sizes, axes, strict=True):
        placed[axis] = size
    return placed


def bind_reshape(binding: Binding, op: tile.Reshape) -> Registers:
    """The same vectors in the same order, if they stay as wide."""
    x = binding.tile(op.x)
    if width_of(op.shape, binding.lanes) == x.width:
        return registers(op.shape, binding.lanes, x.values)
    return packed(binding.emitter, scalars(binding.emitter, x).reshape(op.shape), binding.lanes)


def bind_permute(binding: Binding, op: tile.Permute) -> Registers:
    """The last axis comes to its place first; the others only reorder whole vectors."""
    x, axes = binding.tile(op.x), op.axes
    if not axes:
        return x
    turned = swapped(binding, x, axes[-1])
    order = swapped_shape(tuple(range(len(axes))), axes[-1])
    moved = [order.index(axis) for axis in axes]
    return Registers(
        tuple([x.shape[axis] for axis in axes]), turned.width, turned.parts.transpose(moved)
    )


def bind_concat(binding: Binding, op: tile.Concat) -> Registers:
    """The vectors of all parts, if they are as wide as those of the whole."""
    tiles = [binding.tile(part) for part in op.parts]
    type_ = op.result.type
    assert isinstance(type_, Tile)
    shape = shape_of(type_)
    width = width_of(shape, binding.lanes)
    filled = [each for each in tiles if each.parts.size]
    if all(each.width == width for each in filled):
        parts = np.concatenate([each.parts for each in filled], op.axis) if filled else ()
        return registers(shape, binding.lanes, list(np.ravel(np.asarray(parts, object))))
    numbers = [scalars(binding.emitter, each) for each in tiles]
    return packed(binding.emitter, np.concatenate(numbers, op.axis), binding.lanes)


def bind_extract(binding: Binding, op: tile.Extract) -> AnyValue:
    """The one scalar there is."""
    return lane(binding.emitter, binding.tile(op.x).values[0], 0)


RULES: Rules = {
    tile.Constant: bind_constant,
    tile.Full: bind_full,
    tile.Iota: bind_iota,
    tile.Broadcast: bind_broadcast,
    tile.Reshape: bind_reshape,
    tile.Permute: bind_permute,
    tile.Concat: bind_concat,
    tile.Extract: bind_extract,
}
