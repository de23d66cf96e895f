"""The sum of partial products.

Comes in: arrays of which the first axis counts the parts of a product. Goes out: the kernel that
adds them, and its grid.
Never: another order than that of the parts.
"""

from ....ir.attributes import Shape
from ....ir.dims import Size, ceil_div
from ....ir.values import AnyValue
from ..kernel import Param
from ..late import Begun, when_asked
from ..opening import Heading, Resize, open_grid
from ..writer import Writer
from .ending import Ending
from .matrix import Extent


@when_asked
def adding_func(heading: Heading, parts: Size, extent: Extent, ending: Ending) -> Begun:
    """The kernel in which a program adds a few elements of one row."""
    shape, width = (extent.batch, extent.m, extent.n), heading.schedule["n"]

    def grid(local: Resize) -> Shape:
        return (local(extent.batch), local(extent.m), ceil_div(local(extent.n), width))

    params = [Param(0, (parts, *shape), extent.wide, "parts"), *ending.params]
    writer = Writer(open_grid(heading, params, grid))
    source, *others = writer.views
    block = (1, 1, 1, width)

    def write() -> None:
        batch, row, column = (writer.program(axis) for axis in range(3))
        place = [batch, row, writer.multiply(column, width)]

        def body(part: AnyValue, sums: AnyValue) -> list[AnyValue]:
            return [writer.add(sums, writer.load(source, [part, *place], *block))]

        nothing_yet = writer.zeros(extent.wide, *block)
        bounds = writer.size(0), writer.size(parts), 1
        (sums,) = writer.loop("part", bounds, body, [nothing_yet])
        ending.store(writer, others, writer.reshape(sums, *block[1:]), place)

    return writer.later(write, [parts, *ending.asked])
