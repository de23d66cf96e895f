"""Candidates for the first few of a line, in memory of a program, and how many of them are kept.

Comes in: elements with their keys, in the order in which they stand. Goes out: of those noted so
far, the ones with the least keys, in the same order; of equal keys the first. The greatest of these
keys is found bit by bit: how many are below it?
Never: more than there is room for; whoever notes some looks before.
"""

from collections.abc import Sequence

from ....ir import tile
from ....ir.dims import Size
from ....ir.dtypes import DType, i32, i64
from ....ir.payloads import Number
from ....ir.tile import BinaryKind, CompareKind
from ....ir.values import AnyValue
from ..draft import Draft
from .keys import greatest_key, key_dtype, like
from .line import memory


class Candidates:
    """Columns of elements, and their keys."""

    def __init__(
        self, draft: Draft, dtypes: Sequence[DType], count: Size, room: Size, width: int
    ) -> None:
        self.draft, self.room, self.width, self.dtype = draft, room, width, dtypes[0]
        self.wanted = draft.size(count)
        self.columns = [memory(draft, dtype, room) for dtype in dtypes]
        self.keys = memory(draft, key_dtype(self.dtype), room)

    def add(self, count: AnyValue, key: AnyValue, values: Sequence[AnyValue]) -> AnyValue:
        """Note one behind `count` others; how many there are now."""
        draft = self.draft
        draft.put(self.keys, key, count)
        for column, value in zip(self.columns, values, strict=True):
            draft.put(column, value, count)
        return draft.add(count, draft.size(1))

    def keep_best(self, count: AnyValue) -> Sequence[AnyValue]:
        """Keep as many as are wanted of `count`, which are more; how many there are now, and the
        limit of keys of further ones."""
        draft, keys = self.draft, self.draft.part(self.keys, [self.draft.size(0)], [count])
        last = self._last_key(keys, count)
        below = self._below(keys, count, last)
        ties = draft.subtract(self.wanted, below)
        zero = draft.size(0)

        def body(at: AnyValue, written: AnyValue, left: AnyValue) -> Sequence[AnyValue]:
            key = draft.element(self.keys, at)
            better = draft.compare(CompareKind.LESS, key, last)
            same = draft.compare(CompareKind.EQUAL, key, last)
            some = draft.compare(CompareKind.LESS, zero, left)
            tie = draft.binary(BinaryKind.BIT_AND, same, some)

            def moved() -> list[AnyValue]:
                values = [draft.element(column, at) for column in self.columns]
                fewer = draft.subtract(left, draft.cast(tie, i64))
                return [self.add(written, key, values), fewer]

            kept = draft.binary(BinaryKind.BIT_OR, better, tie)
            return draft.branch(kept, [written, left], moved)

        draft.tiles("keep", count, 1, body, [zero, ties])
        above = draft.compare(CompareKind.LESS, like(draft, 0, last), last)
        lower = draft.cast(above, last.dtype)
        return [self.wanted, draft.subtract(last, lower)]

    def hand_over(self, column: int, target: AnyValue, count: AnyValue, last: Number) -> None:
        """Store a column, and behind `count` elements such as come last."""
        draft = self.draft
        there = draft.part(self.columns[column], [draft.size(0)], [count])

        def body(at: AnyValue) -> None:
            found = draft.emit(tile.Load, there, [at], shape=(self.width,), padding=last)
            draft.store(target, found, [at])

        draft.tiles("hand_over", self.wanted, self.width, body)

    def _last_key(self, keys: AnyValue, count: AnyValue) -> AnyValue:
        """The greatest key of those that are kept: the greatest number that fewer are below."""
        draft, bits, wide = self.draft, self.dtype.bits, self.keys.dtype
        one = draft.number(1, wide)

        def body(at: AnyValue, found: AnyValue) -> Sequence[AnyValue]:
            top = draft.subtract(draft.size(bits - 1), at)
            bit = draft.binary(BinaryKind.SHIFT_LEFT, one, draft.cast(top, wide))
            higher = draft.binary(BinaryKind.BIT_OR, found, bit)
            below = self._below(keys, count, higher)
            fewer = draft.compare(CompareKind.LESS, below, self.wanted)
            return [draft.select(fewer, higher, found)]

        return draft.tiles("bits", bits, 1, body, [draft.number(0, wide)])[0]

    def _below(self, keys: AnyValue, count: AnyValue, than: AnyValue) -> AnyValue:
        """How many keys are less than another."""
        draft, width = self.draft, self.width
        padding = Number(greatest_key(self.dtype), keys.dtype)  # below which all others are
        others = draft.full(than, width)
        zeros = draft.zeros(i32, width)

        def body(at: AnyValue, sums: AnyValue) -> Sequence[AnyValue]:
            found = draft.emit(tile.Load, keys, [at], shape=(width,), padding=padding)
            less = draft.cast(draft.compare(CompareKind.LESS, found, others), i32)
            return [draft.add(sums, less)]

        (sums,) = draft.tiles("below", count, width, body, [zeros])
        whole = draft.reduce(tile.ReduceKind.SUM, sums)
        return draft.cast(draft.emit(tile.Extract, whole), i64)
