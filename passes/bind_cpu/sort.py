"""Sorting a tile: each element is put where it belongs by counting those that come before it.

Comes in: tiles of one shape, of which the first are keys. Goes out: the same tiles in order; equal
keys keep their order, and NaN comes last.
Never: a branch, or more than n / lanes comparisons of vectors for each of a line's n elements.
"""

from collections.abc import Sequence

import numpy as np

from ...ir import loop, tile
from ...ir.dtypes import Kind, boolean, i32
from ...ir.func import Yield
from ...ir.loop import BinaryKind, CompareKind
from ...ir.types import INDEX, Vec
from ...ir.values import AnyValue
from .binding import Binding, Memory, Rules
from .emitter import Emitter
from .local import load_whole, local_memory, spilled
from .registers import Registers, registers
from .transpose import swapped


def bind_sort(binding: Binding, op: tile.Sort) -> tuple[Registers, ...]:
    """Line by line, along the last axis."""
    tiles = [binding.tile(each) for each in op.values]
    if not tiles[0].parts.size:
        return tuple(tiles)
    turned = [swapped(binding, each, op.axis) for each in tiles]
    lines = np.ndindex(turned[0].shape[:-1])
    sorted_lines = [_sorted_line(binding, op, [_line(each, at) for each in turned]) for at in lines]
    made: list[Registers] = []
    for number, each in enumerate(turned):
        parts = [part for line in sorted_lines for part in line[number].values]
        made.append(swapped(binding, registers(each.shape, binding.lanes, parts), op.axis))
    return tuple(made)


def _line(x: Registers, place: tuple[int, ...]) -> Registers:
    return Registers(x.shape[-1:], x.width, x.parts[place])


def _sorted_line(binding: Binding, op: tile.Sort, line: Sequence[Registers]) -> list[Registers]:
    """Tiles of rank 1 in order."""
    memories = [spilled(binding, each) for each in line]
    ranks = _ranks(binding, op, line[: op.keys], memories[: op.keys])
    made: list[Registers] = []
    for each in line:
        target = local_memory(binding, each.shape, each.parts[0].dtype)
        for rank, part in zip(ranks, each.parts, strict=True):
            _put(binding.emitter, target, rank, part)
        made.append(load_whole(binding, target, [0], each.shape))
    return made


def _put(emitter: Emitter, target: Memory, rank: AnyValue, part: AnyValue) -> None:
    """Put each lane at its rank."""
    if not isinstance(part.type, Vec):
        emitter.emit_all(loop.Store, target.buffer, rank, part)
        return
    every = emitter.constant(np.ones(part.type.lanes, np.bool_), boolean)
    emitter.emit_all(loop.Scatter, target.buffer, rank, part, every)


def _ranks(
    binding: Binding, op: tile.Sort, keys: Sequence[Registers], memories: Sequence[Memory]
) -> Sequence[AnyValue]:
    """For each element, how many come before it: a loop over all that may."""
    emitter, width, count = binding.emitter, keys[0].width, keys[0].shape[0]
    zeros = [emitter.splat(emitter.number(0, i32), width)] * len(keys[0].parts)
    with binding.region([INDEX, *[zero.type for zero in zeros]]) as block:
        at, *ranks = block.arguments
        at.name = "other"
        others = [
            emitter.splat(emitter.emit(loop.Load, memory.buffer, at), width) for memory in memories
        ]
        here = emitter.splat(emitter.emit(loop.Cast, at, dtype=i32), width)
        for number, rank in enumerate(ranks):
            pairs = [(other, key.parts[number]) for other, key in zip(others, keys, strict=True)]
            first = _before(emitter, op.descending, pairs, _earlier(emitter, here, number, width))
            counted = emitter.emit(loop.Cast, first, dtype=i32)
            ranks[number] = emitter.binary(BinaryKind.ADD, rank, counted)
        emitter.emit_all(Yield, ranks)
    emitter.location = op.location
    bounds = [emitter.number(each) for each in (0, count, 1)]
    return emitter.emit_all(loop.For, *bounds, zeros, block)


def _earlier(emitter: Emitter, here: AnyValue, number: int, width: int) -> AnyValue:
    """Whether a place comes before those of a vector."""
    row = np.arange(number * width, (number + 1) * width, dtype=np.int32)
    return emitter.compare(
        CompareKind.LESS, here, emitter.constant(row if width > 1 else row[0], i32)
    )


def _before(
    emitter: Emitter, descending: bool, pairs: Sequence[tuple[AnyValue, AnyValue]], tie: AnyValue
) -> AnyValue:
    """Whether keys come before others; where all are equal, `tie` decides."""
    for left, right in reversed(pairs):
        low, high = (right, left) if descending else (left, right)
        first = emitter.compare(CompareKind.LESS, low, high)
        same = emitter.compare(CompareKind.EQUAL, left, right)
        if left.dtype.kind is Kind.FLOAT:
            left_is, right_is = (
                emitter.compare(CompareKind.NOT_EQUAL, each, each) for each in (left, right)
            )
            both = emitter.binary(BinaryKind.BIT_AND, left_is, right_is)
            same = emitter.binary(BinaryKind.BIT_OR, same, both)
            number = emitter.compare(CompareKind.EQUAL, left, left)
            alone = emitter.binary(BinaryKind.BIT_AND, right_is, number)
            first = emitter.binary(BinaryKind.BIT_OR, first, alone)
        among = emitter.binary(BinaryKind.BIT_AND, same, tie)
        tie = emitter.binary(BinaryKind.BIT_OR, first, among)
    return tie


RULES: Rules = {tile.Sort: bind_sort}
