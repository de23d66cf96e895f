"""The part of a kernel that some places of a result meet, as a kernel of its own.

Comes in: a geometry that takes some elements of the window. Goes out: the kernel that copies them,
and its grid.
Never: arithmetic.
"""

from collections.abc import Sequence

from ....ir.attributes import Shape
from ....ir.values import AnyValue
from ..kernel import Param
from ..late import Made
from ..opening import Heading, Resize, open_grid
from ..writer import Writer
from .elements import each_element
from .geometry import Geometry
from .lines import located


def taking_func(heading: Heading, geometry: Geometry) -> Made:
    """The kernel in which a program copies what makes one output channel."""

    def grid(local: Resize) -> Shape:
        return (local(geometry.kernel_shape[0]),)

    dtype = geometry.dtype
    params = [
        Param(0, geometry.kernel_shape, dtype, "kernel"),
        Param(0, geometry.taken_shape, dtype, "taken", written=True),
    ]
    writer = Writer(open_grid(heading, params, grid))
    source, target = writer.views
    output, inputs = writer.program(0), writer.size(geometry.inputs)
    windows = [axis.window for axis in geometry.axes]

    def channel(number: AnyValue) -> None:
        def copy(_: AnyValue, element: Sequence[AnyValue]) -> None:
            places = located(writer, windows, element)
            whence = writer.part(source, [output, number, *places], [])
            value = writer.load(whence, [])
            writer.store(writer.part(target, [output, number, *element], []), value, [])

        each_element(writer, geometry.axes, number, copy)

    writer.loop("channel", (writer.size(0), inputs, 1), channel)
    return writer.done()
