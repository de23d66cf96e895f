"""Reading and writing at places that another tensor names.

Both ops see a tensor of shape B + S, where B are the `batch` first axes, and indices of shape
B + I + [k]: each k numbers are a place along the k `axes`, which are among those of S. Updates and
what is read have the shape B + I + (S without `axes`). An index below 0, or not below the size of
its axis, is outside; negative indices do not count from the end.
"""

from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from math import prod
from typing import Any

import numpy as np

from ..attributes import Shape
from ..builder import Builder
from ..declare import Attr, Operand, Result, among, same_as
from ..dims import Size, interval
from ..dtypes import ALL, INTEGERS, NUMBERS, ORDERED, DType, i64, u64
from ..errors import Unmet, require
from ..interpreter.arrays import stored, widened
from ..payloads import Array
from ..shared.places import as_i64, require_inside
from ..types import Tensor
from ..values import AnyValue
from . import order
from .axes import check_distinct, other_axes, shifted
from .base import Tangents, TensorOp, Values, rebuilt
from .batching import in_all_lanes
from .last import last_of_few, told_apart
from .rules import Term, emit, filled, present, with_axis, zeros


class Outside(Enum):
    """What a place outside the tensor means: an error, nothing (zeros are read), the nearest."""

    ERROR = "error"
    ZERO = "zero"
    CLAMP = "clamp"


FEW = 64
"""So many updates are compared with each other, however many places there are."""


class Combiner(Enum):
    """What an update does to the element at its place."""

    SET = "set"
    ADD = "add"
    MULTIPLY = "multiply"
    MINIMUM = "minimum"
    MAXIMUM = "maximum"


class Gather(TensorOp, name="tensor.gather"):
    """The parts of x at the places that indices name."""

    x: Operand[Tensor]
    indices: Operand[Tensor] = among(INTEGERS)
    axes: Attr[tuple[int, ...]]
    batch: Attr[int] = 0
    outside: Attr[Outside] = Outside.ERROR
    result: Result[Tensor]

    @staticmethod
    def infer(x: Tensor, indices: Tensor, axes: tuple[int, ...], batch: int) -> Tensor:
        return x.with_shape(_gathered_shape(x, indices, axes, batch))

    def jvp(self, builder: Builder, tangents: Tangents) -> Tangents:
        return (emit(builder, "gather", tangents[0], self.indices, *self.attributes),)

    def transpose(self, builder: Builder, operands: Tangents, cotangents: Tangents) -> Tangents:
        """Each part read is added to where it was read."""
        nothing, indices, outside = zeros(builder, self.x.type), operands[1], self.outside
        if outside is Outside.CLAMP:
            outside = Outside.ERROR
            indices = clamped(builder, indices, nothing, self.axes) if self.axes else indices
        named = {"combiner": Combiner.ADD, "outside": outside}
        operands = nothing, indices, cotangents[0]
        return emit(builder, "scatter", *operands, self.axes, self.batch, **named), None

    def batching(
        self, builder: Builder, operands: Values, batched: tuple[bool, ...], size: Size
    ) -> Values:
        """Lanes are one more batch axis where both have them, else one of S, or of I."""
        (x, indices), (ours, theirs) = operands, batched
        axes, batch = shifted(self.axes, ours), self.batch + (ours and theirs)
        place = 0
        if not theirs:
            x, place = with_axis(builder, x, 0, batch), len(indices.shape) - 1
        elif not ours:
            indices, place = with_axis(builder, indices, 0, batch), batch
        (made,) = rebuilt(self, builder, (x, indices), axes=axes, batch=batch)
        return (with_axis(builder, made, place, 0),)

    def run(self, frame: Any, *operands: Array) -> Array:
        x, indices = operands
        rows = _rows(x, self.axes, self.batch)
        positions, inside = _positions(x, indices, self.axes, self.batch, self.outside)
        result = np.zeros(inside.shape + rows.shape[1:], x.dtype)
        result[inside] = rows[positions[inside]]
        return result


class Scatter(TensorOp, name="tensor.scatter"):
    """x with updates combined into the places that indices name.

    Updates of one place are combined in row-major order of the indices; `set` lets the last win.
    Narrow floats are combined in f32, and each element is rounded once, at the end.
    """

    x: Operand[Tensor]
    indices: Operand[Tensor] = among(INTEGERS)
    updates: Operand[Tensor]
    axes: Attr[tuple[int, ...]]
    batch: Attr[int] = 0
    combiner: Attr[Combiner] = Combiner.SET
    outside: Attr[Outside] = Outside.ERROR
    result: Result[Tensor] = same_as("x")

    def check(self) -> None:
        x, updates = self.x.type, self.updates.type
        shape = _gathered_shape(x, self.indices.type, self.axes, self.batch)
        expected = x.with_shape(shape)
        require(updates is expected, f"updates has type {updates}, expected {expected}")
        require(self.outside is not Outside.CLAMP, "outside is error or zero (dropped), not clamp")
        accepted, _ = _COMBINERS[self.combiner]
        require(x.dtype in accepted, f"the combiner {self.combiner.value} does not take {x.dtype}")

    @property
    def has_one_place(self) -> bool:
        """Whether no two updates can meet, since there is but one, or one of each batch."""
        return all(self.indices.type.shape[side] == 1 for side in self._sides)

    @property
    def _sides(self) -> range:
        """The axes of indices along which the places of a batch stand."""
        return range(self.batch, self.indices.type.rank - 1)

    def jvp(self, builder: Builder, tangents: Tangents) -> Tangents:
        by_x, _, by_updates = tangents
        x, updates = present(builder, by_x, self.x), present(builder, by_updates, self.updates)
        match self.combiner:
            case Combiner.SET | Combiner.ADD:
                return (self._of(builder, x, updates, self.combiner),)
            case Combiner.MINIMUM | Combiner.MAXIMUM:
                return (self._of_extremes(builder, x, updates),)
            case Combiner.MULTIPLY:
                raise Unmet("multiplies, and is differentiated as the loop it stands for")

    def transpose(self, builder: Builder, operands: Tangents, cotangents: Tangents) -> Tangents:
        require(self.combiner in (Combiner.SET, Combiner.ADD), "is not linear")
        indices: Any = operands[1]
        (c,) = cotangents
        read = emit(builder, "gather", c, indices, self.axes, self.batch, self.outside)
        if self.combiner is Combiner.ADD:
            return c, None, read
        nothing = zeros(builder, self.updates.type)
        kept = self._of(builder, c, nothing, Combiner.SET, indices)
        told = told_apart(indices)
        if all(side in told or indices.shape[side] == 1 for side in self._sides):
            return kept, None, read
        return kept, None, emit(builder, "select", self._last(builder, indices), read, nothing)

    def _of(
        self, builder: Builder, x: Any, updates: Any, combiner: "Combiner", indices: Any = None
    ) -> AnyValue:
        """Other updates, combined into the same places of another x."""
        places = self.indices if indices is None else indices
        where = self.axes, self.batch, combiner, self.outside
        return emit(builder, "scatter", x, places, updates, *where)

    def _of_extremes(self, builder: Builder, x: AnyValue, updates: AnyValue) -> AnyValue:
        """The mean of the changes of all that are the largest, or smallest, at a place."""
        y, wide = Term(builder, self.result), self.x.dtype.accumulator
        where = self.axes, self.batch, self.outside
        there = Term(builder, emit(builder, "gather", self.result, self.indices, *where))
        stays = Term(builder, self.x).apply("equal", y)
        wins = Term(builder, self.updates).apply("equal", there)
        ours, theirs = (each.cast(wide).value for each in (stays, wins))
        count = Term(builder, self._of(builder, ours, theirs, Combiner.ADD))
        share = (1 / count.apply("maximum", count.number(1))).cast(self.x.dtype)
        ours = Term(builder, x).where(stays, 0).value
        theirs = Term(builder, updates).where(wins, 0).value
        return (Term(builder, self._of(builder, ours, theirs, Combiner.ADD)) * share).value

    def _last(self, builder: Builder, indices: Any) -> AnyValue:
        """Whether each update is the last one of its place."""
        few = interval(prod(indices.shape[self.batch : -1]))[1] <= FEW
        found = last_of_few(builder, indices, self.batch) if few else self._noted(builder, indices)
        axes = tuple(range(len(found.type.shape)))
        return emit(builder, "broadcast", found, shape=self.updates.shape, axes=axes)

    def _noted(self, builder: Builder, indices: Any) -> AnyValue:
        """The same: each writes its number, and looks whose stands there in the end."""
        x, batch, places = self.x.type, self.batch, indices.shape[:-1]
        listed = (*x.shape[:batch], *[x.shape[axis] for axis in self.axes])
        numbers = emit(builder, "iota", (prod(places),), 0, i64)
        numbers = emit(builder, "reshape", numbers, places)
        start = filled(builder, -1, Tensor(listed, i64))
        where = shifted(range(len(self.axes)), batch), batch
        last = emit(builder, "scatter", start, indices, numbers, *where, outside=self.outside)
        there = emit(builder, "gather", last, indices, *where, self.outside)
        return emit(builder, "equal", there, numbers)

    def batching(
        self, builder: Builder, operands: Values, batched: tuple[bool, ...], size: Size
    ) -> Values:
        """Lanes are one more batch axis where indices have them, else one of S."""
        x, indices, updates = operands
        x = x if batched[0] else in_all_lanes(builder, x, size)
        updates = updates if batched[2] else in_all_lanes(builder, updates, size)
        batch = self.batch + batched[1]
        if not batched[1]:
            x = with_axis(builder, x, 0, batch)
            updates = with_axis(builder, updates, 0, len(indices.shape) - 1)
        changed = {"axes": shifted(self.axes), "batch": batch}
        (made,) = rebuilt(self, builder, (x, indices, updates), **changed)
        return (with_axis(builder, made, 0 if batched[1] else batch, 0),)

    def run(self, frame: Any, *operands: Array) -> Array:
        x, indices, updates = operands
        dtype = self.x.dtype
        if self.combiner is not Combiner.SET:
            x, updates = widened(x, dtype), widened(updates, dtype)
        rows = _rows(x, self.axes, self.batch).copy()
        positions, inside = _positions(x, indices, self.axes, self.batch, self.outside)
        _, meaning = _COMBINERS[self.combiner]
        _combine(meaning, rows, positions[inside], updates[inside])
        listed = _listed_axes(x.ndim, self.axes, self.batch)
        combined = rows.reshape([x.shape[axis] for axis in listed]).transpose(np.argsort(listed))
        return stored(combined, dtype)


_COMBINERS: dict[Combiner, tuple[frozenset[DType], Callable[[Array, Array], Array]]] = {
    Combiner.SET: (ALL, lambda old, new: new),
    Combiner.ADD: (NUMBERS, np.add),
    Combiner.MULTIPLY: (NUMBERS, np.multiply),
    Combiner.MINIMUM: (ORDERED, order.MINIMUM),
    Combiner.MAXIMUM: (ORDERED, order.MAXIMUM),
}


def _gathered_shape(x: Tensor, indices: Tensor, axes: tuple[int, ...], batch: int) -> Shape:
    """B + I + (S without the indexed axes), once all parts are found to fit."""
    check_distinct(axes, x.rank)
    require(0 <= batch <= x.rank, f"batch = {batch}, but x has rank {x.rank}")
    require(
        all(axis >= batch for axis in axes),
        f"axes = {list(axes)} names one of the {batch} batch axes",
    )
    require(
        indices.rank > batch,
        f"indices has rank {indices.rank}, expected {batch} batch axes and a last axis more",
    )
    for axis in range(batch):
        ours, theirs = x.shape[axis], indices.shape[axis]
        require(ours == theirs, f"batch axis {axis} has size {ours} in x, {theirs} in indices")
    count = indices.shape[-1]
    require(
        count == len(axes),
        f"the last axis of indices has size {count}, expected {len(axes)}: an index for each axis",
    )
    rest = other_axes(x.rank, range(batch), axes)
    return (*indices.shape[:-1], *[x.shape[axis] for axis in rest])


def clamped(builder: Builder, indices: Any, x: AnyValue, axes: Sequence[int]) -> AnyValue:
    """Indices into x, each the nearest that is inside."""
    if indices.dtype is u64:  # what is too large for i64 would be negative there
        most = filled(builder, np.iinfo(np.int64).max, indices.type)
        indices = emit(builder, "minimum", indices, most)
    places = Term(builder, indices).cast(i64)
    sizes = [emit(builder, "reshape", emit(builder, "dim", x, axis), (1,)) for axis in axes]
    line = Term(builder, emit(builder, "concat", sizes, 0)) - 1
    last = line.apply("broadcast", shape=indices.shape, axes=(len(indices.shape) - 1,))
    return places.apply("minimum", last).apply("maximum", places.number(0)).value


def _listed_axes(rank: int, axes: tuple[int, ...], batch: int) -> tuple[int, ...]:
    """The axes of a tensor as `_rows` puts them: the batch, the indexed ones, the rest."""
    return (*range(batch), *axes, *other_axes(rank, range(batch), axes))


def _rows(x: Array, axes: tuple[int, ...], batch: int) -> Array:
    """x as a list of parts, numbered row-major by batch and place."""
    in_order = x.transpose(_listed_axes(x.ndim, axes, batch))
    listed = batch + len(axes)
    return in_order.reshape(prod(in_order.shape[:listed]), *in_order.shape[listed:])


def _positions(
    x: Array, indices: Array, axes: tuple[int, ...], batch: int, outside: Outside
) -> tuple[Array, Array]:
    """For each place, which of `_rows` it names, and whether it lies inside x at all."""
    sizes = np.array([x.shape[axis] for axis in axes], np.int64)
    places = as_i64(indices)
    if outside is Outside.CLAMP:
        places = np.clip(places, 0, sizes - 1)
    bad = (places < 0) | (places >= sizes)
    if outside is not Outside.ZERO and bad.any():
        require_inside(indices, axes, sizes.tolist())
    batches: tuple[int, ...] = x.shape[:batch]
    free = indices.ndim - 1 - batch
    positions = np.arange(prod(batches), dtype=np.int64).reshape(batches + (1,) * free)
    for column, size in enumerate(sizes):
        positions = positions * size + places[..., column]
    return np.broadcast_to(positions, indices.shape[:-1]), ~np.asarray(bad.any(axis=-1))


def _combine(
    meaning: Callable[[Array, Array], Array], rows: Array, positions: Array, updates: Array
) -> None:
    """Let each update in turn change the row at its position."""
    for turn in _turns(positions):
        changed = positions[turn]
        rows[changed] = meaning(rows[changed], updates[turn])


def _turns(positions: Array) -> Iterator[Array]:
    """The numbers of the updates, such that no turn has one position twice and that updates of
    the same position come in order."""
    by_position = np.argsort(positions, kind="stable")
    ascending = positions[by_position]
    turn = np.arange(len(ascending)) - np.searchsorted(ascending, ascending)
    ends = np.cumsum(np.bincount(turn))
    yield from np.split(by_position[np.argsort(turn, kind="stable")], ends[:-1])
