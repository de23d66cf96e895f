"""What programs of attention have in common: which head they work on, blocks of rows, loops.

Comes in: a kernel that is open, the sizes, which length the rows run along. Goes out: a `Program`,
the writer of its func, which packs its rows and loops over blocks of them.
Never: what is made of the scores.
"""

from collections.abc import Callable, Sequence
from math import inf
from typing import Any

from ....ir import tile
from ....ir.dims import Size, ceil_div
from ....ir.dtypes import i64
from ....ir.values import AnyValue
from ..opening import Opening, Resize
from ..writer import Writer
from .heads import Heads

Kind = tile.BinaryKind


class Program(Writer):
    """`rows` is the length that its own rows run along, `columns` the other one; `head` counts the
    heads whose own rows these are, of `heads` a sample."""

    def __init__(
        self, opening: Opening, lengths: Heads, heads: Size, rows: Size, columns: Size
    ) -> None:
        super().__init__(opening)
        self.lengths, self.rows, self.columns = lengths, rows, columns
        self.lines, self.few = lengths.lines(rows), lengths.few(rows)
        self.beside, self.near = lengths.beside(columns), lengths.near(columns)
        together = lengths.together(rows)
        self.blocks = together // self.lines
        self.head, self.sample = self.program(0), self.program(1)
        before = self.multiply(self.sample, heads)
        self.flat_head = self.add(before, self.head)
        self.top = self.multiply(self.program(2), together)
        self.bottom = self.least(self.add(self.top, together), rows)

    @staticmethod
    def grid_of(lengths: Heads, heads: Size, rows: Size, local: Resize) -> tuple[Size, Size, Size]:
        """Heads, samples, and blocks of rows."""
        return local(heads), local(lengths.batch), ceil_div(local(rows), lengths.together(rows))

    def kept(self, *shape: Size) -> AnyValue:
        """Memory of this program, for each of its blocks of rows."""
        return self.scratch(self.lengths.wide, self.blocks, *shape)

    def block(self) -> AnyValue:
        """Memory for one block of rows, and the columns that are near."""
        return self.scratch(self.lengths.wide, self.lines, self.near)

    def columns_of(self, block: AnyValue, row: AnyValue, at: AnyValue, lines: int) -> AnyValue:
        """The place of some rows and columns in such memory."""
        return self.part(block, [row, at], [self.size(lines), self.size(self.beside)])

    def each_few(self, body: Callable[[AnyValue], None]) -> None:
        """Run `body` for a few rows of a block at a time, with the number of the first."""
        self.loop("few", (self.size(0), self.size(self.lines), self.few), body)

    def each_block(self, body: Callable[[AnyValue, AnyValue], None]) -> None:
        """Run `body` with the number of each block of rows, and with its first row."""

        def block(row: AnyValue) -> None:
            body(self.divide(self.subtract(row, self.top), self.lines), row)

        self.loop("row", (self.top, self.bottom, self.lines), block)

    def packed_rows(self, view: AnyValue, width: Size) -> AnyValue:
        """The program's rows in memory of its own, block by block, in chunks."""
        chunk = self.lengths.chunk(width)
        room = self.kept(ceil_div(self.names.of(width), chunk), self.lines, chunk)
        zero, mine = self.size(0), self.of_head(view, self.rows, width)

        def copy(block: AnyValue, row: AnyValue) -> None:
            def piece(at: AnyValue) -> None:
                loaded = self.load(mine, [row, at], self.lines, chunk)
                target = self.inner(room, [block, self.divide(at, chunk)], self.lines, chunk)
                self.store(target, self.cast(loaded, self.lengths.wide), [zero, zero])

            self.loop("chunk", (zero, self.size(width), chunk), piece)

        self.each_block(copy)
        return room

    def packed_numbers(self, view: AnyValue) -> AnyValue:
        """A number for each of the program's rows, in memory of its own."""
        room, mine = self.kept(self.lines), self.of_head(view, self.rows)

        def copy(block: AnyValue, row: AnyValue) -> None:
            numbers = self.reshape(self.load(mine, [row], self.lines), 1, self.lines)
            self.store(room, numbers, [block, self.size(0)])

        self.each_block(copy)
        return room

    def of_head(self, view: AnyValue, *sizes: Size) -> AnyValue:
        """What a view has of the program's own head."""
        return self.inner(view, [self.sample, self.head], *sizes)

    def inner(self, view: AnyValue, place: Sequence[AnyValue], *sizes: Size) -> AnyValue:
        """The part of a view at a place along its first axes, that has these sizes."""
        zeros = [self.size(0)] * len(sizes)
        return self.part(view, [*place, *zeros], [self.size(each) for each in sizes])

    def constant(self, value: Any, *shape: int) -> AnyValue:
        """A tile of one number, of the dtype of sums."""
        return self.full(self.number(value, self.lengths.wide), *shape)

    def equals(self, x: AnyValue, number: float) -> AnyValue:
        """Where x is a number."""
        wanted = self.constant(number, *x.type.shape)
        return self.compare(tile.CompareKind.EQUAL, x, wanted)

    def finite(self, x: AnyValue) -> AnyValue:
        """x with 0 for -inf: what can be taken from -inf"""
        return self.select(self.equals(x, -inf), self.constant(0.0, *x.type.shape), x)

    def inside(self, start: AnyValue) -> AnyValue:
        """Where a block of columns lies before their end."""
        first = self.full(start, self.beside)
        places = self.add(first, self.iota(i64, 0, self.beside))
        end = self.full(self.size(self.columns), self.beside)
        found = self.compare(tile.CompareKind.LESS, places, end)
        return self.spread(found, 1, self.few, self.beside)

    def product(
        self, rows: AnyValue, panel: AnyValue, chunks: AnyValue, chunk: int, start: AnyValue
    ) -> AnyValue:
        """start + rows · panel: of the one chunks of [lines, k], of the other of [k, columns]."""
        zero, (lines, beside) = self.size(0), start.type.shape[-2:]

        def body(at: AnyValue, sums: AnyValue) -> list[AnyValue]:
            left = self.load(rows, [at, zero, zero], 1, lines, chunk)
            right = self.load(panel, [at, zero, zero], 1, chunk, beside)
            return [self.emit(tile.Dot, left, right, sums)]

        (made,) = self.loop("k", (zero, chunks, 1), body, [start])
        return made
