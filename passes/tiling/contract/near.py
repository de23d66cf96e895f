"""Products of some rows: a program packs the columns that it makes, a part of k at a time, right
before all rows are multiplied with it.

Comes in: the packed rows, the right matrix as it lies in memory. Goes out: the kernel, and its
grid.
Never: panels of the right operand in memory that programs share: to write them takes as long as a
sixth of the product of 128 rows, and what one thread has packed must go to the others.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from ....ir.attributes import Shape
from ....ir.values import AnyValue
from ..kernel import Param
from ..late import Begun, when_asked
from ..opening import Heading, Resize, open_grid
from ..writer import Writer
from .ending import Ending
from .matrix import Extent, Role
from .packing import Panels, pack_block
from .product import multiplied, panel


@when_asked
def near_func(
    heading: Heading, operands: tuple[Panels, Panels], extent: Extent, ending: Ending
) -> Begun:
    """The kernel in which a program makes a panel of columns, of all rows."""
    left, right = operands

    def grid(local: Resize) -> Shape:
        return (local(extent.batch), right.counts(local)[0])

    params = [Param(0, left.shape, left.wide, "left"), *right.matrix.params, *ending.params]
    writer = Writer(open_grid(heading, params, grid))
    behind = len(writer.views) - len(ending.params)
    lefts, *sources = writer.views[:behind]
    rows = left.counts(writer.names.of)[0]

    def write() -> None:
        kept = writer.scratch(right.wide, heading.schedule["part"], *right.block)
        sums = writer.scratch(left.wide, rows, left.lines, right.lines, name="sums")
        views = _Views(lefts, sources, kept, sums, writer.views[behind:])
        _Near(writer, operands, extent, views, ending).write()

    asked = [extent.m, extent.k, *right.matrix.asked, *ending.asked]
    return writer.later(write, asked)


@dataclass(frozen=True, slots=True)
class _Views:
    """Panels of the left operand, what the right one is read from, one part of a panel of it, the
    sums of all rows, and what the ending wants."""

    left: AnyValue
    sources: Sequence[AnyValue]
    kept: AnyValue
    sums: AnyValue
    others: Sequence[AnyValue]


class _Near:
    """What one program does."""

    def __init__(
        self,
        writer: Writer,
        operands: tuple[Panels, Panels],
        extent: Extent,
        views: _Views,
        ending: Ending,
    ) -> None:
        self.writer, self.operands, self.views, self.ending = writer, operands, views, ending
        left, right = operands
        self.batch, number = writer.program(0), writer.program(1)
        self.column = writer.multiply(number, right.lines)
        self.rows = writer.size(0), writer.size(extent.m), left.lines
        self.length = writer.size(extent.k)
        self.shape = (1, left.lines, right.lines)

    def write(self) -> None:
        """All of it: the sums of all rows grow with each part of k, and are handed over at last."""
        writer, (_, right) = self.writer, self.operands
        step = writer.schedule["part"] * right.chunk
        writer.loop("m", self.rows, self._clear)
        writer.loop("part", (writer.size(0), self.length, step), self._add_part)
        writer.loop("m", self.rows, self._finish)

    def _room(self, top: AnyValue) -> list[AnyValue]:
        zero = self.writer.size(0)
        return [self.writer.divide(top, self.operands[0].lines), zero, zero]

    def _clear(self, top: AnyValue) -> None:
        writer = self.writer
        nothing = writer.zeros(self.operands[0].wide, *self.shape)
        writer.store(self.views.sums, nothing, self._room(top))

    def _add_part(self, begin: AnyValue) -> None:
        writer, (left, right) = self.writer, self.operands
        step = writer.schedule["part"] * right.chunk
        end = writer.least(writer.add(begin, step), self.length)
        chunks = writer.divide(
            writer.add(writer.subtract(end, begin), right.chunk - 1), right.chunk
        )
        zero = writer.size(0)
        writer.loop("k", (begin, end, right.chunk), partial(self._pack, begin))
        sizes = [chunks, *[writer.size(each) for each in right.block]]
        beside = writer.part(self.views.kept, [zero] * 3, sizes)
        first = writer.divide(begin, left.chunk)

        def row(top: AnyValue) -> None:
            where = [self.batch, writer.divide(top, left.lines)]
            lines = panel(writer, left, self.views.left, where, chunks, first)
            before = writer.load(self.views.sums, self._room(top), *self.shape)
            sums = multiplied(writer, self.operands, (lines, beside), before)
            writer.store(self.views.sums, sums, self._room(top))

        writer.loop("m", self.rows, row)

    def _pack(self, begin: AnyValue, inner: AnyValue) -> None:
        writer, (_, right) = self.writer, self.operands
        places = {Role.BATCH: self.batch, Role.FREE: self.column, Role.CONTRACT: inner}
        where = [writer.divide(writer.subtract(inner, begin), right.chunk)]
        pack_block(writer, right, self.views.sources, places, self.views.kept, where)

    def _finish(self, top: AnyValue) -> None:
        writer = self.writer
        sums = writer.load(self.views.sums, self._room(top), *self.shape)
        self.ending.store(writer, self.views.others, sums, [self.batch, top, self.column])
