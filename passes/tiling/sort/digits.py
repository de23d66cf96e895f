"""One pass of a radix sort: elements are counted by a digit of their keys, then put in its order.

Comes in: lines, as views. Goes out: loops over their elements. Equal digits keep their order, so
that passes over all digits, the lowest first, sort.
Never: a comparison.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from ....ir import tile
from ....ir.dtypes import i64
from ....ir.tile import BinaryKind
from ....ir.values import AnyValue
from ..draft import Draft
from .job import Job
from .keys import greatest_key, key_dtype, key_of, like
from .line import Line


class Digit(NamedTuple):
    """Bits `low` to `low` + `width` of the key of a column."""

    column: int
    low: int
    width: int


def digits_of(job: Job, width: int) -> list[Digit]:
    """The digits by which elements are put in order, one after the other: as few of at most so many
    bits as there can be, which then are about equally wide."""
    made = list[Digit]()
    for column in reversed(range(job.keys)):
        bits = job.columns[column].dtype.bits
        passes = -(-bits // width)
        lows = [bits * number // passes for number in range(passes + 1)]
        made += [Digit(column, low, high - low) for low, high in pairwise(lows)]
    return made


def most_values(digits: Sequence[Digit]) -> int:
    """How many values the widest digit has."""
    return 1 << max(digit.width for digit in digits)


def digit_of(draft: Draft, x: AnyValue, digit: Digit, descending: bool) -> AnyValue:
    """The digits of elements, as numbers of their keys' dtype."""
    bits = key_of(draft, x, descending)
    if digit.low:
        bits = draft.binary(BinaryKind.SHIFT_RIGHT, bits, like(draft, digit.low, bits))
    if greatest_key(x.dtype) >> digit.low >= 1 << digit.width:
        ones = like(draft, (1 << digit.width) - 1, bits)
        bits = draft.binary(BinaryKind.BIT_AND, bits, ones)
    return bits


def clear(draft: Draft, counters: AnyValue, size: int, width: int) -> None:
    """Set counters to zero."""
    zeros = draft.zeros(i64, width)

    def body(at: AnyValue) -> None:
        draft.store(counters, zeros, [at])

    draft.tiles("clear", size, width, body)


def count(
    draft: Draft, job: Job, line: Line, length: AnyValue, tables: Sequence[tuple[Digit, AnyValue]]
) -> None:
    """Count the elements by some digits, each into its table."""

    def body(_: AnyValue, which: Sequence[AnyValue]) -> None:
        for place, (_digit, counters) in zip(which, tables, strict=True):
            _next(draft, counters, place)

    _each(draft, "count", (job, line, length), [digit for digit, _ in tables], body)


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

    def body(at: AnyValue, which: Sequence[AnyValue]) -> None:
        values = [line.read(draft, column, at) for column in range(len(targets))]
        place = _next(draft, places, *which)
        for target, value in zip(targets, values, strict=True):
            draft.put(target, value, place)

    _each(draft, "move", (job, line, length), [digit], body)


def _each(
    draft: Draft,
    label: str,
    given: tuple[Job, Line, AnyValue],
    digits: Sequence[Digit],
    body: Callable[[AnyValue, Sequence[AnyValue]], None],
) -> None:
    """Do something with each element of a line, in order, and with its digits, as places: these are
    made for vectors of elements, and then read from memory one by one, in a third of the time."""
    job, line, length = given
    width = job.schedule["n"]
    rooms = [draft.scratch(key_dtype(line.dtypes[digit.column]), width) for digit in digits]

    def block(start: AnyValue) -> None:
        found = {each: line.load(draft, each, start, width) for each in _columns(digits)}
        for digit, room in zip(digits, rooms, strict=True):
            made = digit_of(draft, found[digit.column], digit, job.descending)
            draft.store(room, made, [draft.size(0)])

        def one(at: AnyValue) -> None:
            which = [draft.cast(draft.element(room, at), i64) for room in rooms]
            body(draft.add(start, at), which)

        rest = draft.least(draft.subtract(length, start), draft.size(width))
        draft.tiles(label, rest, 1, one)

    draft.tiles("digits", length, width, block)


def _columns(digits: Sequence[Digit]) -> list[int]:
    """The columns whose digits these are."""
    return [*dict.fromkeys([digit.column for digit in digits])]


def _next(draft: Draft, counters: AnyValue, which: AnyValue) -> AnyValue:
    """A counter as it is; from now on it is one more."""
    found = draft.element(counters, which)
    more = draft.add(found, draft.size(1))
    draft.put(counters, more, which)
    return found


def starts(draft: Draft, counters: AnyValue, size: int, width: int) -> None:
    """Instead of how many there are of each digit, how many come before it."""
    zero = draft.zeros(i64, 1)

    def body(at: AnyValue, so_far: AnyValue) -> list[AnyValue]:
        counted = draft.load(counters, [at], width)
        through = draft.emit(tile.Scan, counted, axis=0, kind=tile.ScanKind.SUM)
        before = draft.subtract(through, counted)
        spread = draft.spread(so_far, 0, width)
        draft.store(counters, draft.add(spread, before), [at])
        whole = draft.reduce(tile.ReduceKind.SUM, counted)
        whole = draft.reshape(whole, 1)
        return [draft.add(so_far, whole)]

    draft.tiles("starts", size, width, body, [zero])
