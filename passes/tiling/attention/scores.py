"""Blocks of scores: products of packed rows with a panel, scaled, and changed by the region.

Comes in: a program with its rows packed, the panels of the other side, the change. Goes out: a
`Scores`: the block at a row and a column, and how far the columns reach that a row may see.
Never: a mask for what lies beyond the end; who sums the block knows which number is neutral.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ....ir import tile
from ....ir.dims import Size
from ....ir.dtypes import i32
from ....ir.values import AnyValue
from .change import Change, Spot
from .program import Kind, Program

FAR = 1 << 20
"""Further than any two places of one block are from each other."""

Bounds = tuple[AnyValue, AnyValue, AnyValue]
"""The first of the columns that are near, and of these the begin and the end of what is seen."""


@dataclass(slots=True)
class Side:
    """The rows of one operand, packed, and the panels of the other one; `width` is summed."""

    rows: AnyValue
    panels: AnyValue
    width: Size


@dataclass(slots=True)
class Scores:
    """`group` numbers the head of the panels, `head` that of the queries. `turned`: the rows are
    keys, and the columns queries. A key may come `offset` after its query; None: anywhere."""

    program: Program
    side: Side
    group: AnyValue
    head: AnyValue
    change: Change
    views: Sequence[AnyValue]
    scale: float
    offset: AnyValue | None = None
    turned: bool = False

    def product(self, side: Side, block: AnyValue, at: AnyValue) -> AnyValue:
        """A block of rows times the panel that begins at a column."""
        program, writer = self.program, self.program.writer
        chunk, lines, beside = program.sizes.chunk(side.width), program.lines, program.beside
        chunks = writer.divide(writer.size(side.width + chunk - 1), chunk)
        zero = writer.size(0)
        rows = writer.part(
            side.rows, [block, zero, zero, zero], [chunks, writer.size(lines), writer.size(chunk)]
        )
        panel = writer.part(
            side.panels,
            [self.group, writer.divide(at, beside), zero, zero, zero],
            [chunks, writer.size(chunk), writer.size(beside)],
        )
        start = program.full(0.0, 1, lines, beside)
        return program.reshape(program.product(rows, panel, chunks, chunk, start), lines, beside)

    def scaled(self, x: AnyValue) -> AnyValue:
        """x times the scale"""
        factor = self.program.full(self.scale, *x.type.shape)
        return self.program.binary(Kind.MULTIPLY, x, factor)

    def spot(self, row: AnyValue, at: AnyValue) -> Spot:
        """Where a few rows and the columns of a panel are among all scores."""
        program = self.program
        starts, sizes = (row, at), (program.few, program.beside)
        if self.turned:
            starts, sizes = (at, row), (program.beside, program.few)
        return Spot((program.sample, self.head, *starts), (1, 1, *sizes))

    def put(self, target: AnyValue, side: Side, block: AnyValue, bounds: Bounds) -> None:
        """Put products of a block of rows with the panels of some columns into memory."""
        program, writer, zero = self.program, self.program.writer, self.program.writer.size(0)
        first, begin, end = bounds

        def panel(at: AnyValue) -> list[AnyValue]:
            place = program.columns_of(target, zero, writer.subtract(at, first), program.lines)
            program.put(place, self.product(side, block, at), [zero, zero])
            return []

        writer.loop("product", (begin, end, program.beside), panel)

    def changed(self, row: AnyValue, at: AnyValue, scaled: AnyValue) -> AnyValue:
        """The scores that the softmax is taken of."""
        writer, spot = self.program.writer, self.spot(row, at)
        (made,) = self.change.emit(writer, self.views, spot, [scaled])
        return made

    def seen(self, row: AnyValue, at: AnyValue) -> AnyValue:
        """Where a panel has columns that a few rows may see."""
        program, inside = self.program, self.program.inside(at)
        if self.offset is None:
            return inside
        emit, shape = program.writer.emit, (program.few, program.beside)
        rows, columns = (emit(tile.Iota, shape=shape, axis=axis, dtype=i32) for axis in (0, 1))
        ours, theirs = (rows, columns) if self.turned else (columns, rows)
        key, query = (row, at) if self.turned else (at, row)
        reach = program.writer.subtract(program.writer.add(query, self.offset), key)
        reach = program.binary(Kind.MAXIMUM, reach, program.writer.size(-FAR))
        reach = emit(tile.Cast, program.writer.least(reach, program.writer.size(FAR)), dtype=i32)
        after = program.binary(Kind.SUBTRACT, ours, theirs)
        limit = emit(tile.Full, reach, shape=shape)
        allowed = emit(tile.Compare, after, limit, kind=tile.CompareKind.LESS_EQUAL)
        return program.binary(Kind.BIT_AND, inside, allowed)

    def begin(self, row: AnyValue) -> AnyValue:
        """The first block of near columns that rows from `row` on may see."""
        return self._whole(self._least(row), self.program.near)

    def begin_of_block(self, row: AnyValue, first: AnyValue) -> AnyValue:
        """The first column that a block of rows sees of the near ones, which begin at `first`."""
        begin = self._whole(self._least(row), self.program.beside)
        return self.program.binary(Kind.MAXIMUM, begin, first)

    def end_of_block(self, row: AnyValue, first: AnyValue) -> AnyValue:
        """The end of the columns that a block of rows sees of the near ones."""
        program, writer = self.program, self.program.writer
        end = self.end(writer.add(row, writer.size(program.lines)))
        end = writer.least(writer.add(first, writer.size(program.near)), end)
        return program.binary(Kind.MAXIMUM, end, first)

    def end(self, below: AnyValue) -> AnyValue:
        """The end of the columns that rows before `below` may see."""
        writer = self.program.writer
        end = writer.size(self.program.columns)
        if self.offset is None or self.turned:
            return end
        reach = writer.add(below, self.offset)
        return writer.least(end, self.program.binary(Kind.MAXIMUM, reach, writer.size(0)))

    def _least(self, row: AnyValue) -> AnyValue:
        """The first column that rows from `row` on may see."""
        writer = self.program.writer
        if self.offset is None or not self.turned:
            return writer.size(0)
        return self.program.binary(Kind.MAXIMUM, writer.subtract(row, self.offset), writer.size(0))

    def _whole(self, column: AnyValue, step: int) -> AnyValue:
        """A column, rounded down to whole steps."""
        return self.program.writer.multiply(self.program.writer.divide(column, step), step)
