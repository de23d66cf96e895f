"""Views, seen through: what a value shows, and along which axes of the scores that runs.

Comes in: a value, and for each of its axes the axis of the scores that it runs along. Goes out: the
value that it shows, with its axes; and such a value as a tensor of rank 4.
Never: an axis of size 1 that counts; what it runs along is None.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from ...ir import tensor
from ...ir.attributes import Shape
from ...ir.builder import Builder
from ...ir.dims import Size
from ...ir.values import AnyValue, Op

Axes = tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class View:
    """A value, the axis of the scores that each of its own runs along, and the ops seen through.

    Along an axis in `times`, each element stands for so many neighbours.
    """

    value: AnyValue
    axes: Axes
    ops: tuple[Op, ...] = ()
    times: tuple[tuple[int, Size], ...] = ()

    @property
    def along(self) -> set[int]:
        """The axes of the scores along which the value differs."""
        return {axis for axis in self.axes if axis is not None}


def seen_through(value: AnyValue, axes: Axes, repeats: bool = False) -> View:
    """What stands behind permutations, broadcasts and axes of size 1, and behind repetitions."""
    view = View(value, axes)
    while True:
        found = _behind(view) or (_behind_repetition(view) if repeats else None)
        if found is None:
            return view
        view = found


def _behind(view: View) -> View | None:
    """The same without its last op, if that only moves or spreads."""
    op, axes = view.value.op, view.axes
    if isinstance(op, tensor.Permute):
        inner = tuple([axes[op.axes.index(place)] for place in range(len(axes))])
    elif isinstance(op, tensor.Broadcast):
        inner = tuple([axes[axis] for axis in op.axes])
    elif isinstance(op, tensor.Reshape) and _wide(op.x.shape) == _wide(op.shape):
        along = iter([axis for axis, size in zip(axes, op.shape, strict=True) if size != 1])
        inner = tuple([None if size == 1 else next(along) for size in op.x.shape])
    else:
        return None
    return _of(view, op, op.x, inner)


def _of(view: View, op: Op, x: AnyValue, axes: Axes) -> View:
    pairs = zip(axes, x.shape, strict=True)
    inner = tuple([None if size == 1 else axis for axis, size in pairs])
    return View(x, inner, (*view.ops, op), view.times)


def _behind_repetition(view: View) -> View | None:
    """The same before each element along an axis was repeated: a broadcast, and then a reshape."""
    op = view.value.op
    if not isinstance(op, tensor.Reshape) or not isinstance(op.x.op, tensor.Broadcast):
        return None
    spread = op.x.op
    for place, axis in enumerate(view.axes):
        if axis is not None and _repeats(spread, op.shape, place):
            inner = (*view.axes[: place + 1], None, *view.axes[place + 1 :])
            found = _of(view, op, op.x, inner)
            times = (*view.times, (axis, spread.shape[place + 1]))
            return View(found.value, found.axes, found.ops, times)
    return None


def _repeats(spread: tensor.Broadcast, shape: Shape, place: int) -> bool:
    """Whether a reshape to `shape` merges the axis at a place with the next, which is new."""
    sizes = spread.shape
    if len(sizes) != len(shape) + 1 or sizes[place + 1] == 1:
        return False
    if (*sizes[:place], sizes[place] * sizes[place + 1], *sizes[place + 2 :]) != tuple(shape):
        return False
    pairs = zip(spread.axes, spread.x.shape, strict=True)
    return all(size == 1 for axis, size in pairs if axis == place + 1)


def arranged(
    builder: Builder, view: View, groups: Sequence[Sequence[int]], sizes: Mapping[int, Size]
) -> AnyValue:
    """What a view shows with one axis for each group of axes of the scores, in this order."""
    value = view.value
    present = [axis for axis in view.axes if axis is not None]
    if len(present) != len(view.axes):
        pairs = zip(view.axes, value.shape, strict=True)
        shape = tuple([size for axis, size in pairs if axis is not None])
        value = builder.emit(tensor.Reshape, value, shape)
    order = [axis for group in groups for axis in group]
    kept = [axis for axis in order if axis in present]
    if kept != present:
        value = builder.emit(tensor.Permute, value, tuple(map(present.index, kept)))
    if any(sizes[axis] != 1 for axis in order if axis not in present):
        whole = tuple([sizes[axis] for axis in order])
        value = builder.emit(tensor.Broadcast, value, whole, tuple(map(order.index, kept)))
    merged = tuple([prod([sizes[axis] for axis in group]) for group in groups])
    return value if value.shape == merged else builder.emit(tensor.Reshape, value, merged)


def _wide(shape: Shape) -> list[Size]:
    return [size for size in shape if size != 1]
