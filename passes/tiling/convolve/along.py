"""Convolutions of groups of hardly any output channels: a program makes a line of one channel.

Comes in: a geometry. Goes out: the kernel, and its grid.
Never: a panel; each weight is multiplied with a vector of x as it lies in memory.
"""

from collections.abc import Sequence

from ....ir import tile
from ....ir.values import AnyValue
from ..late import Made
from ..opening import Heading
from .elements import are_few, each_element
from .geometry import Geometry
from .one_channel import OneChannel


def along_func(heading: Heading, geometry: Geometry) -> Made:
    """The kernel."""
    return _Along(heading, geometry).run()


class _Along(OneChannel):
    """Vectors run along the line."""

    def run(self) -> Made:
        """All pixels: those apart of which a window may begin before x does."""
        writer, end = self.writer, self.writer.size(self.geometry.width)
        zero, first = writer.size(0), writer.size(self.vector)
        for bounds in ((zero, writer.least(first, end)), (first, end)):
            writer.loop("pixel", (*bounds, self.vector), self._pixels)
        return writer.done()

    def _pixels(self, at: AnyValue) -> None:
        writer, geometry, reader = self.writer, self.geometry, self.reader

        def add(number: AnyValue, plane: AnyValue, sums: AnyValue) -> AnyValue:
            def more(_: AnyValue, element: Sequence[AnyValue], so_far: AnyValue) -> list[AnyValue]:
                *ahead, last = element
                row, axis = reader.row(plane, self.places, ahead), geometry.axes[-1]
                value = reader.load(row, reader.at(axis, at, last), axis.stride)
                weighed = writer.multiply(self._weight(number, element), value)
                return [writer.add(so_far, weighed)]

            axes = geometry.axes
            stride = axes[-1].stride
            few = are_few(geometry, stride if reader.is_long(stride) else 1)
            return each_element(writer, axes, number, more, [sums], unrolled=few)[0]

        self.store(self.summed(add), at)

    def _weight(self, number: AnyValue, element: Sequence[AnyValue]) -> AnyValue:
        """An element of the kernel, for each pixel."""
        writer = self.writer
        scalar = writer.emit(tile.Extract, writer.load(self.elements(number, element), []))
        return writer.full(writer.cast(scalar, self.geometry.wide), self.vector)
