"""A block of a view: where its vectors stand, and which of their lanes the view shows.

Comes in: a view, offsets, a shape. Goes out: for each vector an address, and a mask where neither a
proof nor the place in the program says that all of the block lies inside.
Never: a load or a store.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...ir import loop
from ...ir.dtypes import boolean, i64
from ...ir.loop import CompareKind
from ...ir.values import AnyValue
from .binding import Binding, Memory
from .checks import check_axis, not_beyond, not_negative
from .emitter import Index
from .masks import below, from_on
from .registers import Shape, parts_shape, width_of
from .transpose import swapped_shape


@dataclass(frozen=True)
class Side:
    """An axis along which a block may stick out of its view: after the end, before the start."""

    axis: int
    after: bool
    before: bool


def open_sides(
    binding: Binding, view: AnyValue, offsets: Sequence[AnyValue], shape: Shape
) -> list[Side]:
    """Where a block may stick out."""
    ranges, sides = binding.ranges, list[Side]()
    for axis, (offset, count) in enumerate(zip(offsets, shape, strict=True)):
        check = check_axis(ranges, view, axis, offset, count)
        if not binding.inside(check):
            sides.append(Side(axis, not not_beyond(check, ranges), not not_negative(check, ranges)))
    return sides


class Access:
    """A block of a view: the address of each of its vectors, and the lanes that lie inside."""

    def __init__(
        self,
        binding: Binding,
        memory: Memory,
        offsets: Sequence[Index],
        sides: Sequence[Side],
        shape: Shape,
    ) -> None:
        self.emitter, self.memory, self.shape = binding.emitter, memory, shape
        self.masked = binding.machine.masked
        self.offsets, self.sides = offsets, sides
        self.width = width_of(shape, binding.lanes)
        pairs = zip(offsets, memory.strides, strict=True)
        self.base = [memory.start, *[self.emitter.product(at, by) for at, by in pairs]]
        # What vectors next to each other have in common.
        self._rows: dict[Shape, tuple[Index, int]] = {}
        self._row_masks: dict[Shape, list[AnyValue]] = {}
        self._lane_masks: dict[int, list[AnyValue]] = {}

    @classmethod
    def of(
        cls, binding: Binding, view: AnyValue, offsets: Sequence[AnyValue], shape: Shape
    ) -> "Access":
        """The block of `shape` at `offsets`."""
        places = [binding.scalar(offset) for offset in offsets]
        sides = open_sides(binding, view, offsets, shape)
        return cls(binding, binding.memory(view), places, sides, shape)

    def turned(self, binding: Binding) -> "Turned | None":
        """The same block with another axis as the last one, if only that one has stride 1 or -1."""
        strides, last = self.memory.strides, len(self.shape) - 1
        near = [axis for axis, stride in enumerate(strides) if stride in (1, -1)]
        if not near or last in near:
            return None
        axis = near[0]
        shape = swapped_shape(self.shape, axis)
        if min(width_of(shape, binding.lanes), self.width) == 1:
            return None
        sizes = swapped_shape(self.memory.sizes, axis)
        memory = Memory(self.memory.buffer, self.memory.start, sizes, swapped_shape(strides, axis))
        other = {axis: last, last: axis}
        sides = [replace(side, axis=other.get(side.axis, side.axis)) for side in self.sides]
        offsets = swapped_shape(tuple(self.offsets), axis)
        return Turned(Access(binding, memory, offsets, sides, shape), axis)

    @property
    def places(self) -> list[Shape]:
        """Which parts there are, in order."""
        return list(np.ndindex(parts_shape(self.shape, self.width)))

    @property
    def contiguous(self) -> bool:
        """Whether the lanes of a vector are neighbours in memory."""
        return not self.shape or self.memory.strides[-1] == 1

    @property
    def backwards(self) -> bool:
        """Whether they are neighbours, the last lane first."""
        return bool(self.shape) and self.memory.strides[-1] == -1

    def address(self, place: Shape) -> Index:
        """Where the first lane of a part stands; of a vector in a row outside of the view, where
        the row at 0 has it: a mask keeps lanes from being read, but not from being slow, where no
        memory is mapped."""
        *row, column = place or (0,)
        step = self.memory.strides[-1] if place else 0
        found = self._rows.get(tuple(row))
        if found is None:
            found = self._rows[tuple(row)] = self._begin(row)
        start, constant = found
        if isinstance(step, int):
            return self.emitter.moved(start, constant + column * self.width * step)
        return self.emitter.sum(start, constant, self.emitter.product(step, column * self.width))

    def _begin(self, row: Sequence[int]) -> tuple[Index, int]:
        """Where a row begins, or the row at 0 in its stead: what is known of it comes second."""
        emitter = self.emitter
        begin = emitter.sums(*self._terms(row))
        inside = self._inside(row)
        if self.width == 1 or not inside:
            return begin
        first = emitter.value(emitter.sum(self.memory.start, self.base[-1]))
        at = emitter.value(emitter.moved(*begin))
        return emitter.emit(loop.Select, emitter.all_of(inside), at, first), 0

    def _terms(self, row: Sequence[int]) -> list[Index]:
        """What adds up to the place where a row begins."""
        pairs = zip(row, self.memory.strides, strict=False)
        return [*self.base, *[self.emitter.product(by, distance) for distance, by in pairs]]

    def indices(self, place: Shape) -> AnyValue:
        """Where all lanes of a part stand."""
        emitter, lanes = self.emitter, self.width
        if lanes == 1:
            return emitter.value(self.address(place))
        first = emitter.splat(emitter.value(self.address(place)), lanes)
        step = emitter.splat(emitter.value(self.memory.strides[-1]), lanes)
        counted = emitter.emit(loop.Iota, lanes=lanes, dtype=i64)
        moved = emitter.binary(loop.BinaryKind.MULTIPLY, counted, step)
        return emitter.binary(loop.BinaryKind.ADD, first, moved)

    def mask(self, place: Shape) -> AnyValue | None:
        """The lanes of a part that lie inside; None where all do."""
        if not self.sides:
            return None
        *row, column = place
        lanes, rows = self._lane_masks.get(column), self._row_masks.get(tuple(row))
        if lanes is None:
            lanes = self._lane_masks[column] = self._masks_of_lanes(column)
        if rows is None:
            rows = self._row_masks[tuple(row)] = self._masks_of_row(row)
        return self.emitter.all_of([*lanes, *rows]) if lanes or rows else None

    def lies_inside(self, place: Shape) -> tuple[AnyValue | None, AnyValue | None]:
        """Whether all lanes of a part do, and whether one does; None where there is no doubt."""
        *row, column = place
        emitter, less, up_to = self.emitter, CompareKind.LESS, CompareKind.LESS_EQUAL
        first, after = [emitter.number(each * self.width) for each in (column, column + 1)]
        all_do = self._inside(row)
        one_does = [*all_do]
        for side in self.sides:
            if side.axis == len(row) and side.after:
                left = emitter.value(self._left())
                all_do.append(emitter.compare(up_to, after, left))
                one_does.append(emitter.compare(less, first, left))
            if side.axis == len(row) and side.before:
                start = emitter.value(self._start())
                all_do.append(emitter.compare(up_to, start, first))
                one_does.append(emitter.compare(less, start, after))
        asked = [_doubtful(each) for each in (all_do, one_does)]
        every, one = [emitter.all_of(each) if each else None for each in asked]
        return every, one

    def _left(self) -> Index:
        """How many elements of a row there are from the block's first place on."""
        return self.emitter.difference(self.memory.sizes[-1], self.offsets[-1])

    def _start(self) -> Index:
        """The place in a row of the block at which the view's row begins."""
        return self.emitter.difference(0, self.offsets[-1])

    def _masks_of_lanes(self, column: int) -> list[AnyValue]:
        last = len(self.shape) - 1
        sides = [side for side in self.sides if side.axis == last]
        return [mask for side in sides for mask in self._lanes(side, column)]

    def _masks_of_row(self, row: Sequence[int]) -> list[AnyValue]:
        inside = self._inside(row)
        return [self.emitter.splat(self.emitter.all_of(inside), self.width)] if inside else []

    def _inside(self, row: Sequence[int]) -> list[AnyValue]:
        """What must hold for a row to lie inside, one number each."""
        sides = [side for side in self.sides if side.axis < len(row)]
        return [mask for side in sides for mask in self._row(side, row)]

    def _row(self, side: Side, place: Sequence[int]) -> list[AnyValue]:
        emitter, axis = self.emitter, side.axis
        at = emitter.value(emitter.sum(self.offsets[axis], place[axis]))
        masks: list[AnyValue] = []
        if side.after:
            end = emitter.value(self.memory.sizes[axis])
            masks.append(emitter.compare(CompareKind.LESS, at, end))
        if side.before:
            masks.append(emitter.compare(CompareKind.LESS_EQUAL, emitter.number(0), at))
        return _doubtful(masks)

    def _lanes(self, side: Side, place: int) -> list[AnyValue]:
        emitter, column = self.emitter, place * self.width
        masks: list[AnyValue] = []
        if side.after:
            masks.append(below(emitter, self._left(), column, self.width))
        if side.before:
            masks.append(from_on(emitter, self._start(), column, self.width))
        return _doubtful(masks)


@dataclass(frozen=True)
class Turned:
    """A block seen with this axis and the last one swapped."""

    access: Access
    axis: int


def _doubtful(masks: Sequence[AnyValue]) -> list[AnyValue]:
    """The masks that may leave a lane out."""
    return [mask for mask in masks if not is_always(mask, True)]


def is_always(mask: AnyValue, said: bool) -> bool:
    """Whether it is known what a mask says, and it says that of all lanes."""
    owner = mask.owner
    return isinstance(owner, loop.Constant) and bool((owner.value.array == said).all())


def all_lanes(access: Access) -> AnyValue:
    """The mask of a vector all of whose lanes count."""
    row = np.ones(access.width if access.width > 1 else (), np.bool_)
    return access.emitter.constant(row, boolean)
