"""Blocks of a product, from panels: a program's accumulator stays in registers over all of k.

Comes in: the panels of both operands, the size of the product. Goes out: the kernel that multiplies
panels which all programs share, and its grid.
Never: a matrix that is not packed.
"""

from collections.abc import Sequence

from ....ir import tile
from ....ir.attributes import Shape
from ....ir.dims import Size, ceil_div, maximum
from ....ir.dtypes import DType
from ....ir.func import Func
from ....ir.locations import Location
from ....ir.values import AnyValue
from ..emit import nothing
from ..kernel import Param
from ..schedule import Schedule
from .ending import Ending
from .matrix import Extent
from .packing import Panels
from .writer import Resize, Writer


def product_func(
    name: str,
    location: Location,
    operands: tuple[Panels, Panels],
    extent: Extent,
    ending: Ending,
    schedule: Schedule,
) -> tuple[Func, Shape]:
    """The kernel in which a program multiplies one panel of the left operand with those panels of
    the right one that are kept near while all of the left ones pass."""
    left, right = operands
    columns, chunks = right.counts()
    together = _together(chunks, right.chunk, schedule)

    def grid(local: Resize) -> Shape:
        kept = _together(local(chunks), right.chunk, schedule)
        blocks = ceil_div(local(columns), kept)
        return (local(extent.batch) * blocks, ceil_div(local(extent.m), left.lines))

    params = [
        Param(0, left.shape, left.wide, "left"),
        Param(1, right.shape, right.wide, "right"),
        *ending.params,
    ]
    writer = Writer(name, location, params, grid, schedule)
    lefts, rights, *others = writer.views
    row, kept = writer.program(1), writer.size(together)
    batch, block = _block(writer, writer.size(columns), kept)
    begin = writer.multiply(writer.multiply(block, kept), right.lines)
    end = writer.least(writer.add(begin, writer.multiply(kept, right.lines)), writer.size(extent.n))
    steps = writer.size(chunks)
    lines = panel(writer, left, lefts, [batch, row], steps)
    top = writer.multiply(row, left.lines)

    def body(at: AnyValue) -> list[AnyValue]:
        where = [batch, writer.divide(at, right.lines)]
        sums = multiplied(writer, operands, (lines, panel(writer, right, rights, where, steps)))
        ending.store(writer, others, sums, [batch, top, at])
        return []

    writer.loop("n", (begin, end, right.lines), body)
    return writer.done(), writer.grid


def _block(writer: Writer, columns: AnyValue, kept: AnyValue) -> tuple[AnyValue, AnyValue]:
    """Which matrix of the batch a program works on, and which block of panels of the right one."""
    place = writer.program(0)
    above = writer.add(columns, writer.subtract(kept, writer.size(1)))
    blocks = writer.divide(above, kept)
    batch = writer.divide(place, blocks)
    return batch, writer.subtract(place, writer.multiply(batch, blocks))


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
    writer: Writer, operands: tuple[Panels, Panels], views: tuple[AnyValue, AnyValue]
) -> AnyValue:
    """The product of two panels of as many chunks: a tile of rank 3."""
    left, right = operands
    start = zeros(writer, (1, left.lines, right.lines), left.wide)

    def body(at: AnyValue, sums: AnyValue) -> list[AnyValue]:
        loaded = [chunk(writer, *each, at) for each in zip(operands, views, strict=True)]
        return [writer.emit(tile.Dot, *loaded, sums)]

    chunks = writer.emit(tile.Extent, views[0], axis=0)
    (sums,) = writer.loop("k", (writer.size(0), chunks, 1), body, [start])
    return sums


def chunk(writer: Writer, panels: Panels, view: AnyValue, at: AnyValue) -> AnyValue:
    """One chunk of a panel."""
    zero, padding = writer.size(0), nothing(panels.wide)
    shape = (1, *panels.block)
    return writer.emit(tile.Load, view, [at, zero, zero], shape=shape, padding=padding)


def zeros(writer: Writer, shape: tuple[int, ...], dtype: DType) -> AnyValue:
    """A tile of zeros."""
    return writer.emit(tile.Full, writer.emit(tile.Constant, nothing(dtype)), shape=shape)


def _together(chunks: Size, chunk: int, schedule: Schedule) -> Size:
    """How many panels of the right operand are kept near: as many as have so many rows in all."""
    return ceil_div(schedule["kept"], maximum(chunks * chunk, 1))
