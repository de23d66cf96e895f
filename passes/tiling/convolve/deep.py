"""Large windows, few places for each, and groups of hardly any output channels.

Comes in: a geometry. Goes out: the kernel, and its grid. A program makes the sums of a line of one
channel, one after the other; vectors run along the window.
Never: an element beyond the window: it is no number that a zero may be multiplied with.
"""

from collections.abc import Sequence

from ....ir import tile
from ....ir.attributes import Shape
from ....ir.func import Func
from ....ir.locations import Location
from ....ir.values import AnyValue
from ..emit import nothing
from ..schedule import Schedule
from .along import OneChannel, one_channel
from .elements import each_element
from .geometry import Geometry
from .reading import Row


def deep_func(
    name: str, location: Location, geometry: Geometry, schedule: Schedule
) -> tuple[Func, Shape]:
    """The kernel."""
    writer = one_channel(name, location, geometry, schedule)
    _Deep(writer, geometry, schedule["vector"]).run()
    return writer.done(), writer.grid


class _Deep(OneChannel):
    """Vectors run along the window."""

    def run(self) -> None:
        """All pixels of the line."""
        writer = self.writer
        bounds = writer.size(0), writer.size(self.geometry.width), 1
        writer.loop("pixel", bounds, self._pixel)

    def _pixel(self, at: AnyValue) -> Sequence[AnyValue]:
        writer, reader = self.writer, self.reader
        ahead = self.geometry.axes[:-1]

        def add(number: AnyValue, plane: AnyValue, sums: AnyValue) -> AnyValue:
            def more(_: AnyValue, element: Sequence[AnyValue], so_far: AnyValue) -> list[AnyValue]:
                row = reader.row(plane, self.places, element)
                return [self._products(row, self.elements(number, element), at, so_far)]

            return each_element(writer, ahead, writer.size(0), more, [sums])[0]

        kind = tile.ReduceKind.SUM
        sums = writer.emit(tile.Reduce, self.summed(add), axis=0, kind=kind)
        self.store(writer.emit(tile.Reshape, sums, shape=(1,)), at)
        return []

    def _products(self, row: Row, weights: AnyValue, at: AnyValue, sums: AnyValue) -> AnyValue:
        """Add the products along the last axis of the window."""
        writer, reader, axis = self.writer, self.reader, self.geometry.axes[-1]
        dtype, wide, shape = self.geometry.dtype, self.geometry.wide, (self.vector,)
        end = writer.size(axis.window.count)
        none = writer.emit(tile.Full, writer.emit(tile.Constant, nothing(wide)), shape=shape)

        def vector(inner: AnyValue, so_far: AnyValue) -> Sequence[AnyValue]:
            value = reader.load(row, reader.at(axis, at, inner), axis.dilation)
            weight = writer.emit(tile.Load, weights, [inner], shape=shape, padding=nothing(dtype))
            if dtype is not wide:
                weight = writer.emit(tile.Cast, weight, dtype=wide)
            product = writer.multiply(weight, value)
            kept = writer.emit(tile.Select, self._below(inner, end), product, none)
            return [writer.add(so_far, kept)]

        return writer.loop("element", (writer.size(0), end, self.vector), vector, [sums])[0]

    def _below(self, start: AnyValue, end: AnyValue) -> AnyValue:
        """Which elements from `start` on the window has."""
        writer, shape = self.writer, (self.vector,)
        lanes = writer.emit(tile.Iota, shape=shape, axis=0, dtype=start.dtype)
        places = writer.add(lanes, writer.emit(tile.Full, start, shape=shape))
        ends = writer.emit(tile.Full, end, shape=shape)
        return writer.emit(tile.Compare, places, ends, kind=tile.CompareKind.LESS)
