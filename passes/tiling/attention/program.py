"""What programs of attention have in common: which head they work on, blocks of rows, loops.

Comes in: a writer, the sizes, which length the rows run along. Goes out: a `Program`, which packs
its rows, multiplies a block of them with a panel, and loops over blocks.
Never: what is made of the scores.
"""

from collections.abc import Callable, Sequence
from math import inf
from typing import Any

from ....ir import tile
from ....ir.dims import Size, ceil_div
from ....ir.dtypes import DType, i64
from ....ir.payloads import Number
from ....ir.values import AnyValue
from ..contract.writer import Resize, Writer
from ..emit import nothing
from .heads import Heads

Kind = tile.BinaryKind


class Program:
    """`rows` is the length that its own rows run along, `columns` the other one; `head` counts the
    heads whose own rows these are, of `heads` a sample."""

    def __init__(
        self, writer: Writer, sizes: Heads, heads: Size, rows: Size, columns: Size
    ) -> None:
        self.writer, self.sizes, self.rows, self.columns = writer, sizes, rows, columns
        self.lines, self.few = sizes.lines(rows), sizes.few(rows)
        self.beside = sizes.beside(columns)
        self.blocks, self.near = sizes.together(rows) // self.lines, sizes.near(columns)
        self.head, self.sample = writer.program(0), writer.program(1)
        before = writer.multiply(self.sample, writer.size(heads))
        self.flat_head = writer.add(before, self.head)
        self.top = writer.multiply(writer.program(2), sizes.together(rows))
        below = writer.add(self.top, writer.size(sizes.together(rows)))
        self.bottom = writer.least(below, writer.size(rows))

    @staticmethod
    def grid(sizes: Heads, heads: Size, rows: Size, local: Resize) -> tuple[Size, Size, Size]:
        """Heads, samples, and blocks of rows."""
        return local(heads), local(sizes.batch), ceil_div(local(rows), sizes.together(rows))

    def scratch(self, *shape: Size, dtype: DType | None = None) -> AnyValue:
        """Memory of this program, for each of its blocks of rows."""
        wide = dtype or self.sizes.wide
        return self.writer.emit(tile.Scratch, shape=(self.blocks, *shape), dtype=wide)

    def block(self) -> AnyValue:
        """Memory for one block of rows, and the columns that are near."""
        shape = (self.lines, self.near)
        return self.writer.emit(tile.Scratch, shape=shape, dtype=self.sizes.wide)

    def columns_of(self, block: AnyValue, row: AnyValue, at: AnyValue, lines: int) -> AnyValue:
        """The place of some rows and columns in such memory."""
        sizes = [self.writer.size(lines), self.writer.size(self.beside)]
        return self.writer.part(block, [row, at], sizes)

    def each_few(self, body: Callable[[AnyValue], None]) -> None:
        """Run `body` for a few rows of a block at a time, with the number of the first."""
        writer = self.writer

        def few(line: AnyValue) -> list[AnyValue]:
            body(line)
            return []

        writer.loop("few", (writer.size(0), writer.size(self.lines), self.few), few)

    def each_block(self, body: Callable[[AnyValue, AnyValue], None]) -> None:
        """Run `body` with the number of each block of rows, and with its first row."""
        writer = self.writer

        def block(row: AnyValue) -> list[AnyValue]:
            body(writer.divide(writer.subtract(row, self.top), self.lines), row)
            return []

        writer.loop("row", (self.top, self.bottom, self.lines), block)

    def packed_rows(self, view: AnyValue, width: Size) -> AnyValue:
        """The program's rows in memory of its own, block by block, in chunks."""
        writer, chunk = self.writer, self.sizes.chunk(width)
        room = self.scratch(ceil_div(writer.names.of(width), chunk), self.lines, chunk)
        zero, mine = writer.size(0), self.of_head(view, self.rows, width)

        def copy(block: AnyValue, row: AnyValue) -> None:
            def piece(at: AnyValue) -> list[AnyValue]:
                loaded = self.load(mine, [row, at], self.lines, chunk)
                target = self.part(room, [block, writer.divide(at, chunk)], self.lines, chunk)
                self.put(target, self.cast(loaded), [zero, zero])
                return []

            writer.loop("chunk", (zero, writer.size(width), chunk), piece)

        self.each_block(copy)
        return room

    def packed_numbers(self, view: AnyValue) -> AnyValue:
        """A number for each of the program's rows, in memory of its own."""
        room, mine = self.scratch(self.lines), self.of_head(view, self.rows)

        def copy(block: AnyValue, row: AnyValue) -> None:
            numbers = self.reshape(self.load(mine, [row], self.lines), 1, self.lines)
            self.put(room, numbers, [block, self.writer.size(0)])

        self.each_block(copy)
        return room

    def of_head(self, view: AnyValue, *sizes: Size) -> AnyValue:
        """What a view has of the program's own head."""
        return self.part(view, [self.sample, self.head], *sizes)

    def part(self, view: AnyValue, place: Sequence[AnyValue], *shape: Size) -> AnyValue:
        """The part of a view at a place along its first axes, that has these sizes."""
        writer = self.writer
        zeros = [writer.size(0)] * len(shape)
        return writer.part(view, [*place, *zeros], [writer.size(each) for each in shape])

    def load(self, view: AnyValue, offsets: Sequence[AnyValue], *shape: int) -> AnyValue:
        """A block of a view, with zeros outside."""
        padding = nothing(view.dtype)
        return self.writer.emit(tile.Load, view, offsets, shape=shape, padding=padding)

    def put(self, view: AnyValue, value: AnyValue, offsets: Sequence[AnyValue]) -> None:
        """Store a block."""
        self.writer.builders[-1].emit_all(tile.Store, view, value, list(offsets))

    def reshape(self, value: AnyValue, *shape: int) -> AnyValue:
        """A tile in another shape."""
        same = value.type.shape == shape
        return value if same else self.writer.emit(tile.Reshape, value, shape=shape)

    def cast(self, value: AnyValue, dtype: DType | None = None) -> AnyValue:
        """A tile in the dtype of sums, or another one."""
        dtype = dtype or self.sizes.wide
        return value if value.dtype is dtype else self.writer.emit(tile.Cast, value, dtype=dtype)

    def full(self, value: Any, *shape: int) -> AnyValue:
        """A tile of one number."""
        number = self.writer.emit(tile.Constant, Number(value, self.sizes.wide))
        return self.writer.emit(tile.Full, number, shape=shape)

    def binary(self, kind: tile.BinaryKind, left: AnyValue, right: AnyValue) -> AnyValue:
        """kind(left, right)"""
        return self.writer.emit(tile.Binary, left, right, kind=kind)

    def unary(self, kind: tile.UnaryKind, x: AnyValue) -> AnyValue:
        """kind(x)"""
        return self.writer.emit(tile.Unary, x, kind=kind)

    def spread(self, x: AnyValue, shape: tuple[int, ...], axis: int) -> AnyValue:
        """A tile of rank 1, along an axis of a larger one."""
        return self.writer.emit(tile.Broadcast, x, shape=shape, axes=(axis,))

    def equals(self, x: AnyValue, number: float) -> AnyValue:
        """Where x is a number."""
        wanted = self.full(number, *x.type.shape)
        return self.writer.emit(tile.Compare, x, wanted, kind=tile.CompareKind.EQUAL)

    def finite(self, x: AnyValue) -> AnyValue:
        """x with 0 for -inf: what can be taken from -inf"""
        return self.select(self.equals(x, -inf), self.full(0.0, *x.type.shape), x)

    def select(self, predicate: AnyValue, on_true: AnyValue, on_false: AnyValue) -> AnyValue:
        """on_true where the predicate holds"""
        return self.writer.emit(tile.Select, predicate, on_true, on_false)

    def inside(self, start: AnyValue) -> AnyValue:
        """Where a block of columns lies before their end."""
        emit, shape = self.writer.emit, (self.beside,)
        first = emit(tile.Full, start, shape=shape)
        places = self.binary(Kind.ADD, first, emit(tile.Iota, shape=shape, axis=0, dtype=i64))
        end = emit(tile.Full, self.writer.size(self.columns), shape=shape)
        found = emit(tile.Compare, places, end, kind=tile.CompareKind.LESS)
        return self.spread(found, (self.few, self.beside), 1)

    def product(
        self, rows: AnyValue, panel: AnyValue, chunks: AnyValue, chunk: int, start: AnyValue
    ) -> AnyValue:
        """start + rows · panel: of the one chunks of [lines, k], of the other of [k, columns]."""
        zero, (lines, beside) = self.writer.size(0), start.type.shape[-2:]

        def body(at: AnyValue, sums: AnyValue) -> list[AnyValue]:
            left = self.load(rows, [at, zero, zero], 1, lines, chunk)
            right = self.load(panel, [at, zero, zero], 1, chunk, beside)
            return [self.writer.emit(tile.Dot, left, right, sums)]

        (made,) = self.writer.loop("k", (zero, chunks, 1), body, [start])
        return made
