"""The iteration space of a kernel, and where in a tensor each of its points reads.

Comes in: a kernel func of the tensor floor. Goes out: its `Space`: the sizes of the axes over which
it runs, and which of them are reduced; and for any of its values a `Place`. Axes of size 1 are left
out: there is one place on them.
Never: a tile, or a decision that needs a number.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...ir import tensor
from ...ir.attributes import Shape
from ...ir.dims import Size
from ...ir.func import Func
from ...ir.tensor.arg_reduce import ArgReduction
from ...ir.tensor.reduce import Reduction


class Refused(Exception):
    """A kernel that stays on the tensor floor; the message says why."""


@dataclass(frozen=True, slots=True)
class Index:
    """start + step * (the place along `axis` of the space); without an axis, always `start`."""

    axis: int | None
    start: Size = 0
    step: int = 1

    @property
    def whole(self) -> bool:
        """Whether it runs along the axis as the axis itself does."""
        return self.axis is not None and self.start == 0 and self.step == 1


Place = tuple[Index, ...]
"""One index for each axis of a value."""

FIRST = Index(None)


@dataclass(frozen=True, slots=True)
class Space:
    """The sizes of the axes, and which of them are reduced, in rising order."""

    sizes: Shape
    reduced: tuple[int, ...] = ()

    @property
    def parallel(self) -> tuple[int, ...]:
        """The axes that are not reduced, in rising order."""
        return tuple(axis for axis in range(len(self.sizes)) if axis not in self.reduced)

    def place(self, shape: Shape) -> Place:
        """Where a result of this shape stands: along all axes, or along the parallel ones."""
        for axes in (tuple(range(len(self.sizes))), self.parallel):
            if tuple(self.sizes[axis] for axis in axes) == extents(shape):
                rest = iter(axes)
                return tuple(FIRST if size == 1 else Index(next(rest)) for size in shape)
        raise Refused(f"a result of shape {list(shape)} in a space of {list(self.sizes)}")


def find_space(func: Func) -> Space:
    """The space of a kernel: the shape of its widest result or reduced value."""
    reductions = [op for op in func.body if isinstance(op, Reduction | ArgReduction)]
    shapes = [extents(result.type.shape) for result in func.results]
    reads = [extents(op.x.type.shape) for op in reductions]
    sizes = max([*shapes, *reads], key=len, default=())
    reduced = {_reduced(op, sizes) for op in reductions}
    if len(reduced) > 1:
        raise Refused("reductions along different axes")
    return Space(sizes, *reduced)


def crossings(func: Func) -> list[int]:
    """The results that are reduced across the rows: along all axes but those, with the last one
    among them, along which the kernel reduces all else; nothing in the kernel reads them."""
    reductions = [op for op in func.body if isinstance(op, Reduction | ArgReduction)]
    if len({axes_of(op) for op in reductions}) < 2:
        return []
    sizes = max((extents(op.x.type.shape) for op in reductions), key=len)
    along = {op: frozenset(_reduced(op, sizes)) for op in reductions}
    across = [op for op in reductions if len(sizes) - 1 not in along[op]]
    every = frozenset(range(len(sizes)))
    rows = {along[op] for op in reductions if op not in across}
    fits = len(rows) == 1 and all(along[op] == every.difference(*rows) for op in across)
    read = any(not use.terminator for op in across for use in op.results[0].uses)
    if not fits or read or any(isinstance(op, ArgReduction) for op in across):
        return []
    return [number for number, result in enumerate(func.results) if result.op in across]


def extents(shape: Iterable[Size]) -> Shape:
    """A shape without the axes of size 1."""
    return tuple(size for size in shape if size != 1)


def axes_of(op: Reduction | ArgReduction) -> tuple[int, ...]:
    """The axes along which an op reduces."""
    return (op.axis,) if isinstance(op, ArgReduction) else op.axes


def _reduced(op: Reduction | ArgReduction, sizes: Sequence[Size]) -> tuple[int, ...]:
    """The axes of the space along which an op reduces."""
    shape, axes = op.x.type.shape, axes_of(op)
    if extents(shape) != tuple(sizes):
        raise Refused(f"a reduction of {op.x.type} in a space of {list(sizes)}")
    if isinstance(op, ArgReduction) and shape[op.axis] == 1:
        raise Refused("a place along an axis of size 1")
    numbered = [axis for axis, size in enumerate(shape) if size != 1]
    return tuple(number for number, axis in enumerate(numbered) if axis in axes)


def reduced_place(op: Reduction | ArgReduction, place: Place, space: Space) -> Place:
    """Where a reduction reads, that is read at `place` itself."""
    if any(index.axis is not None and not index.whole for index in place):
        raise Refused("a part of what a reduction makes is read")
    kept, reduced, axes = iter(place), iter(space.reduced), axes_of(op)
    sizes: Shape = op.x.type.shape
    return tuple(
        next(kept) if axis not in axes else FIRST if size == 1 else Index(next(reduced))
        for axis, size in enumerate(sizes)
    )


def broadcast_place(op: tensor.Broadcast, place: Place) -> Place:
    """Where a broadcast reads, that is read at `place`."""
    sizes: Shape = op.x.type.shape
    return tuple(
        FIRST if size == 1 else place[axis] for size, axis in zip(sizes, op.axes, strict=True)
    )
