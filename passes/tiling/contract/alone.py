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


def alone_func(
    heading: Heading,
    operands: tuple[Panels, Panels],
    extent: Extent,
    ending: Ending | Parts,
    chunks: Callable[[Size, Size], Size],
) -> Made:
    """The kernel, whose programs take so many chunks of panels, as the number of columns and the
    size of k say, and make parts where there are more."""
    left, right = operands
    several = isinstance(ending, Parts)

    def grid(local: Resize) -> Shape:
        if not several:
            return (local(extent.batch),)
        length = local(extent.k)
        return (local(extent.batch), ceil_div(length, chunks(local(extent.n), length) * left.chunk))

    params = [*left.matrix.params, *right.matrix.params, *ending.params]
    writer = Writer(open_grid(heading, params, grid))
    rooms = _rooms(writer, operands, chunks(*map(writer.names.of, (extent.n, extent.k))))
    step = chunks(extent.n, extent.k) * left.chunk

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


def chunks_alone(schedule: Schedule) -> int:
    """How many chunks of panels a program takes at most that makes a product alone."""
    return -(-schedule["chunk"] // schedule["k"])


def chunks_of_parts(schedule: Schedule, columns: Size, length: Size) -> Size:
    """How many chunks of panels a program takes that makes a part of so long a k: as many as are
    `near` of the right operand, within limits; or fewer, so that all parts are about as long."""
    most = ceil_div(schedule["near"] // schedule["k"], maximum(columns, 1))
    most = minimum(maximum(most, chunks_alone(schedule) // 4), 2 * chunks_alone(schedule))
    whole = ceil_div(length, schedule["k"])
    return maximum(ceil_div(whole, maximum(ceil_div(whole, most), 1)), 1)


def _rooms(writer: Writer, operands: tuple[Panels, Panels], chunks: Size) -> tuple[Shape, Shape]:
    """The shapes of memory for one panel of the left operand, and for all of the right one."""
    left, right = operands
    panels: Size = ceil_div(writer.names.of(right.matrix.sizes[Role.FREE]), right.lines)
    return (1, chunks, *left.block), (panels, chunks, *right.block)
