"""Views between a value and whoever reads it: what becomes of its axes, and how it is emitted.

Comes in: a chain of views and the axes of what it begins at. Goes out: the axes of what it ends in.
A view that only groups, orders or adds axes needs no op, since the leaves say it all.
One that moves places (a part, a border, the reverse order) gives an axis new leaves, and is emitted
on an array that is seen in the leaves that the reader needs.
Never: a choice of where a view stands.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from ...ir import tensor
from ...ir.attributes import Shape
from ...ir.builder import Builder
from ...ir.dims import Size
from ...ir.values import AnyValue, Op
from .axes import Axes, Group, Groups, divided, regrouped

VIEWS = (
    tensor.Reshape, tensor.Permute, tensor.Broadcast, tensor.Slice, tensor.Flip, tensor.Pad,
    tensor.StopGradient,
)  # fmt: skip
IN_MEMORY = (tensor.Reshape, tensor.StopGradient)
"""Views of an array that are the same memory."""

Grouped = tuple[Shape, ...]


def moves(op: Op) -> bool:
    """Whether a view reads its operand at other places than its own."""
    return isinstance(op, _MOVING) and any(_moved(op, axis) for axis in range(op.x.type.rank))


def reshape_before_move(chain: Sequence[Op]) -> int | None:
    """The last reshape before a view that moves places, which needs its axes as they are there."""
    moving = max([place for place, op in enumerate(chain) if moves(op)], default=0)
    reshapes = [at for at, op in enumerate(chain[:moving]) if isinstance(op, tensor.Reshape)]
    return reshapes[-1] if reshapes else None


def stored_within(chain: Sequence[Op], copied: bool = False) -> int | None:
    """The last view of a chain that must stand in memory, since the rest is not read of what it
    reads in one go: something is padded once, forwards, of an array; around a part of that there is
    no more padding. What only fills gaps does so alone: where the end of the chain is `copied`."""
    padding: list[Any] = []
    turned, in_part = set[int](), False
    for place, op in reversed([*enumerate(chain)]):
        if isinstance(op, tensor.Pad):
            gaps = any(op.interior) and not (copied and place == len(chain) - 1)
            moved = {axis for axis in range(op.x.type.rank) if _moved(op, axis)}
            if gaps or in_part or moved & turned or any(each != op.value for each in padding):
                return place
            padding.append(op.value)
        elif isinstance(op, tensor.Broadcast) and padding:
            return place
        in_part = in_part or (bool(padding) and isinstance(op, tensor.Slice | tensor.Flip))
        turned = _turned(op, turned)
    return None


def _turned(op: Any, turned: set[int]) -> set[int]:
    """Which axes of what a view reads are not read one after the other, forwards."""
    if isinstance(op, tensor.Permute):
        return {op.axes[axis] for axis in turned}
    if isinstance(op, tensor.Broadcast):
        return {axis for axis, each in enumerate(op.axes) if each in turned}
    if isinstance(op, tensor.Reshape):
        return {*range(op.x.type.rank)} if turned else turned
    if isinstance(op, tensor.Flip):
        return turned | {*op.axes}
    if isinstance(op, tensor.Slice):
        return turned | {axis for axis, step in enumerate(op.step) if step != 1}
    return turned


def walk(axes: Axes, chain: Sequence[Op], start: Groups) -> Groups | int:
    """The axes at the end of a chain; or which of its views is a reshape that needs a copy."""
    groups = start
    for place, op in enumerate(chain):
        found = _WALKS[op.__class__](axes, op, groups)
        if found is None:
            return place
        groups = found
    return groups


def needed(chain: Sequence[Op], wanted: Grouped) -> Grouped:
    """In what sizes the value that a chain begins at is seen, if its end is in the wanted ones."""
    for op in reversed(chain):
        wanted = _needed(op, wanted)
    return wanted


def emit_chain(builder: Builder, value: AnyValue, chain: Sequence[Op], wanted: Grouped) -> AnyValue:
    """The end of a chain in the wanted sizes, of a value in the sizes that are `needed`."""
    stages = [wanted]
    for op in reversed(chain):
        stages.append(_needed(op, stages[-1]))
    stages.reverse()
    for op, (before, after) in zip(chain, pairwise(stages), strict=True):
        emit = _EMITS.get(op.__class__)
        if emit is not None:
            value = emit(builder, op, value, before, after)
    return value


_MOVING = (tensor.Slice, tensor.Flip, tensor.Pad)


def _moved(op: Any, axis: int) -> bool:
    if isinstance(op, tensor.Flip):
        return axis in op.axes
    if isinstance(op, tensor.Pad):
        return op.low[axis] != 0 or op.high[axis] != 0 or op.interior[axis] != 0
    whole = op.start[axis] == 0 and op.step[axis] == 1
    return not (whole and op.size[axis] == op.x.type.shape[axis])


def _walk_reshape(axes: Axes, op: tensor.Reshape, groups: Groups) -> Groups | None:
    return axes.cut(groups, op.shape)


def _walk_permute(axes: Axes, op: tensor.Permute, groups: Groups) -> Groups:
    return tuple([groups[axis] for axis in op.axes])


def _walk_broadcast(axes: Axes, op: tensor.Broadcast, groups: Groups) -> Groups:
    known = {
        axis: group
        for axis, group, size in zip(op.axes, groups, op.x.shape, strict=True)
        if size == op.shape[axis]
    }
    found = [known.get(axis) for axis in range(len(op.shape))]
    pairs = zip(found, op.shape, strict=True)
    return tuple([axes.group(size) if group is None else group for group, size in pairs])


def _walk_moving(axes: Axes, op: Any, groups: Groups) -> Groups:
    made: list[Group] = []
    for axis, (group, size) in enumerate(zip(groups, op.result.shape, strict=True)):
        if not _moved(op, axis):
            made.append(group)
        elif size == 1:
            made.append(())
        else:
            made.append((axes.leaf(size, _limits(op, axis)),))
    return tuple(made)


def _limits(op: Any, axis: int) -> tuple[Size, ...] | None:
    """What the inner part of a moved axis must divide, if it can have one at all."""
    begins = op.x.op is None or not moves(op.x.op)
    if isinstance(op, tensor.Flip):
        return () if begins else None
    if isinstance(op, tensor.Slice) and op.step[axis] == 1 and begins:
        return op.start[axis], op.x.type.shape[axis]
    return None


def _same(axes: Axes, op: Op, groups: Groups) -> Groups:
    return groups


_WALKS: dict[Any, Callable[..., Groups | None]] = {
    tensor.Reshape: _walk_reshape,
    tensor.Permute: _walk_permute,
    tensor.Broadcast: _walk_broadcast,
    tensor.Slice: _walk_moving,
    tensor.Flip: _walk_moving,
    tensor.Pad: _walk_moving,
    tensor.StopGradient: _same,
}


def _needed(op: Any, wanted: Grouped) -> Grouped:
    """The sizes of a view's operand, from those of its result."""
    shape: Shape = op.x.type.shape
    if isinstance(op, tensor.Reshape):
        return regrouped([size for size in _flat(wanted) if size != 1], shape)
    if isinstance(op, tensor.Permute):
        return tuple([wanted[op.axes.index(axis)] for axis in range(len(shape))])
    if isinstance(op, tensor.Broadcast):
        pairs = zip(shape, op.axes, strict=True)
        return tuple([wanted[axis] if size == op.shape[axis] else () for size, axis in pairs])
    if isinstance(op, tensor.StopGradient):
        return wanted
    return tuple(
        [
            _source_sizes(size, wanted[axis]) if _moved(op, axis) else wanted[axis]
            for axis, size in enumerate(shape)
        ]
    )


def _source_sizes(size: Size, wanted: Shape) -> Shape:
    """An axis that is read in part: only its outermost leaf is of another size."""
    outer: Size | None = size
    for inner in wanted[1:]:
        outer = divided(outer, inner) if outer is not None else None
    assert outer is not None, "an axis that is read in part is only split where it can be"
    return (outer, *wanted[1:])


def _flat(groups: Grouped) -> Shape:
    return tuple([size for group in groups for size in group])


def _emit_reshape(
    builder: Builder, op: tensor.Reshape, value: AnyValue, before: Grouped, after: Grouped
) -> AnyValue:
    return _in_sizes(builder, value, after)


def _emit_permute(
    builder: Builder, op: tensor.Permute, value: AnyValue, before: Grouped, after: Grouped
) -> AnyValue:
    places = _places(before)
    return builder.emit(tensor.Permute, value, tuple(at for axis in op.axes for at in places[axis]))


def _emit_broadcast(
    builder: Builder, op: tensor.Broadcast, value: AnyValue, before: Grouped, after: Grouped
) -> AnyValue:
    places, sources = _places(after), zip(op.axes, before, strict=True)
    axes = tuple(at for axis, group in sources if group for at in places[axis])
    return builder.emit(tensor.Broadcast, value, _flat(after), axes)


def _emit_slice(
    builder: Builder, op: tensor.Slice, value: AnyValue, before: Grouped, after: Grouped
) -> AnyValue:
    start, size, step = list[Size](), list[Size](), list[int]()
    for axis, (source, made) in enumerate(zip(before, after, strict=True)):
        whole = not _moved(op, axis)
        inner: Size = 1
        for each in made[1:]:
            inner = inner * each
        begins = 0 if whole or op.start[axis] == 0 else divided(op.start[axis], inner)
        assert begins is not None, "an axis that is read in part is only split where it can be"
        start += [begins, *(0 for _ in source[1:])] if source else []
        size += source if whole else made or (op.size[axis],)
        step += [1 if whole else op.step[axis], *(1 for _ in source[1:])] if source else []
    part = builder.emit(tensor.Slice, value, tuple(start), tuple(size), tuple(step))
    return _in_sizes(builder, part, after)


def _emit_flip(
    builder: Builder, op: tensor.Flip, value: AnyValue, before: Grouped, after: Grouped
) -> AnyValue:
    places = _places(before)
    axes = tuple(sorted(at for axis in op.axes for at in places[axis]))
    return builder.emit(tensor.Flip, value, axes) if axes else value


def _emit_pad(
    builder: Builder, op: tensor.Pad, value: AnyValue, before: Grouped, after: Grouped
) -> AnyValue:
    low, high, interior = list[Size](), list[Size](), list[int]()
    for axis, source in enumerate(before):
        rest = [0 for _ in source[1:]]
        if source:
            low += [op.low[axis], *rest]
            high += [op.high[axis], *rest]
            interior += [op.interior[axis], *rest]
    sizes = tuple(low), tuple(high), tuple(interior)
    return _in_sizes(builder, builder.emit(tensor.Pad, value, *sizes, op.value), after)


def _in_sizes(builder: Builder, value: AnyValue, wanted: Grouped) -> AnyValue:
    """With or without axes of size 1, of which leaves know nothing."""
    shape = _flat(wanted)
    return value if value.shape == shape else builder.emit(tensor.Reshape, value, shape)


def _places(groups: Grouped) -> list[range]:
    """Which axes of a value in leaves each axis has become."""
    found: list[range] = []
    first = 0
    for group in groups:
        found.append(range(first, first + len(group)))
        first += len(group)
    return found


_EMITS: dict[Any, Callable[..., AnyValue]] = {
    tensor.Reshape: _emit_reshape,
    tensor.Permute: _emit_permute,
    tensor.Broadcast: _emit_broadcast,
    tensor.Slice: _emit_slice,
    tensor.Flip: _emit_flip,
    tensor.Pad: _emit_pad,
}
