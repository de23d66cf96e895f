"""Rewrites of views: two become one, and a view of nothing new disappears.

Comes in: reshape, permute, broadcast, flip. Goes out: fewer of them, nearer to the readers.
Never: a copy of memory that was not there before.
"""

from ...ir import tensor
from ...ir.attributes import Shape
from ...ir.rewriter import Rewriter, Rules, rewrite
from ...ir.tensor.elementwise import Elementwise
from ...ir.values import AnyValue
from .patterns import full, made_by, uniform


@rewrite(tensor.Reshape, tensor.Broadcast)
def view_as_is(op: tensor.Reshape | tensor.Broadcast, rewriter: Rewriter) -> AnyValue | None:
    """reshape(x) -> x and broadcast(x) -> x, to the shape it has"""
    if op.result.type is not op.x.type:
        return None
    in_place = isinstance(op, tensor.Reshape) or op.axes == tuple(range(len(op.shape)))
    return op.x if in_place else None


@rewrite(tensor.Reshape)
def reshape_twice(op: tensor.Reshape, rewriter: Rewriter) -> AnyValue | None:
    """reshape(reshape(x)) -> reshape(x)"""
    inner = made_by(op.x, tensor.Reshape)
    if inner is None:
        return None
    rewriter.covers(inner)
    return rewriter.emit(tensor.Reshape, inner.x, op.shape)


@rewrite(tensor.Permute)
def permute_twice(op: tensor.Permute, rewriter: Rewriter) -> AnyValue | None:
    """permute(permute(x)) -> permute(x)"""
    inner = made_by(op.x, tensor.Permute)
    if inner is None:
        return None
    rewriter.covers(inner)
    return rewriter.emit(tensor.Permute, inner.x, tuple(inner.axes[axis] for axis in op.axes))


@rewrite(tensor.Permute)
def permute_unit_axes(op: tensor.Permute, rewriter: Rewriter) -> AnyValue | None:
    """permute(x) -> reshape(x), when only axes of size 1 change their order"""
    wide = [axis for axis in op.axes if op.x.shape[axis] != 1]
    return rewriter.emit(tensor.Reshape, op.x, op.result.shape) if wide == sorted(wide) else None


@rewrite(tensor.Reshape)
def reshape_unit_broadcast(op: tensor.Reshape, rewriter: Rewriter) -> AnyValue | None:
    """reshape(broadcast(x)) -> reshape(x), when the broadcast only adds axes of size 1"""
    inner = made_by(op.x, tensor.Broadcast)
    if inner is None or list(inner.axes) != sorted(inner.axes):
        return None
    if not _same_but_for_units(inner.x.shape, inner.shape):
        return None
    rewriter.covers(inner)
    return rewriter.emit(tensor.Reshape, inner.x, op.shape)


def _same_but_for_units(left: Shape, right: Shape) -> bool:
    kept = [[size for size in shape if size != 1] for shape in (left, right)]
    return kept[0] == kept[1]


@rewrite(tensor.Broadcast)
def broadcast_twice(op: tensor.Broadcast, rewriter: Rewriter) -> AnyValue | None:
    """broadcast(broadcast(x)) -> broadcast(x)"""
    inner = made_by(op.x, tensor.Broadcast)
    if inner is None:
        return None
    rewriter.covers(inner)
    axes = tuple(op.axes[axis] for axis in inner.axes)
    return rewriter.emit(tensor.Broadcast, inner.x, op.shape, axes)


@rewrite(tensor.Permute)
def permute_broadcast(op: tensor.Permute, rewriter: Rewriter) -> AnyValue | None:
    """permute(broadcast(x)) -> broadcast(x), when x keeps the order of its axes"""
    inner = made_by(op.x, tensor.Broadcast)
    if inner is None:
        return None
    axes = tuple(op.axes.index(axis) for axis in inner.axes)
    if list(axes) != sorted(axes):
        return None
    rewriter.covers(inner)
    return rewriter.emit(tensor.Broadcast, inner.x, op.result.shape, axes)


@rewrite(tensor.Flip)
def flip_little(op: tensor.Flip, rewriter: Rewriter) -> AnyValue | None:
    """flip(x) -> x, and without its axes of size 1"""
    axes = tuple(axis for axis in op.axes if op.x.shape[axis] != 1)
    if len(axes) == len(op.axes) and axes:
        return None
    return rewriter.emit(tensor.Flip, op.x, axes) if axes else op.x


@rewrite(tensor.Flip)
def flip_twice(op: tensor.Flip, rewriter: Rewriter) -> AnyValue | None:
    """flip(flip(x)) -> flip(x), along the axes that only one of them turns"""
    inner = made_by(op.x, tensor.Flip)
    if inner is None:
        return None
    rewriter.covers(inner)
    axes = tuple(sorted({*op.axes} ^ {*inner.axes}))
    return rewriter.emit(tensor.Flip, inner.x, axes)


@rewrite(tensor.Flip)
def flip_broadcast(op: tensor.Flip, rewriter: Rewriter) -> AnyValue | None:
    """flip(broadcast(x)) -> broadcast(flip(x)), along the axes that x has"""
    inner = made_by(op.x, tensor.Broadcast)
    if inner is None:
        return None
    rewriter.covers(inner)
    axes = tuple(place for place, axis in enumerate(inner.axes) if axis in op.axes)
    flipped = rewriter.emit(tensor.Flip, inner.x, axes) if axes else inner.x
    return rewriter.emit(tensor.Broadcast, flipped, inner.shape, inner.axes)


@rewrite(tensor.Reshape, tensor.Slice)
def view_of_uniform(op: tensor.Reshape | tensor.Slice, rewriter: Rewriter) -> AnyValue | None:
    """reshape(broadcast(c)) -> broadcast(c), slice(broadcast(c)) -> broadcast(c)"""
    inner = made_by(op.x, tensor.Broadcast)
    number = uniform(inner.x) if inner is not None and not inner.x.shape else None
    return full(rewriter, number, op.result.type) if number is not None else None


@rewrite(Elementwise)
def compute_before_broadcast(op: Elementwise, rewriter: Rewriter) -> AnyValue | None:
    """f(broadcast(x), broadcast(y)) -> broadcast(f(x, y)), when both are broadcast alike"""
    makers = [made_by(operand, tensor.Broadcast) for operand in op.operands]
    first = makers[0]
    if first is None or not all(each is not None and _alike(first, each) for each in makers):
        return None
    found = [each for each in makers if each is not None]
    rewriter.covers(*found)
    small = rewriter.emit(op.__class__, *[each.x for each in found])
    return rewriter.emit(tensor.Broadcast, small, first.shape, first.axes)


def _alike(one: tensor.Broadcast, other: tensor.Broadcast) -> bool:
    return one.axes == other.axes and one.x.shape == other.x.shape and one.shape == other.shape


VIEWS = Rules(
    view_as_is, reshape_twice, permute_twice, permute_unit_axes,
    reshape_unit_broadcast, broadcast_twice, permute_broadcast, flip_little, flip_twice,
    flip_broadcast, view_of_uniform, compute_before_broadcast,
)  # fmt: skip
