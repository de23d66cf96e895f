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
from .lines import located, turn_of, turns_of_grid


def room_shape(geometry: Geometry, inside: bool) -> Shape:
    """The shape of all that is taken: of all turns one after the other, or for each output channel
    what they take `inside` of it."""
    outputs, *rest = geometry.taken_shape
    turns = turns_of_grid(geometry)
    return (outputs, *turns, *rest) if inside else (*turns, outputs, *rest)


def taking_func(heading: Heading, geometry: Geometry, inside: bool) -> Made:
    """The kernel in which a program copies what makes one output channel in a turn."""

    def grid(local: Resize) -> Shape:
        return (local(geometry.kernel_shape[0]), *turns_of_grid(geometry))

    dtype = geometry.dtype
    params = [
        Param(0, geometry.kernel_shape, dtype, "kernel"),
        Param(0, room_shape(geometry, inside), dtype, "taken", written=True),
    ]
    writer = Writer(open_grid(heading, params, grid))
    source, target = writer.views
    output, inputs = writer.program(0), writer.size(geometry.inputs)
    turn = turn_of(writer, geometry, 1)
    turns = [writer.program(1)] if turn else []
    place = [output, *turns] if inside else [*turns, output]
    windows = [axis.window for axis in geometry.axes]

    def channel(at: AnyValue) -> None:
        def copy(_: AnyValue, element: Sequence[AnyValue]) -> None:
            places = located(writer, windows, element, turn)
            whence = writer.part(source, [output, at, *places], [])
            value = writer.load(whence, [])
            writer.store(writer.part(target, [*place, at, *element], []), value, [])

        each_element(writer, geometry.axes, at, copy)

    writer.loop("channel", (writer.size(0), inputs, 1), channel)
    return writer.done()
