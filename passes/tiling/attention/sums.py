"""Sums over columns: of each row of a program so many numbers, to which weighted rows are added.

Comes in: a program, the operand whose rows are added, in panels. Goes out: a `Sums`, in memory of
the program.
Never: a weight; those stand in a block that somebody else fills.
"""

from collections.abc import Callable

from ....ir import tile
from ....ir.dims import Size
from ....ir.values import AnyValue
from ..contract.packing import Panels
from .heads import padded
from .program import Kind, Program


class Sums:
    """`width` sums for each row; `view` has the panels."""

    def __init__(self, program: Program, panels: Panels, view: AnyValue, width: Size) -> None:
        self.program, self.panels, self.view, self.width = program, panels, view, width
        self.step, self.chunk = panels.lines, panels.chunk
        wide = padded(program.writer.names.of(width), self.step)
        self.total = program.scratch(program.lines, wide)

    def clear(self, block: AnyValue) -> None:
        """Begin with 0."""
        program, zero = self.program, self.program.writer.size(0)

        def clear(at: AnyValue) -> None:
            nothing_yet = program.full(0.0, 1, program.lines, self.step)
            program.put(self.total, nothing_yet, [block, zero, at])

        self.each_panel(clear)

    def add(
        self,
        block: AnyValue,
        weights: AnyValue,
        where: tuple[AnyValue, AnyValue, AnyValue, AnyValue],
        shrink: AnyValue | None = None,
    ) -> None:
        """Add the rows from `begin` to `end` of a head, weighted; `weights` begin at row `first`.

        What was there before is multiplied by `shrink`, a number for each row.
        """
        program, writer = self.program, self.program.writer
        head, first, begin, end = where
        chunk, zero = self.chunk, writer.size(0)
        above = writer.add(writer.subtract(end, begin), writer.size(chunk - 1))
        chunks, start = writer.divide(above, chunk), writer.divide(begin, chunk)
        wide = writer.multiply(chunks, chunk)
        from_here = writer.part(
            weights, [zero, writer.subtract(begin, first)], [writer.size(program.lines), wide]
        )

        def add(at: AnyValue) -> None:
            before = self.load(block, at)
            if shrink is not None:
                less = program.spread(shrink, before.type.shape, 1)
                before = program.binary(Kind.MULTIPLY, before, less)
            place = [head, writer.divide(at, self.step), start, zero, zero]
            sizes = [chunks, writer.size(chunk), writer.size(self.step)]
            panel = writer.part(self.view, place, sizes)
            made = self._weighted(from_here, panel, chunks, before)
            program.put(self.total, made, [block, zero, at])

        self.each_panel(add)

    def load(self, block: AnyValue, at: AnyValue) -> AnyValue:
        """Some sums of a block of rows: a tile of rank 3."""
        zero = self.program.writer.size(0)
        return self.program.load(self.total, [block, zero, at], 1, self.program.lines, self.step)

    def each_panel(self, body: Callable[[AnyValue], None]) -> None:
        """Run `body` with the place of each panel along the width."""
        writer = self.program.writer

        def panel(at: AnyValue) -> list[AnyValue]:
            body(at)
            return []

        writer.loop("width", (writer.size(0), writer.size(self.width), self.step), panel)

    def store(
        self,
        target: AnyValue,
        block: AnyValue,
        row: AnyValue,
        finish: Callable[[AnyValue], AnyValue] = lambda sums: sums,
    ) -> None:
        """Store the sums of a block where its rows are in a view of rank 4."""
        program = self.program
        mine = program.of_head(target, program.rows, self.width)

        def store(at: AnyValue) -> None:
            made = program.cast(finish(self.load(block, at)), target.dtype)
            program.put(mine, program.reshape(made, *made.type.shape[1:]), [row, at])

        self.each_panel(store)

    def _weighted(
        self, weights: AnyValue, panel: AnyValue, chunks: AnyValue, start: AnyValue
    ) -> AnyValue:
        """start + weights · panel"""
        program, writer = self.program, self.program.writer
        chunk, zero, lines = self.chunk, writer.size(0), program.lines

        def body(at: AnyValue, sums: AnyValue) -> list[AnyValue]:
            left = program.load(weights, [zero, writer.multiply(at, chunk)], lines, chunk)
            rows = program.load(panel, [at, zero, zero], 1, chunk, self.step)
            rows = program.reshape(rows, chunk, self.step)
            return [writer.emit(tile.Dot, left, rows, sums)]

        flat = program.reshape(start, lines, self.step)
        (made,) = writer.loop("k", (zero, chunks, 1), body, [flat])
        return program.reshape(made, *start.type.shape)
