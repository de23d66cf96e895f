"""Sums that wait in memory of the program, while what follows is computed a few rows at a time.

Comes in: blocks of sums. Goes out: loops that hand pieces of them to an ending, whose code stands
there once, however many rows a block has.
Never: what follows itself; that says `ending`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ....ir.dims import Size
from ....ir.dtypes import DType
from ....ir.values import AnyValue
from ..writer import Writer


@dataclass(frozen=True, slots=True)
class Blocks:
    """Blocks of sums beside each other, from one column to another one; `make(column)` is one, of
    this shape."""

    begin: AnyValue
    end: AnyValue
    shape: tuple[int, int, int]
    dtype: DType
    make: Callable[[AnyValue], AnyValue]


class Waiting(ABC):
    """An ending whose sums may wait."""

    @property
    @abstractmethod
    def height(self) -> Size:
        """How many rows the product has, or columns where it is swapped."""

    @abstractmethod
    def at_once(self, writer: Writer, lines: int) -> int:
        """Of how many rows of so many what follows is computed at once."""

    @abstractmethod
    def write(
        self, writer: Writer, views: Sequence[AnyValue], sums: AnyValue, place: Sequence[AnyValue]
    ) -> None:
        """Compute what follows of a block of sums at a place, and store it."""

    def store(
        self, writer: Writer, views: Sequence[AnyValue], sums: AnyValue, place: Sequence[AnyValue]
    ) -> None:
        """Compute what follows of a block of sums at a place, and store it; where the schedule says
        so, a few rows at a time, for which the sums wait in memory of the program."""
        _, lines, columns = sums.type.shape
        if self.at_once(writer, lines) == lines:
            self.write(writer, views, sums, place)
            return
        *lead, column = place
        zero = writer.size(0)
        room = writer.scratch(sums.dtype, *sums.type.shape, name="sums")
        writer.store(room, sums, [zero] * 3)
        self._write_rows(writer, views, room, lead, (column, writer.size(columns), columns))

    def store_blocks(
        self, writer: Writer, views: Sequence[AnyValue], made: Blocks, place: Sequence[AnyValue]
    ) -> None:
        """The same of blocks beside each other, made one after the other; where the sums wait, for
        a `strip` of blocks, whose rows are then finished from end to end: what they read besides
        comes from far, and in long runs it comes quickly."""
        _, lines, columns = made.shape
        if self.at_once(writer, lines) == lines or "strip" not in writer.schedule:
            self._store_each(writer, views, made, place)
            return
        zero, strip = writer.size(0), writer.schedule["strip"] * columns
        room = writer.scratch(made.dtype, 1, lines, strip, name="sums")

        def some(first: AnyValue) -> None:
            width = writer.least(writer.size(strip), writer.subtract(made.end, first))

            def block(at: AnyValue) -> None:
                writer.store(room, made.make(writer.add(first, at)), [zero, zero, at])

            writer.loop("n", (zero, width, columns), block)
            self._write_rows(writer, views, room, place, (first, width, columns))

        writer.loop("strip", (made.begin, made.end, strip), some)

    def _write_rows(
        self, writer: Writer, views: Sequence[AnyValue], room: AnyValue,
        place: Sequence[AnyValue], across: tuple[AnyValue, AnyValue, int],
    ) -> None:  # fmt: skip
        """What follows of all rows of the sums that wait, a few at a time; `across` says in which
        column they begin, how many columns there are, and how many are written at once."""
        (batch, top), (first, width, columns) = place, across
        zero, lines = writer.size(0), room.type.facts["size"][1]
        rows = self.at_once(writer, lines)

        def some(row: AnyValue) -> None:
            def piece(at: AnyValue) -> None:
                found = writer.load(room, [zero, row, at], 1, rows, columns)
                where = [batch, writer.add(top, row), writer.add(first, at)]
                self.write(writer, views, found, where)

            writer.loop("column", (zero, width, columns), piece)

        end = writer.least(writer.size(lines), writer.subtract(writer.size(self.height), top))
        writer.loop("row", (zero, end, rows), some)

    def _store_each(
        self, writer: Writer, views: Sequence[AnyValue], made: Blocks, place: Sequence[AnyValue]
    ) -> None:
        """Store blocks one after the other."""

        def block(at: AnyValue) -> None:
            self.store(writer, views, made.make(at), [*place, at])

        writer.loop("n", (made.begin, made.end, made.shape[-1]), block)


def rows_at_once(writer: Writer, lines: int) -> int:
    """Of how many rows of so many the schedule says that something is computed at once."""
    return min(writer.schedule.get("rows", lines), lines)
