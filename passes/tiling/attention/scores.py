"""Blocks of scores: products of packed rows with a panel, scaled, and changed by the region.

Comes in: a program with its rows packed, the panels of the other side, the change. Goes out: a
`Scores`: the block at a row and a column.
Never: a number for what nobody may see; who sums the block knows which one is neutral.
"""

from dataclasses import dataclass

from ....ir.dims import Size
from ....ir.values import AnyValue
from .change import Changing, Spot
from .program import Program
from .reach import Bounds, Reach


@dataclass(slots=True)
class Side:
    """The rows of one operand, packed, and the panels of the other one; `width` is summed."""

    rows: AnyValue
    panels: AnyValue
    width: Size


@dataclass(slots=True)
class Scores:
    """`group` numbers the head of the panels, `head` that of the queries."""

    program: Program
    side: Side
    group: AnyValue
    head: AnyValue
    change: Changing
    scale: float
    reach: Reach

    def product(self, side: Side, block: AnyValue, at: AnyValue) -> AnyValue:
        """A block of rows times the panel that begins at a column."""
        program = self.program
        chunk, lines, beside = program.lengths.chunk(side.width), program.lines, program.beside
        chunks = program.divide(program.size(side.width + chunk - 1), chunk)
        zero = program.size(0)
        rows = program.part(
            side.rows, [block, zero, zero, zero], [chunks, program.size(lines), program.size(chunk)]
        )
        panel = program.part(
            side.panels,
            [self.group, program.divide(at, beside), zero, zero, zero],
            [chunks, program.size(chunk), program.size(beside)],
        )
        start = program.constant(0.0, 1, lines, beside)
        return program.reshape(program.product(rows, panel, chunks, chunk, start), lines, beside)

    def scaled(self, x: AnyValue) -> AnyValue:
        """x times the scale"""
        factor = self.program.constant(self.scale, *x.type.shape)
        return self.program.multiply(x, factor)

    def spot(self, row: AnyValue, at: AnyValue) -> Spot:
        """Where a few rows and the columns of a panel are among all scores."""
        program = self.program
        starts, sizes = (row, at), (program.few, program.beside)
        if self.reach.turned:
            starts, sizes = (at, row), (program.beside, program.few)
        return Spot((program.sample, self.head, *starts), (1, 1, *sizes))

    def put(self, target: AnyValue, side: Side, block: AnyValue, bounds: Bounds) -> None:
        """Put products of a block of rows with the panels of some columns into memory."""
        program, zero = self.program, self.program.size(0)
        first, begin, end = bounds

        def panel(at: AnyValue) -> None:
            place = program.columns_of(target, zero, program.subtract(at, first), program.lines)
            program.store(place, self.product(side, block, at), [zero, zero])

        program.loop("product", (begin, end, program.beside), panel)

    def changed(self, row: AnyValue, at: AnyValue, scaled: AnyValue) -> AnyValue:
        """The scores that the softmax is taken of."""
        (made,) = self.change.emit(self.program, self.spot(row, at), [scaled])
        return made
