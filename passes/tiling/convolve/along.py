"""Convolutions of groups of hardly any output channels: a program makes a line of one channel.

Comes in: a geometry. Goes out: the kernel, and its grid.
Never: a panel; each weight is multiplied with a vector of x as it lies in memory.
"""

from collections.abc import Callable, Sequence
from math import prod

from ....ir import tile
from ....ir.attributes import Shape
from ....ir.func import Func
from ....ir.locations import Location
from ....ir.values import AnyValue
from ..contract.writer import Resize, Writer
from ..emit import nothing
from ..kernel import Param
from ..schedule import Schedule
from .elements import are_few, each_element
from .geometry import Geometry
from .lines import place_of, taken
from .reading import Reader


def along_func(
    name: str, location: Location, geometry: Geometry, schedule: Schedule
) -> tuple[Func, Shape]:
    """The kernel."""
    writer = one_channel(name, location, geometry, schedule)
    _Along(writer, geometry, schedule["vector"]).run()
    return writer.done(), writer.grid


def one_channel(name: str, location: Location, geometry: Geometry, schedule: Schedule) -> Writer:
    """A kernel that begins, in which a program makes a line of one channel."""

    def grid(local: Resize) -> Shape:
        images, *lines = [local(size) for size in geometry.lines]
        return (images * local(geometry.result_shape[1]), prod(lines))

    params = [
        Param(0, geometry.x_shape, geometry.dtype, "x"),
        Param(1, geometry.kernel_shape, geometry.dtype, "kernel"),
        Param(0, geometry.result_shape, geometry.result, "result", written=True),
    ]
    return Writer(name, location, params, grid, schedule)


class OneChannel:
    """What one program knows, and how it begins and ends."""

    def __init__(self, writer: Writer, geometry: Geometry, vector: int) -> None:
        self.writer, self.geometry, self.vector = writer, geometry, vector
        source, self.weights, self.result = writer.views
        self.reader = Reader(writer, geometry, source, vector)
        channels = writer.size(geometry.result_shape[1])
        self.image = writer.divide(writer.program(0), channels)
        before = writer.multiply(self.image, channels)
        self.channel = writer.subtract(writer.program(0), before)
        self.group = writer.divide(self.channel, writer.size(geometry.outputs))
        _, *self.places = place_of(writer, geometry, writer.program(1))

    def summed(self, add: Callable[[AnyValue, AnyValue, AnyValue], AnyValue]) -> AnyValue:
        """What `add` makes of zeros, with each input channel's number and its image in turn."""
        writer, geometry = self.writer, self.geometry
        inputs = writer.size(geometry.inputs)
        first = writer.multiply(self.group, inputs)
        zero = writer.emit(tile.Constant, nothing(geometry.wide))
        start = writer.emit(tile.Full, zero, shape=(self.vector,))

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
        places = [taken(writer, *each) for each in zip(windows, where, strict=True)]
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
        if sums.dtype is not geometry.result:
            sums = writer.emit(tile.Cast, sums, dtype=geometry.result)
        taking = [axis.places for axis in geometry.axes]
        places = [*self.places, writer.size(0)]
        begin = [taken(writer, *each) for each in zip(taking, places, strict=True)]
        offsets, axes = [self.image, self.channel, *begin], (len(taking) + 1,)
        width, steps = [writer.size(geometry.width)], (taking[-1].step,)
        line = writer.emit(tile.View, self.result, offsets, width, axes=axes, steps=steps)
        writer.builders[-1].emit_all(tile.Store, line, sums, [at])


class _Along(OneChannel):
    """Vectors run along the line."""

    def run(self) -> None:
        """All pixels: those apart of which a window may begin before x does."""
        writer, end = self.writer, self.writer.size(self.geometry.width)
        zero, first = writer.size(0), writer.size(self.vector)
        for bounds in ((zero, writer.least(first, end)), (first, end)):
            writer.loop("pixel", (*bounds, self.vector), self._pixels)

    def _pixels(self, at: AnyValue) -> Sequence[AnyValue]:
        writer, geometry, reader = self.writer, self.geometry, self.reader

        def add(number: AnyValue, plane: AnyValue, sums: AnyValue) -> AnyValue:
            def more(_: AnyValue, element: Sequence[AnyValue], so_far: AnyValue) -> list[AnyValue]:
                *ahead, last = element
                row, axis = reader.row(plane, self.places, ahead), geometry.axes[-1]
                value = reader.load(row, reader.at(axis, at, last), axis.stride)
                weighed = writer.multiply(self._weight(number, element), value)
                return [writer.add(so_far, weighed)]

            few, axes = are_few(geometry), geometry.axes
            return each_element(writer, axes, number, more, [sums], unrolled=few)[0]

        self.store(self.summed(add), at)
        return []

    def _weight(self, number: AnyValue, element: Sequence[AnyValue]) -> AnyValue:
        """An element of the kernel, for each pixel."""
        writer, dtype, wide = self.writer, self.geometry.dtype, self.geometry.wide
        view = self.elements(number, element)
        value = writer.emit(tile.Load, view, [], shape=(), padding=nothing(dtype))
        scalar = writer.emit(tile.Extract, value)
        if dtype is not wide:
            scalar = writer.emit(tile.Cast, scalar, dtype=wide)
        return writer.emit(tile.Full, scalar, shape=(self.vector,))
