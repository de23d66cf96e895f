"""Reading x, along its last axis: for neighbouring places, or neighbouring elements of a window.

Comes in: a channel of an image, places, elements of their windows. Goes out: tiles of x, in the
dtype of the sums.
Never: an element that x does not have; it is zero.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ....ir import tile
from ....ir.dims import interval
from ....ir.dtypes import i64
from ....ir.values import AnyValue
from ..emit import nothing
from ..writer import Writer
from .geometry import Axis, Geometry

EQUAL = tile.CompareKind.EQUAL
NEAR = (1, 2, 4)
"""Elements that are so far apart are loaded together with those between them."""
FAR = 4
"""To load elements that are so far apart takes some 300 ops, which are not written out often."""


@dataclass(frozen=True, slots=True)
class Row:
    """A part of x along its last axis: at `ahead` along all axes of `view` but the last."""

    view: AnyValue
    ahead: Sequence[AnyValue]


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads `vector` elements of x at once."""

    writer: Writer
    geometry: Geometry
    source: AnyValue
    vector: int

    def plane(self, image: AnyValue, channel: AnyValue) -> AnyValue:
        """A channel of an image."""
        writer, axes = self.writer, self.geometry.axes
        begin = [image, channel, *[writer.size(0)] * len(axes)]
        return writer.part(self.source, begin, [writer.size(axis.size) for axis in axes])

    def row(self, plane: AnyValue, places: Sequence[AnyValue], element: Sequence[AnyValue]) -> Row:
        """What is read for places, and elements of the window, along all axes but the last."""
        axes = self.geometry.axes[:-1]
        ahead = [
            self._whole(axis, self.at(axis, place, number), lambda value: value)
            for axis, place, number in zip(axes, places, element, strict=True)
        ]
        if not ahead or any(interval(axis.size)[0] < 1 for axis in axes):
            return Row(plane, ahead)
        return Row(self._part(plane, ahead), [])

    def _part(self, plane: AnyValue, ahead: Sequence[AnyValue]) -> AnyValue:
        """A row of x alone, empty if it is outside, so that nobody asks again for each element."""
        writer, axes = self.writer, self.geometry.axes
        zero = writer.size(0)
        width = writer.size(axes[-1].size)
        held: list[AnyValue] = []
        for axis, index in zip(axes, ahead, strict=False):
            last = writer.subtract(writer.size(axis.size), 1)
            at = writer.greatest(writer.least(index, last), zero)
            inside = writer.compare(EQUAL, at, index)
            width = writer.select(inside, width, zero)
            held.append(at)
        return writer.part(plane, [*held, zero], [width])

    def at(self, axis: Axis, place: AnyValue, element: AnyValue) -> AnyValue:
        """Where among dilated elements of x an element of a place's window stands."""
        writer = self.writer
        shift = writer.subtract(writer.multiply(element, axis.dilation), axis.low)
        return writer.add(writer.multiply(place, axis.stride), shift)

    def _whole(self, axis: Axis, at: AnyValue, like: Callable[[AnyValue], AnyValue]) -> AnyValue:
        """The element at a place among dilated ones, or one that is not there."""
        if axis.between == 1:
            return at
        writer = self.writer
        between = like(writer.size(axis.between))
        index = writer.divide(at, between)
        back = writer.multiply(index, between)
        exact = writer.compare(EQUAL, back, at)
        return writer.select(exact, index, like(writer.size(-1)))

    def load(self, row: Row, first: AnyValue, step: int) -> AnyValue:
        """A tile of rank 1: what stands at `first` among dilated elements, and `step` apart."""
        near = self.is_near(step)
        value = self._near(row, first, step) if near else self._gathered(row, first, step)
        return self.writer.cast(value, self.geometry.wide)

    def is_near(self, step: int) -> bool:
        """Whether elements so far apart are loaded together with those between them."""
        return self.geometry.axes[-1].between == 1 and step in NEAR

    def is_long(self, step: int) -> bool:
        """Whether a load of elements so far apart takes many ops."""
        return self.is_near(step) and step >= FAR

    def _near(self, row: Row, first: AnyValue, step: int) -> AnyValue:
        """Neighbours, or every so many of them."""
        writer = self.writer
        ones = [1] * len(row.ahead)
        value = writer.load(row.view, [*row.ahead, first], *ones, self.vector * step)
        if step == 1:
            return writer.reshape(value, self.vector)
        value = writer.reshape(value, self.vector, step)
        return self._first(writer.permute(value, 1, 0))

    def _first(self, value: AnyValue) -> AnyValue:
        """The first row of a tile."""
        writer, shape = self.writer, value.type.shape
        number = writer.iota(i64, 0, *shape)
        wanted = writer.compare(EQUAL, number, writer.full(writer.size(0), *shape))
        kept = writer.select(wanted, value, writer.zeros(value.dtype, *shape))
        return writer.reduce(tile.ReduceKind.SUM, kept)

    def _gathered(self, row: Row, first: AnyValue, step: int) -> AnyValue:
        """Elements that are far apart, or not all there."""
        writer, axis = self.writer, self.geometry.axes[-1]

        def full(value: AnyValue) -> AnyValue:
            return writer.full(value, self.vector)

        lanes = writer.iota(i64, 0, self.vector)
        places = writer.multiply(lanes, full(writer.size(step)))
        places = self._whole(axis, writer.add(full(first), places), full)
        indices = [*map(full, row.ahead), places]
        padding = nothing(self.geometry.dtype)
        return writer.emit(tile.Gather, row.view, indices, padding=padding)
