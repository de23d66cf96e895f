"""Products of few rows: the right operand passes once, unpacked; the few rows wait in a panel.

Comes in: the packed rows, the right matrix as it lies in memory, in rows across k. Goes out: the
kernel, and its grid.
Never: a copy of the right operand; to pack it would cost more than the product does.
"""

from collections.abc import Callable
from functools import partial

from ....ir import tile
from ....ir.attributes import Shape
from ....ir.dims import ceil_div
from ....ir.values import AnyValue
from ..kernel import Param
from ..late import Begun, when_asked
from ..opening import Heading, Resize, open_grid
from ..writer import Writer
from .ending import Ending
from .matrix import Extent, Role
from .packing import Panels
from .product import chunk, panel


@when_asked
def few_func(
    heading: Heading, operands: tuple[Panels, Panels], extent: Extent, ending: Ending
) -> Begun:
    """The kernel in which a program makes a block of columns of all rows."""
    left, right = operands
    columns = heading.schedule["n"] * heading.schedule["beside"]
    width = right.lines * max(columns // right.lines, 1)  # as much where blocks are wider

    def grid(local: Resize) -> Shape:
        rows = ceil_div(local(extent.m), left.lines)
        return (local(extent.batch), ceil_div(local(extent.n), width), rows)

    params = [
        Param(0, left.shape, left.wide, "left"),
        Param(1, right.matrix.shape, right.matrix.dtype, "right"),
        *ending.params,
    ]
    writer = Writer(open_grid(heading, params, grid))
    lefts, source, *others = writer.views

    def write() -> None:
        batch, column, row = (writer.program(axis) for axis in range(3))
        start = writer.multiply(column, width)
        top = writer.multiply(row, left.lines)

        def finish(sums: AnyValue, line: AnyValue, at: AnyValue) -> None:
            ending.store(writer, others, sums, [batch, writer.add(top, line), at])

        program = _Few(writer, operands, (lefts, source), [batch, row], finish)
        rows = writer.subtract(writer.size(extent.m), top)
        program.stream(start, width, writer.size(extent.n), rows)

    return writer.later(write, [extent.m, extent.n, *right.matrix.asked, *ending.asked])


class _Few:
    """What one program does."""

    def __init__(
        self,
        writer: Writer,
        operands: tuple[Panels, Panels],
        views: tuple[AnyValue, AnyValue],
        place: list[AnyValue],
        finish: Callable[[AnyValue, AnyValue, AnyValue], None],
    ) -> None:
        self.writer, (self.left, self.right) = writer, operands
        self.rows, self.source = views
        self.batch, self.row = place
        self.finish = finish
        self.shape = (1, self.left.lines, self.right.lines)

    def stream(self, start: AnyValue, width: int, size: AnyValue, rows: AnyValue) -> None:
        """Long rows pass chunk by chunk of k; the sums are kept in memory of the program, and are
        near enough. To run along k for a few columns at a time would touch a page for each row.
        What becomes of sums is written once, for a row of those that there are."""
        writer, zero = self.writer, self.writer.size(0)
        end = writer.least(writer.add(start, writer.size(width)), size)
        bounds = start, end, self.right.lines
        sums = writer.scratch(self.left.wide, *self.shape[:2], width)
        nothing_yet = writer.zeros(self.left.wide, *self.shape)

        def kept(at: AnyValue) -> AnyValue:
            sizes = [writer.size(each) for each in self.shape]
            return writer.part(sums, [zero, zero, writer.subtract(at, start)], sizes)

        def clear(at: AnyValue) -> None:
            writer.store(kept(at), nothing_yet, [zero] * 3)

        def add(inner: AnyValue, at: AnyValue) -> None:
            room = kept(at)
            before = writer.load(room, [zero] * 3, *self.shape)
            writer.store(room, self._dot(inner, at, before), [zero] * 3)

        def hand_over(line: AnyValue) -> None:
            def block(at: AnyValue) -> None:
                place = [zero, line, writer.subtract(at, start)]
                self.finish(writer.load(sums, place, 1, 1, self.shape[-1]), line, at)

            writer.loop("n", bounds, block)

        def pass_by(inner: AnyValue) -> None:
            writer.loop("n", bounds, partial(add, inner))

        writer.loop("n", bounds, clear)
        writer.loop("k", self._along_k(), pass_by)
        lines = writer.least(writer.size(self.shape[1]), rows)
        writer.loop("row", (zero, lines, 1), hand_over)

    def _along_k(self) -> tuple[AnyValue, AnyValue, int]:
        size = self.right.matrix.sizes[Role.CONTRACT]
        return self.writer.size(0), self.writer.size(size), self.right.chunk

    def _dot(self, inner: AnyValue, column: AnyValue, sums: AnyValue) -> AnyValue:
        """Add the product of one chunk of k."""
        writer, right, order = self.writer, self.right, self.right.matrix.order
        places = {Role.BATCH: self.batch, Role.FREE: column, Role.CONTRACT: inner}
        steps = right.steps
        offsets = [places[role] for role in order]
        part = writer.load(self.source, offsets, *[steps[role] for role in order])
        part = writer.cast(part, right.wide)
        wanted = (Role.BATCH, Role.CONTRACT, Role.FREE)
        part = writer.permute(part, *[order.index(role) for role in wanted])
        first = writer.divide(inner, right.chunk)
        where = [self.batch, self.row]
        rows = panel(writer, self.left, self.rows, where, writer.size(1), first)
        return writer.emit(tile.Dot, chunk(writer, self.left, rows, writer.size(0)), part, sums)
