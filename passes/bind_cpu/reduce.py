"""Reductions: vectors are combined with each other first, and only one of them across its lanes.

Comes in: a tile. Goes out: a tile without the axis. Sums and products of narrow floats are kept in
f32 and rounded once.
Never: the order of the elements; it shows in the rounding of floats alone.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from ...ir import loop, tile
from ...ir.dtypes import DType
from ...ir.loop import BinaryKind
from ...ir.payloads import Array
from ...ir.tensor.order import MAXIMUM, MINIMUM
from ...ir.tile import ReduceKind
from ...ir.values import AnyValue
from .binding import Binding, Rules
from .registers import Registers, objects, packed, registers

T = TypeVar("T")
KINDS = {
    ReduceKind.SUM: loop.ReduceKind.ADD,
    ReduceKind.PRODUCT: loop.ReduceKind.MULTIPLY,
    ReduceKind.MAXIMUM: loop.ReduceKind.MAXIMUM,
    ReduceKind.MINIMUM: loop.ReduceKind.MINIMUM,
    ReduceKind.AND: loop.ReduceKind.BIT_AND,
    ReduceKind.OR: loop.ReduceKind.BIT_OR,
}
WIDENED = {ReduceKind.SUM, ReduceKind.PRODUCT}


def bind_reduce(binding: Binding, op: tile.Reduce) -> Registers:
    """A tree of vectors along the axis; along the last one, then a tree of lanes."""
    emitter, dtype = binding.emitter, op.x.dtype
    wide = dtype.accumulator if op.kind in WIDENED else dtype
    x = cast(binding, binding.tile(op.x), wide)
    kind = KINDS[op.kind]
    shape = x.shape[: op.axis] + x.shape[op.axis + 1 :]
    last = op.axis == len(x.shape) - 1
    width = 1 if last else x.width

    def combine(left: AnyValue, right: AnyValue) -> AnyValue:
        return emitter.binary(BinaryKind(kind.value), left, right)

    def line(parts: Array) -> AnyValue:
        if not len(parts):
            return emitter.splat(neutral(binding, op.kind, wide), width)
        one = tree(combine, list(parts))
        return emitter.emit(loop.Reduce, one, kind=kind) if last and x.width > 1 else one

    lines = np.moveaxis(x.parts, op.axis, -1)
    made = [line(lines[place]) for place in np.ndindex(lines.shape[:-1])]
    if last:
        reduced = packed(emitter, objects(made, shape), binding.lanes)
    else:
        reduced = registers(shape, binding.lanes, made)
    return cast(binding, reduced, dtype)


def tree(combine: Callable[[T, T], T], parts: Sequence[T]) -> T:
    """Neighbours are combined, then the results of that, and so on."""
    while len(parts) > 1:
        pairs = [combine(*parts[at : at + 2]) for at in range(0, len(parts) - 1, 2)]
        parts = [*pairs, *parts[len(pairs) * 2 :]]
    return parts[0]


def cast(binding: Binding, x: Registers, dtype: DType) -> Registers:
    """The tile in another dtype."""
    parts = [part for part in x.values if part.dtype is not dtype]
    if not parts:
        return x

    def converted(part: AnyValue) -> AnyValue:
        return binding.emitter.emit(loop.Cast, part, dtype=dtype)

    return x.map(converted)


def neutral(binding: Binding, kind: ReduceKind, dtype: DType) -> AnyValue:
    """What a reduction of nothing is."""
    return binding.emitter.constant(np.asarray(neutral_number(kind, dtype)), dtype)


def neutral_number(kind: ReduceKind, dtype: DType) -> Array:
    """The same as numpy has it."""
    if kind is ReduceKind.AND:
        return np.invert(np.zeros((), dtype.storage))
    if kind in (ReduceKind.MAXIMUM, ReduceKind.MINIMUM):
        return _extreme(kind is ReduceKind.MINIMUM, dtype)
    return np.asarray(kind is ReduceKind.PRODUCT).astype(dtype.storage)


def _extreme(greatest: bool, dtype: DType) -> Array:
    """The greatest, or the least, of all numbers of a dtype."""
    extreme = MINIMUM if greatest else MAXIMUM
    return np.asarray(extreme.reduce(np.empty(0, dtype.storage)))


RULES: Rules = {tile.Reduce: bind_reduce}
