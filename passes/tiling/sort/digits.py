"""One pass of a radix sort: elements are counted by a digit of their keys, then put in its order.

Comes in: lines, as views. Goes out: loops over their elements. Equal digits keep their order, so
that passes over all digits, the lowest first, sort.
Never: a comparison.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ....ir import tile
from ....ir.dtypes import DType, i64
from ....ir.tile import BinaryKind
from ....ir.values import AnyValue
from ..draft import Draft
from .job import Job, element, put
from .keys import greatest_key, key_of, like


class Digit(NamedTuple):
    """Bits `low` to `low` + `width` of the key of a column."""

    column: int
    low: int
    width: int


def digits_of(job: Job, width: int) -> list[Digit]:
    """The digits by which elements are put in order, one after the other."""
    return [
        Digit(column, low, width)
        for column in reversed(range(job.keys))
        for low in range(0, job.columns[column].dtype.bits, width)
    ]


def digit_of(draft: Draft, x: AnyValue, digit: Digit, descending: bool) -> AnyValue:
    """The digit of an element, as a place."""
    bits = key_of(draft, x, descending)
    if digit.low:
        bits = draft.binary(BinaryKind.SHIFT_RIGHT, bits, like(draft, digit.low, bits))
    if greatest_key(x.dtype) >> digit.low >= 1 << digit.width:
        ones = like(draft, (1 << digit.width) - 1, bits)
        bits = draft.binary(BinaryKind.BIT_AND, bits, ones)
    return draft.cast(bits, i64)


class Line(NamedTuple):
    """Views of the columns of a line; None where a column is the places, from `start` on."""

    views: Sequence[AnyValue | None]
    dtypes: Sequence[DType]
    start: AnyValue

    @classmethod
    def of(cls, job: Job, views: Iterable[AnyValue], start: AnyValue) -> "Line":
        """The columns of a job, with a view for each array."""
        given = iter(views)
        found = [None if column.array is None else next(given) for column in job.columns]
        return cls(found, [column.dtype for column in job.columns], start)

    @property
    def key(self) -> AnyValue:
        """The first column, which is no counter."""
        view = self.views[0]
        assert view is not None
        return view

    def read(self, draft: Draft, column: int, at: AnyValue) -> AnyValue:
        """One element of a column."""
        view = self.views[column]
        if view is not None:
            return element(draft, view, at)
        place = draft.binary(BinaryKind.ADD, self.start, at)
        return draft.cast(place, self.dtypes[column])


def clear(draft: Draft, counters: AnyValue, size: int, width: int) -> None:
    """Set counters to zero."""
    zeros = draft.emit(tile.Full, draft.number(0, i64), shape=(width,))

    def body(at: AnyValue, _: Sequence[AnyValue]) -> list[AnyValue]:
        draft.store(counters, zeros, [at])
        return []

    draft.loop(size, width, [], body, "clear")


def count(
    draft: Draft, job: Job, line: Line, length: AnyValue, tables: Sequence[tuple[Digit, AnyValue]]
) -> None:
    """Count the elements by some digits, each into its table."""

    def body(at: AnyValue, _: Sequence[AnyValue]) -> list[AnyValue]:
        columns = dict.fromkeys(digit.column for digit, _ in tables)
        found = {column: line.read(draft, column, at) for column in columns}
        for digit, counters in tables:
            which = digit_of(draft, found[digit.column], digit, job.descending)
            _next(draft, counters, which)
        return []

    draft.loop(length, 1, [], body, "count")


def move(
    draft: Draft,
    job: Job,
    line: Line,
    length: AnyValue,
    targets: Sequence[AnyValue],
    table: tuple[Digit, AnyValue],
) -> None:
    """Put each element where the next one of its digit belongs."""
    digit, places = table

    def body(at: AnyValue, _: Sequence[AnyValue]) -> list[AnyValue]:
        values = [line.read(draft, column, at) for column in range(len(targets))]
        which = digit_of(draft, values[digit.column], digit, job.descending)
        place = _next(draft, places, which)
        for target, value in zip(targets, values, strict=True):
            put(draft, target, value, place)
        return []

    draft.loop(length, 1, [], body, "move")


def _next(draft: Draft, counters: AnyValue, which: AnyValue) -> AnyValue:
    """A counter as it is; from now on it is one more."""
    found = element(draft, counters, which)
    more = draft.binary(BinaryKind.ADD, found, draft.sizes.number(1))
    put(draft, counters, more, which)
    return found


def starts(draft: Draft, counters: AnyValue, size: int, width: int) -> None:
    """Instead of how many there are of each digit, how many come before it."""
    zero = draft.emit(tile.Full, draft.number(0, i64), shape=(1,))

    def body(at: AnyValue, carries: Sequence[AnyValue]) -> list[AnyValue]:
        counted = draft.load(counters, [at], width)
        through = draft.emit(tile.Scan, counted, axis=0, kind=tile.ScanKind.SUM)
        before = draft.binary(BinaryKind.SUBTRACT, through, counted)
        spread = draft.emit(tile.Broadcast, carries[0], shape=(width,), axes=(0,))
        draft.store(counters, draft.binary(BinaryKind.ADD, spread, before), [at])
        whole = draft.emit(tile.Reduce, counted, axis=0, kind=tile.ReduceKind.SUM)
        whole = draft.reshape(whole, 1)
        return [draft.binary(BinaryKind.ADD, carries[0], whole)]

    draft.loop(size, width, [zero], body, "starts")
