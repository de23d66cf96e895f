"""Small products: one program packs what it needs into memory of its own, and multiplies it.

Comes in: two matrices whose product is small. Goes out: the kernel in which a program multiplies
one chunk of k, and its grid. Where there are several chunks their products are `parts`, which
another kernel adds.
Never: memory that programs share.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from ....ir import tile
from ....ir.attributes import Shape
from ....ir.dims import Size, ceil_div
from ....ir.func import Func
from ....ir.locations import Location
from ....ir.values import AnyValue
from ..schedule import Schedule
from .ending import Ending, Parts
from .matrix import Extent, Role
from .packing import Panels, pack_block
from .product import multiplied, panel
from .writer import Resize, Writer


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

        def rows(slow: AnyValue) -> list[AnyValue]:
            def row(fast: AnyValue) -> list[AnyValue]:
                self._pack_block(panels, sources, {outer: slow, inner: fast}, room)
                return []

            writer.loop(inner.value, self._bounds(panels, inner), row)
            return []

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
        chunks = writer.divide(writer.add(length, writer.size(left.chunk - 1)), left.chunk)

        def rows(top: AnyValue) -> list[AnyValue]:
            lines = panel(writer, left, rooms[0], [writer.divide(top, left.lines)], chunks)

            def row(at: AnyValue) -> list[AnyValue]:
                where = [writer.divide(at, right.lines)]
                beside = panel(writer, right, rooms[1], where, chunks)
                sums = multiplied(writer, operands, (lines, beside))
                finish(sums, [*lead, top, at])
                return []

            writer.loop("n", self._bounds(right, Role.FREE), row)
            return []

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
    name: str,
    location: Location,
    operands: tuple[Panels, Panels],
    extent: Extent,
    ending: Ending | Parts,
    schedule: Schedule,
) -> tuple[Func, Shape]:
    """The kernel, whose programs make parts where there are several chunks."""
    left, right = operands
    several = isinstance(ending, Parts)
    step = chunk_of(schedule)

    def grid(local: Resize) -> Shape:
        chunks = (ceil_div(local(extent.k), step),) if several else ()
        return (local(extent.batch), *chunks)

    params = [*left.matrix.params, *right.matrix.params, *ending.params]
    writer = Writer(name, location, params, grid, schedule)
    behind = len(params) - len(ending.params)
    sources, others = writer.views[:behind], writer.views[behind:]
    split = len(left.matrix.params)
    batch = writer.program(0)
    begin, end = writer.size(0), writer.size(extent.k)
    lead = [batch]
    if several:
        part = writer.program(1)
        begin = writer.multiply(part, step)
        end = writer.least(writer.add(begin, writer.size(step)), end)
        lead = [part, batch]
    program = Alone(writer, batch, begin, end)
    rooms = tuple(_room(writer, each, step) for each in operands)
    program.pack(left, sources[:split], rooms[0])
    program.pack(right, sources[split:], rooms[1])
    finish = partial(ending.store, writer, others)
    program.multiply(operands, (rooms[0], rooms[1]), lead, finish)
    return writer.done(), writer.grid


def chunk_of(schedule: Schedule) -> int:
    """How much of k one program takes: whole chunks of panels."""
    return -(-schedule["chunk"] // schedule["k"]) * schedule["k"]


def _room(writer: Writer, panels: Panels, step: int) -> AnyValue:
    """Memory for the panels of one program."""
    lines: Size = ceil_div(writer.names.of(panels.matrix.sizes[Role.FREE]), panels.lines)
    shape = (lines, step // panels.chunk, *panels.block)
    return writer.emit(tile.Scratch, shape=shape, dtype=panels.wide)
