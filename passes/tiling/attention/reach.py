"""Which columns a row may see, where no key comes more than so far after its query.

Comes in: a program, and the offset. Goes out: a `Reach`: the first and the end of the columns that
are worth looking at, and within a block the scores that count.

        columns are keys           columns are queries (`turned`)
    row  x x . . .             row  x x x x x
         x x x . .                  x x x x x        offset = 1
         x x x x .                  . x x x x
    end is row + offset + 1    begin is row - offset

Never: a score.
"""

from dataclasses import dataclass
from typing import NamedTuple

from ....ir import tile
from ....ir.dtypes import i32
from ....ir.values import AnyValue
from .program import Program

FAR = 1 << 20
"""Further than any two places of one block are from each other: so far, i32 is enough."""


class Bounds(NamedTuple):
    """The first of the columns that are near, and where those begin and end that are seen."""

    first: AnyValue
    begin: AnyValue
    end: AnyValue


@dataclass(frozen=True, slots=True)
class Reach:
    """A key may come `offset` after its query; None: anywhere."""

    program: Program
    offset: AnyValue | None
    turned: bool = False

    def seen(self, row: AnyValue, at: AnyValue) -> AnyValue:
        """Where a panel has columns that a few rows may see."""
        program, inside = self.program, self.program.inside(at)
        if self.offset is None:
            return inside
        shape = program.few, program.beside
        rows, columns = (program.iota(i32, axis, *shape) for axis in (0, 1))
        ours, theirs = (rows, columns) if self.turned else (columns, rows)
        key, query = (row, at) if self.turned else (at, row)
        most = program.subtract(program.add(query, self.offset), key)
        most = program.cast(program.least(program.greatest(most, -FAR), FAR), i32)
        after = program.subtract(ours, theirs)
        limit = program.full(most, *shape)
        allowed = program.compare(tile.CompareKind.LESS_EQUAL, after, limit)
        return program.binary(tile.BinaryKind.BIT_AND, inside, allowed)

    def begin(self, row: AnyValue) -> AnyValue:
        """The first block of near columns that rows from `row` on may see."""
        return self._whole(self._first(row), self.program.near)

    def begin_of_block(self, row: AnyValue, first: AnyValue) -> AnyValue:
        """The first column that a block of rows sees of the near ones, which begin at `first`."""
        begin = self._whole(self._first(row), self.program.beside)
        return self.program.greatest(begin, first)

    def end_of_block(self, row: AnyValue, first: AnyValue) -> AnyValue:
        """The end of the columns that a block of rows sees of the near ones."""
        program = self.program
        end = self.end(program.add(row, program.lines))
        end = program.least(program.add(first, program.near), end)
        return program.greatest(end, first)

    def end(self, below: AnyValue) -> AnyValue:
        """The end of the columns that rows before `below` may see."""
        program = self.program
        end = program.size(program.columns)
        if self.offset is None or self.turned:
            return end
        return program.least(end, program.greatest(program.add(below, self.offset), 0))

    def _first(self, row: AnyValue) -> AnyValue:
        """The first column that rows from `row` on may see."""
        program = self.program
        if self.offset is None or not self.turned:
            return program.size(0)
        return program.greatest(program.subtract(row, self.offset), 0)

    def _whole(self, column: AnyValue, step: int) -> AnyValue:
        """A column, rounded down to whole steps."""
        return self.program.multiply(self.program.divide(column, step), step)
