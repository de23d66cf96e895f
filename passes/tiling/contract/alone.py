"""Small products: one program packs what it needs into memory of its own, and multiplies it.

Comes in: two matrices whose product is small. Goes out: the kernel in which a program multiplies
some chunks of k, and its grid. Where there are more, programs make `parts`, which another kernel
adds.
Never: memory that programs share.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from ....ir.attributes import Shape
from ....ir.dims import Size, ceil_div, maximum, minimum
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
    """What one program does, which is at `batch` and runs along k from `begin` to `end`: it packs
    the right operand, and of the left one a panel at a time, which stays nearest."""

    writer: Writer
    operands: tuple[Panels, Panels]
    sources: tuple[Sequence[AnyValue], Sequence[AnyValue]]
    rooms: tuple[AnyValue, AnyValue]
    batch: AnyValue
    begin: AnyValue
    end: AnyValue

    def pack_right(self) -> None:
        """All panels of the right operand."""
        writer, (_, right) = self.writer, self.operands
        outer, inner = (role for role in right.matrix.order if role is not Role.BATCH)

        def rows(slow: AnyValue) -> None:
            def row(fast: AnyValue) -> None:
                at = {outer: slow, inner: fast}
                self._pack_block(1, at, writer.divide(at[Role.FREE], right.lines))

            writer.loop(inner.value, self._bounds(right, inner), row)

        writer.loop(outer.value, self._bounds(right, outer), rows)

    def multiply(
        self, lead: list[AnyValue], finish: Callable[[AnyValue, list[AnyValue]], None]
    ) -> None:
        """All blocks of the product."""
        writer, (left, right), zero = self.writer, self.operands, self.writer.size(0)
        length = writer.subtract(self.end, self.begin)
        chunks = writer.divide(writer.add(length, left.chunk - 1), left.chunk)

        def rows(top: AnyValue) -> None:
            def pack(inner: AnyValue) -> None:
                self._pack_block(0, {Role.FREE: top, Role.CONTRACT: inner}, zero)

            def row(at: AnyValue) -> None:
                where = [writer.divide(at, right.lines)]
                beside = panel(writer, right, self.rooms[1], where, chunks)
                sums = multiplied(writer, self.operands, (lines, beside))
                finish(sums, [*lead, top, at])

            writer.loop("k", self._bounds(left, Role.CONTRACT), pack)
            lines = panel(writer, left, self.rooms[0], [zero], chunks)
            writer.loop("n", self._bounds(right, Role.FREE), row)

        writer.loop("m", self._bounds(left, Role.FREE), rows)

    def _bounds(self, panels: Panels, role: Role) -> tuple[AnyValue, AnyValue, int]:
        if role is Role.CONTRACT:
            return self.begin, self.end, panels.chunk
        size = panels.matrix.sizes[role]
        return self.writer.size(0), self.writer.size(size), panels.lines

    def _pack_block(self, side: int, at: Mapping[Role, AnyValue], line: AnyValue) -> None:
        """Pack a chunk of an operand to a panel of its room."""
        writer, panels = self.writer, self.operands[side]
        inside = writer.subtract(at[Role.CONTRACT], self.begin)
        where = [line, writer.divide(inside, panels.chunk)]
        places = {**at, Role.BATCH: self.batch}
        pack_block(writer, panels, self.sources[side], places, self.rooms[side], where)


@dataclass(frozen=True, slots=True)
class Chunks:
    """How many chunks of panels the programs take that share a k, or the one that has all of it."""

    schedule: Schedule

    @property
    def alone(self) -> int:
        """So many at most has a program that makes a product alone."""
        return -(-self.schedule["chunk"] // self.schedule["k"])

    def most(self, columns: Size) -> Size:
        """As many as are `near` of a right operand of so many columns, within limits."""
        near = ceil_div(self.schedule["near"] // self.schedule["k"], maximum(columns, 1))
        return minimum(maximum(near, self.alone // 4, 1), 2 * self.alone)

    def each(self, columns: Size, length: Size) -> Size:
        """Or fewer, so that all parts of so long a k are about as long."""
        whole = ceil_div(length, self.schedule["k"])
        return maximum(ceil_div(whole, maximum(ceil_div(whole, self.most(columns)), 1)), 1)


def alone_func(
    heading: Heading,
    operands: tuple[Panels, Panels],
    extent: Extent,
    ending: Ending | Parts,
    chunks: Chunks,
) -> Made:
    """The kernel, whose programs take so many chunks of panels, and make parts where there are
    more."""
    left, right = operands
    columns = right.matrix.sizes[Role.FREE]
    several = isinstance(ending, Parts)

    def grid(local: Resize) -> Shape:
        if not several:
            return (local(extent.batch),)
        length = local(extent.k)
        step = chunks.each(local(columns), length) * left.chunk
        return (local(extent.batch), ceil_div(length, step))

    params = [*left.matrix.params, *right.matrix.params, *ending.params]
    writer = Writer(open_grid(heading, params, grid))
    named = writer.names.of(columns)
    rooms = _rooms(operands, named, chunks.most(named) if several else chunks.alone)
    step = chunks.each(columns, extent.k) * left.chunk

    def write() -> None:
        _write_alone(writer, operands, (extent.k, step), ending, rooms)

    asked = [extent.k, step, *left.matrix.asked, *right.matrix.asked, *ending.asked]
    return writer.later(write, asked)


def _write_alone(
    writer: Writer,
    operands: tuple[Panels, Panels],
    sizes: tuple[Size, Size],
    ending: Ending | Parts,
    shapes: tuple[Shape, Shape],
) -> None:
    """What a program does, whose panels need memory of these shapes; the sizes are that of k and of
    a part of it."""
    left, right = operands
    behind, split = len(writer.views) - len(ending.params), len(left.matrix.params)
    sources = writer.views[:split], writer.views[split:behind]
    batch = writer.program(0)
    begin, end = writer.size(0), writer.size(sizes[0])
    lead = [batch]
    if isinstance(ending, Parts):
        step, part = writer.size(sizes[1]), writer.program(1)
        begin = writer.multiply(part, step)
        end = writer.least(writer.add(begin, step), end)
        lead = [part, batch]
    rooms = writer.scratch(left.wide, *shapes[0]), writer.scratch(right.wide, *shapes[1])
    program = Alone(writer, operands, sources, rooms, batch, begin, end)
    program.pack_right()
    program.multiply(lead, partial(ending.store, writer, writer.views[behind:]))


def _rooms(operands: tuple[Panels, Panels], columns: Size, chunks: Size) -> tuple[Shape, Shape]:
    """The shapes of memory for one panel of the left operand, and for all of the right one."""
    left, right = operands
    return (1, chunks, *left.block), (ceil_div(columns, right.lines), chunks, *right.block)
