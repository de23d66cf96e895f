"""Rewrites of slices, paddings and concatenations.

Comes in: ops that take parts of tensors or put parts together, and sums of these. Goes out: fewer,
smaller ones.
Never: a window that is only perhaps inside; what is not proved stays.
"""

from ...ir import tensor
from ...ir.attributes import Shape
from ...ir.dims import Size
from ...ir.facts import Facts
from ...ir.rewriter import Rewriter, Rules, rewrite
from ...ir.values import AnyValue
from .patterns import made_by

FACTS = Facts()


@rewrite(tensor.Slice)
def slice_everything(op: tensor.Slice, rewriter: Rewriter) -> AnyValue | None:
    """slice(x) -> x, from 0, with its whole size"""
    return op.x if op.result.type is op.x.type and _zero(op.start) and _one(op.step) else None


@rewrite(tensor.Slice)
def slice_twice(op: tensor.Slice, rewriter: Rewriter) -> AnyValue | None:
    """slice(slice(x)) -> slice(x)"""
    inner = made_by(op.x, tensor.Slice)
    if inner is None:
        return None
    start = tuple(
        first + step * then
        for first, step, then in zip(inner.start, inner.step, op.start, strict=True)
    )
    # An empty window may start at the end of the inner one, which may be beyond the end of x.
    for size, first, extent in zip(op.size, start, inner.x.shape, strict=True):
        if not FACTS.at_most(1, size) and not FACTS.at_most(first, extent):
            return None
    rewriter.covers(inner)
    step = tuple(one * other for one, other in zip(inner.step, op.step, strict=True))
    return rewriter.emit(tensor.Slice, inner.x, start, op.size, step)


@rewrite(tensor.Slice)
def slice_of_concat(op: tensor.Slice, rewriter: Rewriter) -> AnyValue | None:
    """slice(concat(x, y)) -> slice(y), when it lies inside y"""
    inner = made_by(op.x, tensor.Concat)
    if inner is None:
        return None
    axis, before = inner.axis, 0
    reach = op.start[axis] + (op.size[axis] - 1) * op.step[axis]
    for part in inner.operands:
        after = before + part.shape[axis]
        begins = FACTS.at_most(before, op.start[axis]) and FACTS.at_most(op.start[axis], after)
        if begins and FACTS.less(reach, after):
            rewriter.covers(inner)
            start = _replaced(op.start, axis, op.start[axis] - before)
            return rewriter.emit(tensor.Slice, part, start, op.size, op.step)
        before = after
    return None


@rewrite(tensor.Slice)
def slice_of_pad(op: tensor.Slice, rewriter: Rewriter) -> AnyValue | None:
    """slice(pad(x)) -> slice(x), when it lies inside x"""
    inner = made_by(op.x, tensor.Pad)
    if inner is None or any(inner.interior):
        return None
    start = tuple(place - low for place, low in zip(op.start, inner.low, strict=True))
    for axis, first in enumerate(start):
        reach = first + (op.size[axis] - 1) * op.step[axis]
        if not FACTS.at_most(0, first) or not FACTS.less(reach, inner.x.shape[axis]):
            return None
        # An empty window may start at the very end, but not beyond it.
        if not FACTS.at_most(first, inner.x.shape[axis]):
            return None
    rewriter.covers(inner)
    return rewriter.emit(tensor.Slice, inner.x, start, op.size, op.step)


@rewrite(tensor.Slice)
def slice_of_broadcast(op: tensor.Slice, rewriter: Rewriter) -> AnyValue | None:
    """slice(broadcast(x)) -> broadcast(x), along axes that x does not have"""
    inner = made_by(op.x, tensor.Broadcast)
    if inner is None:
        return None
    for axis in inner.axes:
        whole = op.size[axis] is inner.shape[axis] or op.size[axis] == inner.shape[axis]
        if not whole or op.start[axis] != 0 or op.step[axis] != 1:
            return None
    rewriter.covers(inner)
    return rewriter.emit(tensor.Broadcast, inner.x, op.size, inner.axes)


@rewrite(tensor.Pad)
def pad_nothing(op: tensor.Pad, rewriter: Rewriter) -> AnyValue | None:
    """pad(x) -> x, by nothing"""
    return op.x if _zero(op.low) and _zero(op.high) and not any(op.interior) else None


@rewrite(tensor.Pad)
def pad_twice(op: tensor.Pad, rewriter: Rewriter) -> AnyValue | None:
    """pad(pad(x)) -> pad(x), with the same number and nothing between"""
    inner = made_by(op.x, tensor.Pad)
    if inner is None or inner.value is not op.value or any((*inner.interior, *op.interior)):
        return None
    rewriter.covers(inner)
    low = tuple(one + other for one, other in zip(inner.low, op.low, strict=True))
    high = tuple(one + other for one, other in zip(inner.high, op.high, strict=True))
    return rewriter.emit(tensor.Pad, inner.x, low, high, op.interior, op.value)


@rewrite(tensor.Concat)
def concat_one(op: tensor.Concat, rewriter: Rewriter) -> AnyValue | None:
    """concat(x) -> x"""
    return op.operands[0] if len(op.operands) == 1 else None


@rewrite(tensor.Concat)
def concat_empty(op: tensor.Concat, rewriter: Rewriter) -> AnyValue | None:
    """concat(x, y) -> concat(x), when y has no elements along the axis"""
    parts = [part for part in op.operands if part.shape[op.axis] != 0]
    if len(parts) == len(op.operands) or not parts:
        return None
    return rewriter.emit(tensor.Concat, parts, op.axis)


@rewrite(tensor.Concat)
def concat_nested(op: tensor.Concat, rewriter: Rewriter) -> AnyValue | None:
    """concat(concat(x, y), z) -> concat(x, y, z), along the same axis"""
    parts: list[AnyValue] = []
    for part in op.operands:
        inner = made_by(part, tensor.Concat)
        if inner is not None and inner.axis == op.axis:
            rewriter.covers(inner)
            parts.extend(inner.operands)
        else:
            parts.append(part)
    if len(parts) == len(op.operands):
        return None
    return rewriter.emit(tensor.Concat, parts, op.axis)


@rewrite(tensor.Add)
def add_concats(op: tensor.Add, rewriter: Rewriter) -> AnyValue | None:
    """add(concat(x, y), concat(z, w)) -> concat(add(x, z), add(y, w)), if it alone reads them"""
    left, right = (_put_together(operand) for operand in op.operands)
    if left is None or right is None or left is right or left.axis != right.axis:
        return None
    if [part.type for part in left.operands] != [part.type for part in right.operands]:
        return None
    rewriter.covers(left, right)
    pairs = zip(left.operands, right.operands, strict=True)
    parts = [rewriter.emit(tensor.Add, *pair) for pair in pairs]
    whole = rewriter.emit(tensor.Concat, parts, left.axis)
    return rewriter.emit(tensor.Reshape, whole, op.result.type.shape)


def _put_together(value: AnyValue) -> tensor.Concat | None:
    """The op that puts a value together, perhaps in another shape, if only one op reads it."""
    if len(value.uses) > 1:
        return None
    inner = made_by(value, tensor.Reshape)
    return made_by(value, tensor.Concat) if inner is None else _put_together(inner.x)


def _zero(sizes: Shape) -> bool:
    return all(size == 0 for size in sizes)


def _one(steps: tuple[int, ...]) -> bool:
    return all(step == 1 for step in steps)


def _replaced(shape: Shape, axis: int, size: Size) -> Shape:
    return (*shape[:axis], size, *shape[axis + 1 :])


WINDOWS = Rules(
    slice_everything, slice_twice, slice_of_concat, slice_of_pad, slice_of_broadcast,
    pad_nothing, pad_twice, concat_one, concat_empty, concat_nested, add_concats,
)  # fmt: skip
