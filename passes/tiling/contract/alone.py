"""Small products: one program packs what it needs into memory of its own, and multiplies it.

Comes in: two matrices whose product is small. Goes out: the kernel in which a program multiplies
one chunk of k, and its grid. Where there are several chunks their products are `parts`, which
another kernel adds.
Never: memory that programs share.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from ....ir.attributes import Shape
from ....ir.dims import Size, ceil_div
from ....ir.values import AnyValue
from ..opening import Heading, Resize, open_grid
from ..schedule import Schedule
from ..writer import Made, Writer
from .ending import Ending, Parts
from .matrix import Extent, Role
from .packing import Panels, pack_block
from .product import multiplied, panel


@dataclass(slots=True)
class Alone:
    """The parts of one program, which is at `batch` and runs along k from `begin` to `end`."""

    writer: Writer
    batch: AnyValue
    begin: AnyValue
    end: AnyValue

    def pack(self, panels: Panels, sources: Sequence[AnyValue], room: AnyValue) -> None:
        """All panels of an operand."""
        writer, matrix = self.writer, panels.matrix
        outer, inner = (role for role in matrix.order if role is not Role.BATCH)

        def rows(slow: AnyValue) -> None:
            def row(fast: AnyValue) -> None:
                self._pack_block(panels, sources, {outer: slow, inner: fast}, room)

            writer.loop(inner.value, self._bounds(panels, inner), row)

        writer.loop(outer.value, self._bounds(panels, outer), rows)

    def multiply(
        self,
        operands: tuple[Panels, Panels],
        rooms: tuple[AnyValue, AnyValue],
        lead: list[AnyValue],
        finish: Callable[[AnyValue, list[AnyValue]], None],
    ) -> None:
        """All blocks of the product."""
        writer, (left, right) = self.writer, operands
        length = writer.subtract(self.end, self.begin)
        chunks = writer.divide(writer.add(length, left.chunk - 1), left.chunk)

        def rows(top: AnyValue) -> None:
            lines = panel(writer, left, rooms[0], [writer.divide(top, left.lines)], chunks)

            def row(at: AnyValue) -> None:
                where = [writer.divide(at, right.lines)]
                beside = panel(writer, right, rooms[1], where, chunks)
                sums = multiplied(writer, operands, (lines, beside))
                finish(sums, [*lead, top, at])

            writer.loop("n", self._bounds(right, Role.FREE), row)

        writer.loop("m", self._bounds(left, Role.FREE), rows)

    def _bounds(self, panels: Panels, role: Role) -> tuple[AnyValue, AnyValue, int]:
        if role is Role.CONTRACT:
            return self.begin, self.end, panels.chunk
        size = panels.matrix.sizes[role]
        return self.writer.size(0), self.writer.size(size), panels.lines

    def _pack_block(
        self,
        panels: Panels,
        sources: Sequence[AnyValue],
        at: Mapping[Role, AnyValue],
        room: AnyValue,
    ) -> None:
        writer = self.writer
        line = writer.divide(at[Role.FREE], panels.lines)
        inside = writer.subtract(at[Role.CONTRACT], self.begin)
        where = [line, writer.divide(inside, panels.chunk)]
        pack_block(writer, panels, sources, {**at, Role.BATCH: self.batch}, room, where)


def alone_func(
    heading: Heading, operands: tuple[Panels, Panels], extent: Extent, ending: Ending | Parts
) -> Made:
    """The kernel, whose programs make parts where there are several chunks."""
    left, right = operands
    several = isinstance(ending, Parts)
    step = chunk_of(heading.schedule)

    def grid(local: Resize) -> Shape:
        chunks = (ceil_div(local(extent.k), step),) if several else ()
        return (local(extent.batch), *chunks)

    params = [*left.matrix.params, *right.matrix.params, *ending.params]
    writer = Writer(open_grid(heading, params, grid))
    shapes = [_room(writer, each, step) for each in operands]

    def write() -> None:
        _write_alone(writer, operands, extent, ending, shapes)

    asked = [extent.k, *left.matrix.asked, *right.matrix.asked, *ending.asked]
    return writer.later(write, asked)


def _write_alone(
    writer: Writer,
    operands: tuple[Panels, Panels],
    extent: Extent,
    ending: Ending | Parts,
    shapes: Sequence[Shape],
) -> None:
    """What a program does, whose panels need memory of these shapes."""
    left, right = operands
    behind = len(writer.views) - len(ending.params)
    sources, others = writer.views[:behind], writer.views[behind:]
    split = len(left.matrix.params)
    batch = writer.program(0)
    begin, end = writer.size(0), writer.size(extent.k)
    lead = [batch]
    if isinstance(ending, Parts):
        step, part = chunk_of(writer.schedule), writer.program(1)
        begin = writer.multiply(part, step)
        end = writer.least(writer.add(begin, step), end)
        lead = [part, batch]
    program = Alone(writer, batch, begin, end)
    pairs = zip(operands, shapes, strict=True)
    rooms = [writer.scratch(panels.wide, *shape) for panels, shape in pairs]
    program.pack(left, sources[:split], rooms[0])
    program.pack(right, sources[split:], rooms[1])
    finish = partial(ending.store, writer, others)
    program.multiply(operands, (rooms[0], rooms[1]), lead, finish)


def chunk_of(schedule: Schedule) -> int:
    """How much of k one program takes: whole chunks of panels."""
    return -(-schedule["chunk"] // schedule["k"]) * schedule["k"]


def _room(writer: Writer, panels: Panels, step: int) -> Shape:
    """The shape of memory for the panels of one program."""
    lines: Size = ceil_div(writer.names.of(panels.matrix.sizes[Role.FREE]), panels.lines)
    return (lines, step // panels.chunk, *panels.block)
