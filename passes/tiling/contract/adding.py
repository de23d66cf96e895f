"""The sum of partial products.

Comes in: arrays of which the first axis counts the parts of a product. Goes out: the kernel that
adds them, and its grid.
Never: another order than that of the parts.
"""

from ....ir import tile
from ....ir.attributes import Shape
from ....ir.dims import Size, ceil_div
from ....ir.func import Func
from ....ir.locations import Location
from ....ir.values import AnyValue
from ..emit import nothing
from ..kernel import Param
from ..schedule import Schedule
from .ending import Ending
from .matrix import Extent
from .product import zeros
from .writer import Resize, Writer


def adding_func(
    name: str, location: Location, parts: Size, extent: Extent, ending: Ending, schedule: Schedule
) -> tuple[Func, Shape]:
    """The kernel in which a program adds a few elements of one row."""
    shape, width = (extent.batch, extent.m, extent.n), schedule["n"]

    def grid(local: Resize) -> Shape:
        return (local(extent.batch), local(extent.m), ceil_div(local(extent.n), width))

    params = [Param(0, (parts, *shape), extent.wide, "parts"), *ending.params]
    writer = Writer(name, location, params, grid, schedule)
    source, *others = writer.views
    batch, row, column = (writer.program(axis) for axis in range(3))
    place = [batch, row, writer.multiply(column, width)]
    block = (1, 1, 1, width)

    def body(part: AnyValue, sums: AnyValue) -> list[AnyValue]:
        padding = nothing(extent.wide)
        found = writer.emit(tile.Load, source, [part, *place], shape=block, padding=padding)
        return [writer.add(sums, found)]

    nothing_yet = zeros(writer, block, extent.wide)
    bounds = writer.size(0), writer.size(parts), 1
    (sums,) = writer.loop("part", bounds, body, [nothing_yet])
    ending.store(writer, others, writer.emit(tile.Reshape, sums, shape=block[1:]), place)
    return writer.done(), writer.grid
