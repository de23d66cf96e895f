"""Slices of one axis: from where, how many, how far apart.

Comes in: a Python slice, and the size of the axis. Goes out: a `Part`. Ends outside the axis are
cut off as Python cuts them, also where the size is open, or an end is a tensor inside `jit`.
Never: an element.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any, NamedTuple

from ...ir import dtypes as ir
from ...ir import tensor as ops
from ...ir.dims import MAX_SIZE, Dim, Size, ceil_div, interval, maximum, minimum
from ..bounds import bound_size
from ..errors import PlaceError, fail
from ..handle import Handle, wrap
from ..node import Node, constant, record
from ..sizes import size_of
from .common import cast_node, not_negative, size_node

INDEX = ir.i64


class Part(NamedTuple):
    """What one item between the brackets does to one axis; `span` places are its most, if less is
    known from the size. `apart` says that an `...` of no axis stands between it and the next."""

    kind: str  # "slice", "place" (an integer), "new", "array"
    start: Size = 0
    size: Size = 1
    step: int = 1
    node: Node | None = None
    span: int = MAX_SIZE
    apart: bool = False

    @property
    def most(self) -> int:
        """How many places there are at most."""
        return min(interval(self.size)[1], self.span)

    @property
    def names_places(self) -> bool:
        """Whether it names places, one or an array of them."""
        return self.kind in ("array", "place")


def axes_in_front(parts: Sequence[Part]) -> int:
    """How many axes of what is picked stand before those of named places: the ones that do where
    all that names places stands together, else none."""
    where = [at for at, part in enumerate(parts) if part.names_places]
    if not where:
        return 0
    between = parts[where[0] : where[-1]]
    return where[0] if all([part.names_places and not part.apart for part in between]) else 0


def slice_part(item: slice, size: Size, axis: int) -> Part:
    """A slice, cut off at the ends of the axis as Python cuts it."""
    step = 1 if item.step is None else _end(item.step)
    if step == 0:
        fail(PlaceError, "index", f"the step of the slice of axis {axis} is 0")
    item = slice(size_of(item.start), size_of(item.stop), item.step)
    ends = (item.start, item.stop)
    if any([_is_traced(each) for each in ends]):
        return _computed(item, size, _forwards(step, axis, "its ends are tensors"))
    if isinstance(size, Dim) or any([isinstance(each, Dim) for each in ends]):
        return _open(item, size, step, axis)
    start, stop = (None if each is None else _end(each) for each in ends)
    start, stop, step = slice(start, stop, step).indices(size)
    count = len(range(start, stop, step))
    return Part("slice", start if count else 0, count, step)


def _end(value: Any) -> int:
    """One of the numbers of a slice."""
    try:
        return index(value)
    except TypeError:
        problem = f"the ends and the step of a slice are integers, not {type(value).__name__}"
        fail(PlaceError, "index", problem, value)


def _size(value: Any) -> Size:
    """One of the ends of a slice that is a size, or a number."""
    return value if isinstance(value, Dim) else _end(value)


def _is_traced(value: Any) -> bool:
    return isinstance(value, Handle) and value.node.trace is not None


def _forwards(step: int, axis: int, why: str) -> int:
    """A step that goes from lower places to higher ones."""
    if step < 0:
        problem = f"a slice of axis {axis} has a step of {step}, and {why}"
        fail(PlaceError, "index", problem, hint="slice with a positive step, then `bs.flip`")
    return step


def _open(item: slice, size: Size, step: int, axis: int) -> Part:
    """A slice whose ends, or whose axis, are sizes; such an end counts from the front."""
    if step == -1 and item.start is None and item.stop is None:
        return Part("slice", size - 1, size, -1)
    _forwards(step, axis, f"the sizes are open: {size}")
    start, stop = (None if each is None else _size(each) for each in (item.start, item.stop))
    first = 0 if start is None else _within(start, size)
    last = size if stop is None else _within(stop, size)
    count = not_negative(last - first)
    return Part("slice", first, ceil_div(count, step), step, span=_span(start or 0, stop))


def _span(start: Size, stop: Size | None) -> int:
    """How many places lie between two ends at most, if numbers tell: both count from one side."""
    if not isinstance(start, int) or isinstance(stop, Dim):
        return MAX_SIZE
    if stop is None:
        return -start if start < 0 else MAX_SIZE
    return max(stop - start, 0) if (start < 0) == (stop < 0) else MAX_SIZE


def _within(place: Size, size: Size) -> Size:
    """A place, counted from the front, no less than 0 and no more than the size; what is never more
    than 0, such as `-n` of a size n, is counted from the end.

    The lesser of two is written as their sum without the greater, so that `x[:k]` and `x[k:]` add
    up to the size of x.
    """
    if isinstance(place, int) and place < 0:
        return maximum(size, -place) + place
    if interval(place)[1] <= 0:  # from the end, but if it is 0
        return minimum(-place, 1) * not_negative(size + place)
    place = not_negative(place)
    return place + size - maximum(place, size)


def _computed(item: slice, size: Size, step: int) -> Part:
    """A slice with an end that is computed: as long as the data say."""
    first = _place(item.start, 0, size)
    last = _place(item.stop, size, size)
    zero = constant(0, INDEX)
    count = record(ops.Maximum, (record(ops.Subtract, (last, first)), zero))
    if step > 1:
        rounded = record(ops.Add, (count, constant(step - 1, INDEX)))
        count = record(ops.Divide, (rounded, constant(step, INDEX)))
    instead = "choose with `bs.where(bs.arange(n) < stop, x, other)`"
    if _is_traced(item.start):
        start = bound_size("index", first, size, instead)
    else:
        start = 0 if item.start is None else _within(_size(item.start), size)
    return Part("slice", start, bound_size("index", count, size, instead), step)


def _place(end: Any, default: Size, size: Size) -> Node:
    """An end of a slice as a number, counted from the front and within the axis."""
    if end is None:
        return size_node(default)
    place = _whole(end)
    zero, extent = constant(0, INDEX), size_node(size)
    from_end = record(ops.Add, (place, extent))
    place = record(ops.Select, (record(ops.Less, (place, zero)), from_end, place))
    return record(ops.Minimum, (record(ops.Maximum, (place, zero)), extent))


def _whole(end: Any) -> Node:
    """An end of a slice as an integer."""
    if not isinstance(end, Handle):
        return size_node(_size(end))
    node = end.node
    if node.type.dtype not in ir.INTEGERS or node.type.shape:
        problem = "the ends of a slice are integers, also where they are computed"
        fail(PlaceError, "index", problem, wrap(node))
    return cast_node(node, INDEX)
