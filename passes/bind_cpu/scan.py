"""Scans: each element combined with all before it.

Comes in: a tile. Goes out: a tile of the same type. Along the last axis, lanes take in those at
distance 1, 2, 4, … before them, and then what came out of the vector before.
Never: narrow floats summed as such; they are kept in f32, and each prefix is rounded once.
"""

from collections.abc import Callable

import numpy as np

from ...ir import loop, tile
from ...ir.dtypes import DType, Kind
from ...ir.loop import BinaryKind
from ...ir.payloads import Array
from ...ir.tile import ReduceKind, ScanKind
from ...ir.values import AnyValue
from .binding import Binding, Rules
from .emitter import Emitter
from .reduce import cast, neutral_number
from .registers import Registers, lane

KINDS = {
    ScanKind.SUM: (BinaryKind.ADD, ReduceKind.SUM),
    ScanKind.PRODUCT: (BinaryKind.MULTIPLY, ReduceKind.PRODUCT),
    ScanKind.MAXIMUM: (BinaryKind.MAXIMUM, ReduceKind.MAXIMUM),
    ScanKind.MINIMUM: (BinaryKind.MINIMUM, ReduceKind.MINIMUM),
}
Combine = Callable[[AnyValue, AnyValue], AnyValue]


def bind_scan(binding: Binding, op: tile.Scan) -> Registers:
    """Line by line, part by part."""
    emitter, dtype = binding.emitter, op.x.dtype
    kind, reduction = KINDS[op.kind]
    wide = dtype.accumulator if kind in (BinaryKind.ADD, BinaryKind.MULTIPLY) else dtype
    x = cast(binding, binding.tile(op.x), wide)
    within = x.width > 1 and op.axis == len(x.shape) - 1
    nothing = np.full(x.width, _neutral(reduction, wide), wide.storage)

    def combine(left: AnyValue, right: AnyValue) -> AnyValue:
        return emitter.binary(kind, left, right)

    def line(parts: Array) -> list[AnyValue]:
        made: list[AnyValue] = []
        for part in parts:
            one = _prefixes(emitter, part, combine, nothing, op.reverse) if within else part
            if made:
                one = combine(_before(emitter, made[-1], within, op.reverse), one)
            made.append(one)
        return made

    made = np.empty(x.parts.shape, object)
    lines, results = np.moveaxis(x.parts, op.axis, -1), np.moveaxis(made, op.axis, -1)
    forward = slice(None, None, -1 if op.reverse else 1)
    for place in np.ndindex(lines.shape[:-1]):
        for at, part in enumerate(line(lines[place][forward])):
            results[(*place, len(lines[place]) - 1 - at if op.reverse else at)] = part
    return cast(binding, Registers(x.shape, x.width, made), dtype)


def _before(emitter: Emitter, part: AnyValue, within: bool, reverse: bool) -> AnyValue:
    """What a part takes in from the one before: along lanes, its last one."""
    if not within:
        return part
    lanes = part.type.lanes
    return emitter.splat(lane(emitter, part, 0 if reverse else lanes - 1), lanes)


def _prefixes(
    emitter: Emitter, part: AnyValue, combine: Combine, nothing: Array, reverse: bool
) -> AnyValue:
    """The scan of the lanes of a vector."""
    lanes, distance = len(nothing), 1
    neutral = emitter.constant(nothing, part.dtype)
    while distance < lanes:
        # Lanes are numbered through both vectors: those of `neutral` come in at the end.
        joined = (part, neutral) if reverse else (neutral, part)
        first = distance if reverse else lanes - distance
        moved = tuple(range(first, first + lanes))
        shifted = emitter.emit(loop.Shuffle, emitter.emit(loop.Concat, joined), lanes=moved)
        part = combine(shifted, part)
        distance *= 2
    return part


def _neutral(kind: ReduceKind, dtype: DType) -> Array:
    """What changes nothing, not even the sign of a zero."""
    if kind is ReduceKind.SUM and dtype.kind is Kind.FLOAT:
        return np.asarray(-0.0, dtype.storage)
    return neutral_number(kind, dtype)


RULES: Rules = {tile.Scan: bind_scan}
