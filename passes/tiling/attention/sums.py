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
from .program import Program
from .reach import Bounds


class Sums:
    """`width` sums for each row; `view` has the panels."""

    def __init__(self, program: Program, panels: Panels, view: AnyValue, width: Size) -> None:
        self.program, self.panels, self.view, self.width = program, panels, view, width
        self.step, self.chunk = panels.lines, panels.chunk
        wide = padded(program.names.of(width), self.step)
        self.total = program.kept(program.lines, wide)

    def clear(self, block: AnyValue) -> None:
        """Begin with 0."""
        program, zero = self.program, self.program.size(0)

        def clear(at: AnyValue) -> None:
            nothing_yet = program.constant(0.0, 1, program.lines, self.step)
            program.store(self.total, nothing_yet, [block, zero, at])

        self.each_panel(clear)

    def add(
        self,
        block: AnyValue,
        weights: AnyValue,
        head: AnyValue,
        bounds: Bounds,
        shrink: AnyValue | None = None,
    ) -> None:
        """Add the rows of a head that are seen, weighted; `weights` are for all that are near.

        What was there before is multiplied by `shrink`, a number for each row.
        """
        program = self.program
        first, begin, end = bounds
        chunk, zero = self.chunk, program.size(0)
        above = program.add(program.subtract(end, begin), chunk - 1)
        chunks, start = program.divide(above, chunk), program.divide(begin, chunk)
        wide = program.multiply(chunks, chunk)
        from_here = program.part(
            weights, [zero, program.subtract(begin, first)], [program.size(program.lines), wide]
        )

        def add(at: AnyValue) -> None:
            before = self.load(block, at)
            if shrink is not None:
                less = program.spread(shrink, 1, *before.type.shape)
                before = program.multiply(before, less)
            place = [head, program.divide(at, self.step), start, zero, zero]
            sizes = [chunks, program.size(chunk), program.size(self.step)]
            panel = program.part(self.view, place, sizes)
            made = self._weighted(from_here, panel, chunks, before)
            program.store(self.total, made, [block, zero, at])

        self.each_panel(add)

    def load(self, block: AnyValue, at: AnyValue) -> AnyValue:
        """Some sums of a block of rows: a tile of rank 3."""
        zero = self.program.size(0)
        return self.program.load(self.total, [block, zero, at], 1, self.program.lines, self.step)

    def each_panel(self, body: Callable[[AnyValue], None]) -> None:
        """Run `body` with the place of each panel along the width."""
        program = self.program
        program.loop("width", (program.size(0), program.size(self.width), self.step), body)

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
            program.store(mine, program.reshape(made, *made.type.shape[1:]), [row, at])

        self.each_panel(store)

    def _weighted(
        self, weights: AnyValue, panel: AnyValue, chunks: AnyValue, start: AnyValue
    ) -> AnyValue:
        """start + weights · panel"""
        program = self.program
        chunk, zero, lines = self.chunk, program.size(0), program.lines

        def body(at: AnyValue, sums: AnyValue) -> list[AnyValue]:
            left = program.load(weights, [zero, program.multiply(at, chunk)], lines, chunk)
            piece = program.inner(panel, [at], chunk, self.step)
            rows = program.load(piece, [zero, zero], chunk, self.step)
            return [program.emit(tile.Dot, left, rows, sums)]

        flat = program.reshape(start, lines, self.step)
        (made,) = program.loop("k", (zero, chunks, 1), body, [flat])
        return program.reshape(made, *start.type.shape)
