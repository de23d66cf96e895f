"""The part of a kernel that some places of a result meet, as a kernel of its own.

Comes in: a geometry that takes some elements of the window. Goes out: the kernel that copies them,
and its grid.
Never: arithmetic.
"""

from collections.abc import Sequence

from ....ir import tile
from ....ir.attributes import Shape
from ....ir.func import Func
from ....ir.locations import Location
from ....ir.values import AnyValue
from ..contract.writer import Resize, Writer
from ..emit import nothing
from ..kernel import Param
from ..schedule import Schedule
from .elements import each_element
from .geometry import Geometry
from .lines import taken


def taking_func(
    name: str, location: Location, geometry: Geometry, schedule: Schedule
) -> tuple[Func, Shape]:
    """The kernel in which a program copies what makes one output channel."""

    def grid(local: Resize) -> Shape:
        return (local(geometry.kernel_shape[0]),)

    dtype = geometry.dtype
    params = [
        Param(0, geometry.kernel_shape, dtype, "kernel"),
        Param(0, geometry.taken_shape, dtype, "taken", written=True),
    ]
    writer = Writer(name, location, params, grid, schedule)
    source, target = writer.views
    output, inputs = writer.program(0), writer.size(geometry.inputs)
    windows = [axis.window for axis in geometry.axes]

    def channel(number: AnyValue) -> Sequence[AnyValue]:
        def copy(_: AnyValue, element: Sequence[AnyValue]) -> Sequence[AnyValue]:
            places = [taken(writer, *each) for each in zip(windows, element, strict=True)]
            whence = writer.part(source, [output, number, *places], [])
            value = writer.emit(tile.Load, whence, [], shape=(), padding=nothing(dtype))
            where = writer.part(target, [output, number, *element], [])
            writer.builders[-1].emit_all(tile.Store, where, value, [])
            return []

        return each_element(writer, geometry.axes, number, copy)

    writer.loop("channel", (writer.size(0), inputs, 1), channel)
    return writer.done(), writer.grid
