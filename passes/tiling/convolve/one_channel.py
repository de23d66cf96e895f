"""Programs that make a line of one channel, where groups have hardly any output channels.

Comes in: a geometry. Goes out: a kernel that begins, and what its program has: where it is, what it
reads, sums over input channels, and the line that they are stored to.
Never: which way vectors run; `along` and `deep` say so.
"""

from collections.abc import Callable, Sequence
from math import prod

from ....ir import tile
from ....ir.attributes import Shape
from ....ir.values import AnyValue
from ..kernel import Param
from ..opening import Heading, Resize, open_grid
from ..writer import Writer
from .geometry import Geometry
from .lines import located, place_of, turn_of, turns_of_grid
from .reading import Reader


class OneChannel:
    """What one program knows, and how it begins and ends."""

    def __init__(self, heading: Heading, geometry: Geometry) -> None:
        self.writer = writer = _writer(heading, geometry)
        self.geometry, self.vector = geometry, heading.schedule["vector"]
        source, self.weights, self.result = writer.views
        self.reader = Reader(writer, geometry, source, self.vector)
        channels = writer.size(geometry.result_shape[1])
        self.image = writer.divide(writer.program(0), channels)
        before = writer.multiply(self.image, channels)
        self.channel = writer.subtract(writer.program(0), before)
        self.group = writer.divide(self.channel, geometry.outputs)
        _, *self.places = place_of(writer, geometry, writer.program(1))
        self.turn = turn_of(writer, geometry, 2)

    def summed(self, add: Callable[[AnyValue, AnyValue, AnyValue], AnyValue]) -> AnyValue:
        """What `add` makes of zeros, with each input channel's number and its image in turn."""
        writer, geometry = self.writer, self.geometry
        inputs = writer.size(geometry.inputs)
        first = writer.multiply(self.group, inputs)
        start = writer.zeros(geometry.wide, self.vector)

        def channel(number: AnyValue, sums: AnyValue) -> Sequence[AnyValue]:
            plane = self.reader.plane(self.image, writer.add(first, number))
            return [add(number, plane, sums)]

        if geometry.inputs == 1:
            return channel(writer.size(0), start)[0]
        bounds = writer.size(0), inputs, 1
        return writer.loop("channel", bounds, channel, [start])[0]

    def elements(self, number: AnyValue, element: Sequence[AnyValue]) -> AnyValue:
        """A view of the kernel: at an input channel, and an element along the first axes."""
        writer, axes = self.writer, self.geometry.axes
        windows = [axis.window for axis in axes]
        shown = range(len(element), len(axes))
        where = [*element, *[writer.size(0) for _ in shown]]
        places = located(writer, windows, where, self.turn)
        return writer.emit(
            tile.View,
            self.weights,
            [self.channel, number, *places],
            [writer.size(windows[axis].count) for axis in shown],
            axes=tuple(axis + 2 for axis in shown),
            steps=tuple(windows[axis].step for axis in shown),
        )

    def store(self, sums: AnyValue, at: AnyValue) -> None:
        """Put sums in their line."""
        writer, geometry = self.writer, self.geometry
        sums = writer.cast(sums, geometry.result)
        taking = [axis.places for axis in geometry.axes]
        places = [*self.places, writer.size(0)]
        begin = located(writer, taking, places, self.turn)
        offsets, axes = [self.image, self.channel, *begin], (len(taking) + 1,)
        width, steps = [writer.size(geometry.width)], (taking[-1].step,)
        line = writer.emit(tile.View, self.result, offsets, width, axes=axes, steps=steps)
        writer.store(line, sums, [at])


def _writer(heading: Heading, geometry: Geometry) -> Writer:
    """The kernel, in which nothing is done yet."""

    def grid(local: Resize) -> Shape:
        images, *lines = [local(size) for size in geometry.lines]
        channels = local(geometry.result_shape[1])
        return (images * channels, prod(lines), *turns_of_grid(geometry))

    params = [
        Param(0, geometry.x_shape, geometry.dtype, "x"),
        Param(1, geometry.kernel_shape, geometry.dtype, "kernel"),
        Param(0, geometry.result_shape, geometry.result, "result", written=True),
    ]
    return Writer(open_grid(heading, params, grid))
