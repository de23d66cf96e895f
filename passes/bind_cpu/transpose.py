"""Transpositions in registers: b rows of b lanes are turned by log2(b) rounds of shuffles, each of
which is one instruction where registers are cut into pieces of 16 bytes.

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
Rows = Sequence[AnyValue]

PIECE = 16
"""The bytes within which instructions weave two registers without a table of lanes, which would be
another register: on every machine of `machine.py`."""


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
    """As many rows as lanes: within pieces of registers they are woven until each piece is a part
    of one column, and these parts are dealt to their columns."""
    lanes = len(rows)
    piece = min(lanes, PIECE // rows[0].type.dtype.itemsize)
    woven = [_woven(emitter, rows[top : top + piece], piece) for top in range(0, lanes, piece)]
    dealt = [_dealt(emitter, parts, piece) for parts in zip(*woven, strict=True)]
    return [column for columns in zip(*dealt, strict=True) for column in columns]


def _woven(emitter: Emitter, rows: Rows, piece: int) -> Rows:
    """As many rows as a piece has lanes, turned within each piece: two rows become one of what
    their pieces have in the lower half, lane by lane, and one of the upper halves."""
    lanes = rows[0].type.lanes
    half = piece // 2
    takes = [
        [at + side for at in _pieces(lanes, piece, low, half) for side in (0, lanes)]
        for low in (0, half)
    ]
    for _ in range(half.bit_length()):
        pairs = [*zip(rows[:half], rows[half:], strict=True)]
        rows = [_taken(emitter, pair, take) for pair in pairs for take in takes]
    return rows


def _dealt(emitter: Emitter, rows: Rows, piece: int) -> Rows:
    """As many rows as pieces, whose pieces are turned: two rows become one of every other piece of
    both, from the first on, and one of the rest."""
    both = 2 * rows[0].type.lanes
    takes = [_pieces(both, 2 * piece, first, piece) for first in (0, piece)]
    for _ in range(len(rows).bit_length() - 1):
        pairs = [*zip(rows[::2], rows[1::2], strict=True)]
        rows = [_taken(emitter, pair, take) for take in takes for pair in pairs]
    return rows


def _pieces(lanes: int, step: int, first: int, count: int) -> list[int]:
    """The `count` lanes from `first` on, of every `step` lanes."""
    return [start + first + lane for start in range(0, lanes, step) for lane in range(count)]


def _taken(emitter: Emitter, pair: tuple[AnyValue, AnyValue], lanes: Sequence[int]) -> AnyValue:
    """Lanes of two rows; those of the second one count on."""
    return emitter.emit(loop.Shuffle, emitter.emit(loop.Concat, pair), lanes=tuple(lanes))
