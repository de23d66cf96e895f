"""Transpositions in registers: b rows of b lanes are turned by log2(b) rounds of shuffles.

Comes in: a tile, one of its axes. Goes out: the tile with that axis and the last one swapped.
Never: memory. Where an axis has an odd size, numbers are moved one by one.
"""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from ...ir import loop
from ...ir.payloads import Array
from ...ir.values import AnyValue
from .binding import Binding
from .emitter import Emitter
from .registers import Registers, objects, packed, registers, scalars, width_of

T = TypeVar("T")


def swapped_shape(shape: Sequence[T], axis: int) -> tuple[T, ...]:
    """A shape, or whatever has an element for each axis, with one axis and the last one swapped."""
    turned = list(shape)
    turned[axis], turned[-1] = turned[-1], turned[axis]
    return tuple(turned)


def swapped(binding: Binding, x: Registers, axis: int) -> Registers:
    """The tile with `axis` and the last axis in each other's place."""
    emitter = binding.emitter
    if axis == len(x.shape) - 1:
        return x
    shape = swapped_shape(x.shape, axis)
    width = width_of(shape, binding.lanes)
    block = min(width, x.width)
    if block == 1:
        return packed(emitter, scalars(emitter, x).swapaxes(axis, -1), binding.lanes)
    matrices = np.moveaxis(x.parts, axis, -2)
    turned = np.empty((*matrices.shape[:-2], x.shape[-1], x.shape[axis] // width), object)
    for place in np.ndindex(matrices.shape[:-2]):
        turned[place] = _turned(emitter, matrices[place], block, width)
    parts = np.moveaxis(turned, -2, axis)
    return registers(shape, binding.lanes, list(parts.flat))


def _turned(emitter: Emitter, matrix: Array, block: int, width: int) -> Array:
    """The columns of a matrix of vectors, each as vectors of `width` lanes."""
    rows = [_cut(emitter, list(row), block) for row in matrix]
    columns: list[list[AnyValue]] = [[] for _ in range(len(rows[0]) * block)]
    for top in range(0, len(rows), block):
        for left in range(len(rows[0])):
            lines = _turned_block(emitter, [row[left] for row in rows[top : top + block]])
            for number, line in enumerate(lines):
                columns[left * block + number].append(line)
    made = [_joined(emitter, column, width // block) for column in columns]
    return objects([part for column in made for part in column], (len(columns), len(made[0])))


def _cut(emitter: Emitter, row: Sequence[AnyValue], block: int) -> list[AnyValue]:
    """A row as vectors of `block` lanes."""
    pieces: list[AnyValue] = []
    for part in row:
        lanes = part.type.lanes
        starts = range(0, lanes, block)
        cuts = [tuple(range(start, start + block)) for start in starts]
        pieces += (
            [part]
            if lanes == block
            else [emitter.emit(loop.Shuffle, part, lanes=cut) for cut in cuts]
        )
    return pieces


def _joined(emitter: Emitter, column: list[AnyValue], count: int) -> list[AnyValue]:
    """A column whose vectors have `count` times as many lanes."""
    if count == 1:
        return column
    starts = range(0, len(column), count)
    return [emitter.emit(loop.Concat, tuple(column[start : start + count])) for start in starts]


def _turned_block(emitter: Emitter, rows: list[AnyValue]) -> list[AnyValue]:
    """As many rows as lanes: at each distance, rows exchange the lanes off the diagonal."""
    rows, lanes = list(rows), len(rows)
    distance = lanes // 2
    while distance:
        keeps = tuple([_source(lane, distance, lanes, 0) for lane in range(lanes)])
        takes = tuple([_source(lane, distance, lanes, distance) for lane in range(lanes)])
        for one in range(lanes):
            other = one + distance
            if not one & distance:
                both = emitter.emit(loop.Concat, (rows[one], rows[other]))
                rows[one] = emitter.emit(loop.Shuffle, both, lanes=keeps)
                rows[other] = emitter.emit(loop.Shuffle, both, lanes=takes)
        distance //= 2
    return rows


def _source(lane: int, distance: int, lanes: int, moved: int) -> int:
    """Where a lane comes from: the first row, or the second, whose lanes count on."""
    return lane - distance + lanes + moved if lane & distance else lane + moved
