"""Where the largest and the smallest stand: values and their places side by side.

Comes in: a tile. Goes out: a tile of places without the axis: of equals the first, and of NaNs the
first if there are any.
Never: places compared where the order of parts says already which is first.
"""

from typing import NamedTuple

import numpy as np

from ...ir import loop, tile
from ...ir.dtypes import DType, Kind
from ...ir.interpreter.arrays import stored
from ...ir.loop import BinaryKind, CompareKind, UnaryKind
from ...ir.tile import ArgKind
from ...ir.types import Vec
from ...ir.values import AnyValue
from .binding import Binding, Rules
from .emitter import Emitter
from .reduce import tree
from .registers import Registers, objects, packed, registers


class Found(NamedTuple):
    """Values, and where along the axis they stand."""

    value: AnyValue
    place: AnyValue


def bind_arg_reduce(binding: Binding, op: tile.ArgReduce) -> Registers:
    """A tree of vectors, and along the last axis one of lanes."""
    emitter, x = binding.emitter, binding.tile(op.x)
    last = op.axis == len(x.shape) - 1
    within = last and x.width > 1
    shape = x.shape[: op.axis] + x.shape[op.axis + 1 :]
    search = Search(emitter, op.kind, op.x.dtype)
    lines = np.moveaxis(x.parts, op.axis, -1)
    made: list[AnyValue] = []
    for place in np.ndindex(lines.shape[:-1]):
        parts = [
            Found(part, _places(emitter, at, x.width, within, op.dtype))
            for at, part in enumerate(lines[place])
        ]
        one = tree(search.first, parts)
        made.append((search.across(one) if within else one).place)
    if last:
        return packed(emitter, objects(made, shape), binding.lanes)
    return registers(shape, binding.lanes, made)


def _places(emitter: Emitter, at: int, width: int, within: bool, dtype: DType) -> AnyValue:
    """The places of the lanes of a part."""
    row = np.arange(at * width, (at + 1) * width) if within else np.full(width, at)
    return emitter.constant(stored(row if width > 1 else row[0], dtype), dtype)


class Search:
    """How two findings become one."""

    def __init__(self, emitter: Emitter, kind: ArgKind, dtype: DType) -> None:
        self.emitter, self.dtype = emitter, dtype
        self.largest = kind is ArgKind.MAXIMUM

    def first(self, one: Found, other: Found) -> Found:
        """The better of two, of which `one` stands before `other` in every lane."""
        return self._chosen(self._better(other.value, one.value), other, one)

    def across(self, found: Found) -> Found:
        """The best of all lanes."""
        while isinstance(found.value.type, Vec):
            half = found.value.type.lanes // 2
            halves = [
                Found(*[self._part(each, start, half) for each in found]) for start in (0, half)
            ]
            found = self._either(*halves)
        return found

    def _part(self, vector: AnyValue, start: int, count: int) -> AnyValue:
        if count == 1:
            return self.emitter.emit(loop.Extract, vector, lane=start)
        lanes = tuple(range(start, start + count))
        return self.emitter.emit(loop.Shuffle, vector, lanes=lanes)

    def _either(self, one: Found, other: Found) -> Found:
        """The better of two; of equals the one at the lower place."""
        emitter = self.emitter
        better = self._better(other.value, one.value)
        lower = emitter.compare(CompareKind.LESS, other.place, one.place)
        tie = emitter.binary(BinaryKind.BIT_AND, self._equal(one.value, other.value), lower)
        return self._chosen(emitter.binary(BinaryKind.BIT_OR, better, tie), other, one)

    def _chosen(self, predicate: AnyValue, on_true: Found, on_false: Found) -> Found:
        pairs = zip(on_true, on_false, strict=True)
        return Found(*[self.emitter.emit(loop.Select, predicate, *pair) for pair in pairs])

    def _better(self, value: AnyValue, than: AnyValue) -> AnyValue:
        """Whether a value is sought rather than another; NaN rather than a number."""
        emitter = self.emitter
        low, high = (than, value) if self.largest else (value, than)
        if self.dtype.kind is not Kind.FLOAT:
            return emitter.compare(CompareKind.LESS, low, high)
        within = emitter.compare(CompareKind.LESS_EQUAL, high, low)
        beyond = emitter.emit(loop.Unary, within, kind=UnaryKind.BIT_NOT)
        is_number = emitter.compare(CompareKind.EQUAL, than, than)
        return emitter.binary(BinaryKind.BIT_AND, beyond, is_number)

    def _equal(self, left: AnyValue, right: AnyValue) -> AnyValue:
        emitter = self.emitter
        equal = emitter.compare(CompareKind.EQUAL, left, right)
        if self.dtype.kind is not Kind.FLOAT:
            return equal
        strange = [emitter.compare(CompareKind.NOT_EQUAL, each, each) for each in (left, right)]
        both = emitter.binary(BinaryKind.BIT_AND, *strange)
        return emitter.binary(BinaryKind.BIT_OR, equal, both)


RULES: Rules = {tile.ArgReduce: bind_arg_reduce}
