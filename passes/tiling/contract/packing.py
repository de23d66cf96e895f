"""Panels: a matrix copied to the order in which products read it.

Comes in: a matrix in memory. Goes out: its panels. A panel is so many lines (rows of the left
operand, columns of the right one) of all the contracted axis, cut into chunks; in a chunk of the
left operand each line follows the other, in one of the right operand they lie beside each other.
What lies outside of the matrix is zero. With 2 lines a panel and chunks of 3, elements go to these
places in memory:

    left: lines down, k across      right: k down, lines across
     0  1  2 │  6  7  8              0  1 │ 12 13
     3  4  5 │  9 10 11              2  3 │ 14 15
    ─────────┼─────────              4  5 │ 16 17
    12 13 14 │ 18 19 20             ──────┼──────
    15 16 17 │ 21 22 23              6  7 │ 18 19
                                     8  9 │ 20 21
                                    10 11 │ 22 23

Never: a narrow float; panels are of the dtype in which is summed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ....ir.attributes import Shape
from ....ir.dims import Size, Symbol, ceil_div
from ....ir.dtypes import DType
from ....ir.values import AnyValue
from ...witness import witness
from ..kernel import Param
from ..late import Begun, when_asked
from ..opening import Heading, Resize, open_grid
from ..sizes import untold
from ..writer import Writer
from .computed import Computed
from .matrix import Matrix, Role


@dataclass(frozen=True, slots=True)
class Panels:
    """How a matrix is packed: `lines` a panel, chunks of `chunk`; `beside`: lines lie beside each
    other."""

    matrix: Matrix | Computed
    lines: int
    chunk: int
    wide: DType
    beside: bool

    @property
    def block(self) -> tuple[int, int]:
        """The shape of a chunk of a panel."""
        return (self.chunk, self.lines) if self.beside else (self.lines, self.chunk)

    @property
    def inner(self) -> tuple[Role, Role]:
        """What lies below each other in a chunk, and what beside each other."""
        return (Role.CONTRACT, Role.FREE) if self.beside else (Role.FREE, Role.CONTRACT)

    @property
    def steps(self) -> Mapping[Role, int]:
        """How far it is from one chunk to the next."""
        return {Role.BATCH: 1, Role.FREE: self.lines, Role.CONTRACT: self.chunk}

    def counts(self, local: Resize = lambda size: size) -> tuple[Size, Size]:
        """How many panels there are of a matrix, and chunks of a panel."""
        sizes = self.matrix.sizes
        return (
            ceil_div(local(sizes[Role.FREE]), self.lines),
            ceil_div(local(sizes[Role.CONTRACT]), self.chunk),
        )

    @property
    def shape(self) -> Shape:
        """The shape of all panels of all matrices."""
        return (self.matrix.sizes[Role.BATCH], *self.counts(), *self.block)

    @property
    def untold(self) -> list[Symbol]:
        """The symbols of sizes that no array tells which is read, as those of a part of it."""
        return untold(self.matrix.asked, [each.shape for each in self.matrix.params])


@when_asked
def packing_func(heading: Heading, panels: Panels) -> Begun:
    """The kernel that packs, and its grid: a program runs along the axis of neighbours."""
    matrix = panels.matrix
    fast, slow = matrix.fast, _slow(matrix)
    sizes, steps = matrix.sizes, panels.steps

    def grid(local: Resize) -> Shape:
        return (local(sizes[Role.BATCH]), ceil_div(local(sizes[slow]), steps[slow]))

    told = [Param(0, each.shape, each.dtype) for each in map(witness, panels.untold)]
    made = Param(0, panels.shape, panels.wide, "panels", written=True)
    writer = Writer(open_grid(heading, [*matrix.params, *told, made], grid))
    sources, target = writer.views[: len(matrix.params)], writer.views[-1]

    def write() -> None:
        batch, row = writer.program(0), writer.program(1)
        start = writer.multiply(row, steps[slow])

        def body(at: AnyValue) -> None:
            places = {Role.BATCH: batch, slow: start, fast: at}
            numbers = {slow: row, fast: writer.divide(at, steps[fast])}
            where = [batch, numbers[Role.FREE], numbers[Role.CONTRACT]]
            pack_block(writer, panels, sources, places, target, where)

        bounds = writer.size(0), writer.size(sizes[fast]), steps[fast]
        writer.loop(fast.value, bounds, body)

    return writer.later(write, matrix.asked)


def pack_block(
    writer: Writer,
    panels: Panels,
    sources: Sequence[AnyValue],
    places: Mapping[Role, AnyValue],
    target: AnyValue,
    where: list[AnyValue],
) -> None:
    """Copy one chunk of a panel, from `places` of the matrix to `where` among the panels: row by
    row, if neighbours stay neighbours; else some columns at a time, which are transposed."""
    counts = {**panels.steps, Role.FREE: _loaded(panels)}
    down, across = panels.inner
    zero, (height, width) = writer.size(0), panels.block
    room = writer.part(target, [*where, zero, zero], [writer.size(each) for each in panels.block])
    along, length, count = down, height, 1
    if panels.matrix.fast is not across:
        along, length, count = across, width, min(counts[across], counts[down])

    def copy(part: AnyValue) -> None:
        at = {**places, along: writer.add(places[along], part)}
        taken = {**counts, along: count}
        value = writer.cast(panels.matrix.load(writer, sources, at, taken), panels.wide)
        order = panels.matrix.order
        value = writer.permute(value, *[order.index(role) for role in (Role.BATCH, down, across)])
        place = [part, zero] if along is down else [zero, part]
        writer.store(room, writer.reshape(value, taken[down], taken[across]), place)

    writer.loop("part", (zero, writer.size(length), count), copy)


def _slow(matrix: Matrix | Computed) -> Role:
    """Of the two axes of a matrix the one along which rows lie."""
    return Role.FREE if matrix.fast is Role.CONTRACT else Role.CONTRACT


def _loaded(panels: Panels) -> int:
    """How many lines are loaded at once: where they are neighbours, a power of two, so that they
    fill vectors. What is too much is stored beyond the panel, which drops it."""
    if panels.matrix.fast is Role.CONTRACT:
        return panels.lines
    return 1 << (panels.lines - 1).bit_length()
