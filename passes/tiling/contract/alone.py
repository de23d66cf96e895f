"""Small products: one program packs what it needs into memory of its own, and multiplies it.

Comes in: two matrices whose product is small. Goes out: the kernel in which a program multiplies
some chunks of k, and its grid. Where there are more, programs make `parts`, which another kernel
adds; where there are not, but much is to be multiplied, each has some of the columns.
Never: memory that programs share.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from ....ir.attributes import Shape
from ....ir.dims import Size, ceil_div, maximum, minimum
from ....ir.values import AnyValue
from ..late import Begun, when_asked
from ..opening import Heading, Resize, open_grid
from ..schedule import Schedule
from ..writer import Writer
from .ending import Ending, Parts
from .matrix import Extent, Role
from .packing import Panels, pack_block
from .product import multiplied, panel


@dataclass(slots=True)
class Alone:
    """What one program does, which is at `batch` and has a run of k and one of columns: it packs
    the right operand, and of the left one a panel at a time, which stays nearest."""

    writer: Writer
    operands: tuple[Panels, Panels]
    sources: tuple[Sequence[AnyValue], Sequence[AnyValue]]
    rooms: tuple[AnyValue, AnyValue]
    batch: AnyValue
    runs: Mapping[Role, tuple[AnyValue, AnyValue]]

    def pack_right(self) -> None:
        """All panels of its columns of the right operand."""
        writer, (_, right) = self.writer, self.operands
        outer, inner = (role for role in right.matrix.order if role is not Role.BATCH)

        def rows(slow: AnyValue) -> None:
            def row(fast: AnyValue) -> None:
                at = {outer: slow, inner: fast}
                self._pack_block(1, at, self._panel(at[Role.FREE]))

            writer.loop(inner.value, self._bounds(right, inner), row)

        writer.loop(outer.value, self._bounds(right, outer), rows)

    def multiply(
        self, lead: list[AnyValue], finish: Callable[[AnyValue, list[AnyValue]], None]
    ) -> None:
        """All blocks of its columns of the product."""
        writer, (left, right), zero = self.writer, self.operands, self.writer.size(0)
        begin, end = self.runs[Role.CONTRACT]
        length = writer.subtract(end, begin)
        chunks = writer.divide(writer.add(length, left.chunk - 1), left.chunk)

        def rows(top: AnyValue) -> None:
            def pack(inner: AnyValue) -> None:
                self._pack_block(0, {Role.FREE: top, Role.CONTRACT: inner}, zero)

            def row(at: AnyValue) -> None:
                where = [self._panel(at)]
                beside = panel(writer, right, self.rooms[1], where, chunks)
                sums = multiplied(writer, self.operands, (lines, beside))
                finish(sums, [*lead, top, at])

            writer.loop("k", self._bounds(left, Role.CONTRACT), pack)
            lines = panel(writer, left, self.rooms[0], [zero], chunks)
            writer.loop("n", self._bounds(right, Role.FREE), row)

        writer.loop("m", self._bounds(left, Role.FREE), rows)

    def _bounds(self, panels: Panels, role: Role) -> tuple[AnyValue, AnyValue, int]:
        if panels.beside or role is Role.CONTRACT:
            return (*self.runs[role], panels.steps[role])
        size = panels.matrix.sizes[role]
        return self.writer.size(0), self.writer.size(size), panels.lines

    def _panel(self, column: AnyValue) -> AnyValue:
        """Which panel of the right operand begins with a column."""
        writer, (_, right) = self.writer, self.operands
        inside = writer.subtract(column, self.runs[Role.FREE][0])
        return writer.divide(inside, right.lines)

    def _pack_block(self, side: int, at: Mapping[Role, AnyValue], line: AnyValue) -> None:
        """Pack a chunk of an operand to a panel of its room."""
        writer, panels = self.writer, self.operands[side]
        inside = writer.subtract(at[Role.CONTRACT], self.runs[Role.CONTRACT][0])
        where = [line, writer.divide(inside, panels.chunk)]
        places = {**at, Role.BATCH: self.batch}
        pack_block(writer, panels, self.sources[side], places, self.rooms[side], where)


@dataclass(frozen=True, slots=True)
class Chunks:
    """How many chunks of panels the programs take that share a k, or those that have all of it; and
    how many panels of columns the latter."""

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

    def panels(self, batch: Size, rows: Size, columns: Size, whole: Size) -> Size:
        """All panels of columns, or fewer where chunks are many, along k and of all panels of rows,
        and the batch does not make enough programs: an even number, if not one, for of three the
        last one would keep one thread of two waiting."""
        columns = maximum(columns, 1)
        much = ceil_div(rows * columns * whole, self.schedule["much"])
        each = ceil_div(much, maximum(batch, 1))
        programs = maximum(minimum(2 * ceil_div(each, 2), 2 * each - 1), 1)
        return minimum(maximum(ceil_div(columns, programs), self.schedule["apart"]), columns)


@when_asked
def alone_func(
    heading: Heading,
    operands: tuple[Panels, Panels],
    extent: Extent,
    ending: Ending | Parts,
    chunks: Chunks,
) -> Begun:
    """The kernel, whose programs take so many chunks of panels, and make parts where there are
    more."""
    left, right = operands
    role = Role.CONTRACT if isinstance(ending, Parts) else Role.FREE

    def shared(local: Resize) -> tuple[Size, Size]:
        """The size that programs share, and how much of it one has."""
        columns, length = local(extent.n), local(extent.k)
        if role is Role.CONTRACT:
            return length, chunks.each(columns, length) * left.chunk
        rows, whole = left.counts(local)
        panels = chunks.panels(local(extent.batch), rows, right.counts(local)[0], whole)
        return columns, panels * right.lines

    def grid(local: Resize) -> Shape:
        return (local(extent.batch), ceil_div(*shared(local)))

    params = [*left.matrix.params, *right.matrix.params, *ending.params]
    writer = Writer(open_grid(heading, params, grid))
    columns, longest = shared(writer.names.of)[1], chunks.alone
    if role is Role.CONTRACT:
        columns = writer.names.of(extent.n)
        longest = chunks.most(columns)
    rooms = _rooms(operands, columns, longest)
    whole = {Role.FREE: extent.n, Role.CONTRACT: extent.k}
    step = shared(lambda size: size)[1]

    def write() -> None:
        _write_alone(writer, operands, whole, (role, step), ending, rooms)

    asked = [*whole.values(), step, *left.matrix.asked, *right.matrix.asked, *ending.asked]
    return writer.later(write, asked)


def _write_alone(
    writer: Writer,
    operands: tuple[Panels, Panels],
    whole: Mapping[Role, Size],
    shared: tuple[Role, Size],
    ending: Ending | Parts,
    shapes: tuple[Shape, Shape],
) -> None:
    """What a program does, whose panels need memory of these shapes: of the `whole` k and columns
    it has so much of what is `shared`."""
    left, right = operands
    behind, split = len(writer.views) - len(ending.params), len(left.matrix.params)
    sources = writer.views[:split], writer.views[split:behind]
    batch, part, step = writer.program(0), writer.program(1), writer.size(shared[1])
    runs = {role: (writer.size(0), writer.size(size)) for role, size in whole.items()}
    begin, (_, end) = writer.multiply(part, step), runs[shared[0]]
    runs[shared[0]] = begin, writer.least(writer.add(begin, step), end)
    rooms = writer.scratch(left.wide, *shapes[0]), writer.scratch(right.wide, *shapes[1])
    program = Alone(writer, operands, sources, rooms, batch, runs)
    lead = [part, batch] if shared[0] is Role.CONTRACT else [batch]
    program.pack_right()
    program.multiply(lead, partial(ending.store, writer, writer.views[behind:]))


def _rooms(operands: tuple[Panels, Panels], columns: Size, chunks: Size) -> tuple[Shape, Shape]:
    """The shapes of memory for one panel of the left operand, and for all of the right one."""
    left, right = operands
    return (1, chunks, *left.block), (ceil_div(columns, right.lines), chunks, *right.block)
