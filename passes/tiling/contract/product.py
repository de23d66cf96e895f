"""Blocks of a product, from panels: a program's accumulator stays in registers over all of k.

Comes in: the panels of both operands, the size of the product. Goes out: the kernel that multiplies
panels which all programs share, and its grid.
Never: a matrix that is not packed.
"""

from collections.abc import Sequence

from ....ir import tile
from ....ir.attributes import Shape
from ....ir.dims import Size, ceil_div, maximum
from ....ir.values import AnyValue
from ..kernel import Param
from ..late import Begun, when_asked
from ..opening import Heading, Resize, open_grid
from ..schedule import Schedule
from ..writer import Writer
from .ending import Ending
from .matrix import Extent
from .packing import Panels
from .waiting import Blocks


@when_asked
def product_func(
    heading: Heading, operands: tuple[Panels, Panels], extent: Extent, ending: Ending
) -> Begun:
    """The kernel in which a program multiplies one panel of the left operand with those panels of
    the right one that are kept near while all of the left ones pass."""
    left, right = operands
    columns, chunks = right.counts()
    together = _together(chunks, right.chunk, heading.schedule)

    def grid(local: Resize) -> Shape:
        kept = _together(local(chunks), right.chunk, heading.schedule)
        blocks = ceil_div(local(columns), kept)
        return (local(extent.batch), blocks, ceil_div(local(extent.m), left.lines))

    params = [
        Param(0, left.shape, left.wide, "left"),
        Param(1, right.shape, right.wide, "right"),
        *ending.params,
    ]
    writer = Writer(open_grid(heading, params, grid))
    sizes = (chunks, together, extent.n)

    def write() -> None:
        _write_product(writer, operands, sizes, ending)

    return writer.later(write, [*sizes, *ending.asked])


def _write_product(
    writer: Writer, operands: tuple[Panels, Panels], sizes: Sequence[Size], ending: Ending
) -> None:
    """What a program does; the sizes are the number of chunks, that of panels which are kept near,
    and that of columns."""
    left, right = operands
    lefts, rights, *others = writer.views
    chunks, together, width = sizes
    batch, block, row = [writer.program(axis) for axis in range(3)]
    kept = writer.multiply(writer.size(together), right.lines)
    begin = writer.multiply(block, kept)
    end = writer.least(writer.add(begin, kept), width)
    steps = writer.size(chunks)
    lines = panel(writer, left, lefts, [batch, row], steps)
    top = writer.multiply(row, left.lines)

    def make(at: AnyValue) -> AnyValue:
        where = [batch, writer.divide(at, right.lines)]
        return multiplied(writer, operands, (lines, panel(writer, right, rights, where, steps)))

    made = Blocks(begin, end, (1, left.lines, right.lines), left.wide, make)
    ending.store_blocks(writer, others, made, [batch, top])


def panel(
    writer: Writer,
    panels: Panels,
    view: AnyValue,
    where: Sequence[AnyValue],
    chunks: AnyValue,
    first: AnyValue | None = None,
) -> AnyValue:
    """So many chunks of one panel, from its first or another one on."""
    zero, (high, wide) = writer.size(0), panels.block
    sizes = [chunks, writer.size(high), writer.size(wide)]
    begin = zero if first is None else first
    return writer.part(view, [*where, begin, zero, zero], sizes)


def multiplied(
    writer: Writer,
    operands: tuple[Panels, Panels],
    views: tuple[AnyValue, AnyValue],
    before: AnyValue | None = None,
) -> AnyValue:
    """The product of two panels of as many chunks, added to what was before: a tile of rank 3."""
    left, right = operands
    start = writer.zeros(left.wide, 1, left.lines, right.lines) if before is None else before

    def body(at: AnyValue, sums: AnyValue) -> list[AnyValue]:
        loaded = [chunk(writer, *each, at) for each in zip(operands, views, strict=True)]
        return [writer.emit(tile.Dot, *loaded, sums)]

    chunks = writer.extent(views[0], 0)
    (sums,) = writer.loop("k", (writer.size(0), chunks, 1), body, [start])
    return sums


def chunk(writer: Writer, panels: Panels, view: AnyValue, at: AnyValue) -> AnyValue:
    """One chunk of a panel."""
    zero = writer.size(0)
    return writer.load(view, [at, zero, zero], 1, *panels.block)


def _together(chunks: Size, chunk: int, schedule: Schedule) -> Size:
    """How many panels of the right operand are kept near: as many as have so many rows in all."""
    return ceil_div(schedule["kept"], maximum(chunks * chunk, 1))
