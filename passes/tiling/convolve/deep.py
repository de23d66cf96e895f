"""Large windows, few places for each, and groups of hardly any output channels.

Comes in: a geometry. Goes out: the kernel, and its grid. A program makes the sums of a line of one
channel, one after the other; vectors run along the window.
Never: an element beyond the window: it is no number that a zero may be multiplied with.
"""

from collections.abc import Sequence

from ....ir import tile
from ....ir.dtypes import i64
from ....ir.values import AnyValue
from ..late import Made
from ..opening import Heading
from .elements import each_element
from .geometry import Geometry
from .one_channel import OneChannel
from .reading import Row


def deep_func(heading: Heading, geometry: Geometry) -> Made:
    """The kernel."""
    return _Deep(heading, geometry).run()


class _Deep(OneChannel):
    """Vectors run along the window."""

    def run(self) -> Made:
        """All pixels of the line."""
        writer = self.writer
        bounds = writer.size(0), writer.size(self.geometry.width), 1
        writer.loop("pixel", bounds, self._pixel)
        return writer.done()

    def _pixel(self, at: AnyValue) -> None:
        writer, reader = self.writer, self.reader
        ahead = self.geometry.axes[:-1]

        def add(number: AnyValue, plane: AnyValue, sums: AnyValue) -> AnyValue:
            def more(_: AnyValue, element: Sequence[AnyValue], so_far: AnyValue) -> list[AnyValue]:
                row = reader.row(plane, self.places, element)
                return [self._products(row, self.elements(number, element), at, so_far)]

            return each_element(writer, ahead, writer.size(0), more, [sums])[0]

        sums = writer.reduce(tile.ReduceKind.SUM, self.summed(add))
        self.store(writer.reshape(sums, 1), at)

    def _products(self, row: Row, weights: AnyValue, at: AnyValue, sums: AnyValue) -> AnyValue:
        """Add the products along the last axis of the window."""
        writer, reader, axis = self.writer, self.reader, self.geometry.axes[-1]
        wide, end = self.geometry.wide, writer.size(axis.window.count)
        none = writer.zeros(wide, self.vector)

        def vector(inner: AnyValue, so_far: AnyValue) -> Sequence[AnyValue]:
            value = reader.load(row, reader.at(axis, at, inner), axis.dilation)
            weight = writer.cast(writer.load(weights, [inner], self.vector), wide)
            product = writer.multiply(weight, value)
            return [writer.add(so_far, writer.select(self._below(inner, end), product, none))]

        return writer.loop("element", (writer.size(0), end, self.vector), vector, [sums])[0]

    def _below(self, start: AnyValue, end: AnyValue) -> AnyValue:
        """Which elements from `start` on the window has."""
        writer, vector = self.writer, self.vector
        places = writer.add(writer.iota(i64, 0, vector), writer.full(start, vector))
        return writer.compare(tile.CompareKind.LESS, places, writer.full(end, vector))
