"""Reading x, along its last axis: for neighbouring places, or neighbouring elements of a window.

Comes in: a channel of an image, places, elements of their windows. Goes out: tiles of x, in the
dtype of the sums.
Never: an element that x does not have; it is zero.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ....ir import tile
from ....ir.dims import interval
from ....ir.values import AnyValue
from ..contract.writer import Writer
from ..emit import nothing
from .geometry import Axis, Geometry
from .lines import greatest

NEAR = (1, 2, 4)
"""Elements that are so far apart are loaded together with those between them."""


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
        zero, one = writer.size(0), writer.size(1)
        width = writer.size(axes[-1].size)
        held: list[AnyValue] = []
        for axis, index in zip(axes, ahead, strict=False):
            last = writer.subtract(writer.size(axis.size), one)
            at = greatest(writer, writer.least(index, last), zero)
            inside = writer.emit(tile.Compare, at, index, kind=tile.CompareKind.EQUAL)
            width = writer.emit(tile.Select, inside, width, zero)
            held.append(at)
        return writer.emit(tile.View, plane, [*held, zero], [width], axes=(len(held),))

    def at(self, axis: Axis, place: AnyValue, element: AnyValue) -> AnyValue:
        """Where among dilated elements of x an element of a place's window stands."""
        writer = self.writer
        shift = writer.subtract(writer.multiply(element, axis.dilation), writer.size(axis.low))
        return writer.add(writer.multiply(place, axis.stride), shift)

    def _whole(self, axis: Axis, at: AnyValue, like: Callable[[AnyValue], AnyValue]) -> AnyValue:
        """The element at a place among dilated ones, or one that is not there."""
        if axis.between == 1:
            return at
        writer = self.writer
        between = like(writer.size(axis.between))
        index = writer.divide(at, between)
        back = writer.multiply(index, between)
        exact = writer.emit(tile.Compare, back, at, kind=tile.CompareKind.EQUAL)
        return writer.emit(tile.Select, exact, index, like(writer.size(-1)))

    def load(self, row: Row, first: AnyValue, step: int) -> AnyValue:
        """A tile of rank 1: what stands at `first` among dilated elements, and `step` apart."""
        far = self.geometry.axes[-1].between > 1 or step not in NEAR
        value = self._gathered(row, first, step) if far else self._near(row, first, step)
        wide = self.geometry.wide
        return value if value.dtype is wide else self.writer.emit(tile.Cast, value, dtype=wide)

    def _near(self, row: Row, first: AnyValue, step: int) -> AnyValue:
        """Neighbours, or every so many of them."""
        writer, dtype = self.writer, self.geometry.dtype
        shape = (*[1] * len(row.ahead), self.vector * step)
        offsets = [*row.ahead, first]
        value = writer.emit(tile.Load, row.view, offsets, shape=shape, padding=nothing(dtype))
        if step == 1:
            return writer.emit(tile.Reshape, value, shape=(self.vector,)) if row.ahead else value
        value = writer.emit(tile.Reshape, value, shape=(self.vector, step))
        value = writer.emit(tile.Permute, value, axes=(1, 0))
        return self._first(value)

    def _first(self, value: AnyValue) -> AnyValue:
        """The first row of a tile."""
        writer, shape, dtype = self.writer, value.type.shape, value.dtype
        number = writer.emit(tile.Iota, shape=shape, axis=0, dtype=self.writer.size(0).dtype)
        zeros = writer.emit(tile.Full, writer.size(0), shape=shape)
        wanted = writer.emit(tile.Compare, number, zeros, kind=tile.CompareKind.EQUAL)
        none = writer.emit(tile.Full, writer.emit(tile.Constant, nothing(dtype)), shape=shape)
        kept = writer.emit(tile.Select, wanted, value, none)
        return writer.emit(tile.Reduce, kept, axis=0, kind=tile.ReduceKind.SUM)

    def _gathered(self, row: Row, first: AnyValue, step: int) -> AnyValue:
        """Elements that are far apart, or not all there."""
        writer, axis, shape = self.writer, self.geometry.axes[-1], (self.vector,)

        def full(value: AnyValue) -> AnyValue:
            return writer.emit(tile.Full, value, shape=shape)

        lanes = writer.emit(tile.Iota, shape=shape, axis=0, dtype=first.dtype)
        places = writer.multiply(lanes, full(writer.size(step)))
        places = self._whole(axis, writer.add(full(first), places), full)
        indices = [*map(full, row.ahead), places]
        padding = nothing(self.geometry.dtype)
        return writer.emit(tile.Gather, row.view, indices, padding=padding)
