"""Rewrites that bring views which move places nearer to the arguments.

Comes in: a func that is to be fused. Goes out: the same, in which a part or the reverse of a value
that nobody else wants whole is computed from parts of the operands.
Never: a part of what somebody wants whole, which would be computed twice; nor one of what a
contraction makes whole on its way.
"""

from typing import Any

from ...ir import tensor
from ...ir.dims import Size
from ...ir.func import Func
from ...ir.rewriter import Rewriter, Rules, rewrite
from ...ir.tensor.axes import other_axes
from ...ir.tensor.base import rebuilt
from ...ir.tensor.reduce import Reduction
from ...ir.values import AnyValue, Op
from ..copying import inline
from ..simplify.views import VIEWS
from ..simplify.windows import WINDOWS
from .graph import MAPS

_LEFT = ("left", "left_batch", "left_contract")

Moving = tensor.Slice | tensor.Flip
MOST_OPS_BEHIND = 16
"""So many maps behind a contraction are looked at."""


@rewrite(tensor.Slice, tensor.Flip)
def move_before_map(op: Moving, rewriter: Rewriter) -> AnyValue | None:
    """slice(f(x, y)) -> f(slice(x), slice(y)), when only such parts of f(x, y) are read"""
    inner = op.x.op
    if not isinstance(inner, MAPS) or not _only_for(op) or _ends_contraction(inner):
        return None
    rewriter.covers(inner)
    operands = tuple([_again(op, rewriter, operand) for operand in inner.operands])
    return rebuilt(_as_tensor_op(inner), rewriter, operands)[0]


@rewrite(tensor.Slice)
def slice_before_broadcast(op: tensor.Slice, rewriter: Rewriter) -> AnyValue | None:
    """slice(broadcast(x)) -> broadcast(slice(x)), along the axes that x has"""
    inner = op.x.op
    if not isinstance(inner, tensor.Broadcast):
        return None
    axes = [
        (axis, size == inner.shape[axis])
        for axis, size in zip(inner.axes, inner.x.shape, strict=True)
    ]
    rewriter.covers(inner)
    part = rewriter.emit(
        tensor.Slice,
        inner.x,
        tuple([op.start[axis] if along else 0 for axis, along in axes]),
        tuple([op.size[axis] if along else 1 for axis, along in axes]),
        tuple([op.step[axis] if along else 1 for axis, along in axes]),
    )
    return rewriter.emit(tensor.Broadcast, part, op.size, inner.axes)


@rewrite(tensor.Slice)
def slice_before_permute(op: tensor.Slice, rewriter: Rewriter) -> AnyValue | None:
    """slice(permute(x)) -> permute(slice(x)), when only such parts are read"""
    inner = op.x.op
    if not isinstance(inner, tensor.Permute) or not _only_for(op):
        return None
    rewriter.covers(inner)
    back = [inner.axes.index(axis) for axis in range(len(inner.axes))]
    part = rewriter.emit(
        tensor.Slice,
        inner.x,
        tuple([op.start[axis] for axis in back]),
        tuple([op.size[axis] for axis in back]),
        tuple([op.step[axis] for axis in back]),
    )
    return rewriter.emit(tensor.Permute, part, inner.axes)


@rewrite(tensor.Flip)
def flip_before_permute(op: tensor.Flip, rewriter: Rewriter) -> AnyValue | None:
    """flip(permute(x)) -> permute(flip(x)), when nothing else reads it"""
    inner = op.x.op
    if not isinstance(inner, tensor.Permute) or not _only_for(op):
        return None
    rewriter.covers(inner)
    axes = tuple(sorted(inner.axes[axis] for axis in op.axes))
    return rewriter.emit(tensor.Permute, rewriter.emit(tensor.Flip, inner.x, axes), inner.axes)


@rewrite(tensor.Slice)
def slice_before_reduction(op: tensor.Slice, rewriter: Rewriter) -> AnyValue | None:
    """slice(reduce(x)) -> reduce(slice(x)), when nothing else reads it"""
    inner = op.x.op
    if not isinstance(inner, Reduction) or len(op.x.uses) > 1:
        return None
    rewriter.covers(inner)
    kept = [axis for axis in range(len(inner.x.shape)) if axis not in inner.axes]
    size: list[Size] = [*inner.x.shape]
    start: list[Size] = [0 for _ in size]
    step = [1 for _ in size]
    for place, axis in enumerate(kept):
        start[axis], size[axis], step[axis] = op.start[place], op.size[place], op.step[place]
    part = rewriter.emit(tensor.Slice, inner.x, tuple(start), tuple(size), tuple(step))
    return rewriter.emit(inner.__class__, part, axes=inner.axes)


@rewrite(tensor.Contract)
def contract_permuted(op: tensor.Contract, rewriter: Rewriter) -> AnyValue | None:
    """contract(permute(x), y) -> contract(x, y), when the axes that are left keep their order"""
    for side, (batch, summed) in enumerate(
        [(op.left_batch, op.left_contract), (op.right_batch, op.right_contract)]
    ):
        inner = op.operands[side].op
        if not isinstance(inner, tensor.Permute):
            continue
        free = [inner.axes[axis] for axis in other_axes(len(inner.axes), batch, summed)]
        if free != sorted(free):
            continue
        rewriter.covers(inner)
        names = ("right", "right_batch", "right_contract") if side else _LEFT
        moved = [tuple([inner.axes[axis] for axis in axes]) for axes in (batch, summed)]
        named = dict(zip(names, (inner.x, *moved), strict=True))
        return rewriter.emit(tensor.Contract, **_fields(op) | named)
    return None


def _fields(op: tensor.Contract) -> dict[str, Any]:
    """What a contraction is made of."""
    sides = {
        "left": op.left, "left_batch": op.left_batch, "left_contract": op.left_contract,
        "right": op.right, "right_batch": op.right_batch, "right_contract": op.right_contract,
    }  # fmt: skip
    return {**sides, "dtype": op.dtype}


@rewrite(tensor.Checkpoint)
def run_checkpoint(op: tensor.Checkpoint, rewriter: Rewriter) -> tuple[AnyValue, ...] | None:
    """checkpoint(x) {f} -> f(x), unless it runs again, apart from what was computed before"""
    return None if op.again else inline(op.body, op.arguments, rewriter)


@rewrite(tensor.CustomVjp)
def run_primal(op: tensor.CustomVjp, rewriter: Rewriter) -> tuple[AnyValue, ...]:
    """custom_vjp(x) {f, …} -> f(x)"""
    return inline(op.primal, op.arguments, rewriter)


def is_pushed(func: Func) -> bool:
    """Whether there is anything for these rewrites."""
    return any(isinstance(op, PUSHED) for op in func.body)


def _only_for(op: Moving) -> bool:
    """Whether what an op moves is read by nothing but slices, or by the op alone."""
    readers = op.x.uses
    return len(readers) == 1 or all(isinstance(each, tensor.Slice) for each in readers)


def _ends_contraction(op: Op) -> bool:
    """Whether a map computes from a contraction that nothing else reads: then the kernel of that
    does the map on the way, and parts of what it makes are read from memory in any case."""
    pending, seen = [op], 0
    while pending and seen < MOST_OPS_BEHIND:
        seen += 1
        for operand in pending.pop().operands:
            maker = operand.op
            if len(operand.uses) > 1 or maker is None:
                continue
            if isinstance(maker, tensor.Contract):
                return True
            if isinstance(maker, MAPS):
                pending.append(_as_tensor_op(maker))
    return False


def _again(op: Moving, rewriter: Rewriter, x: AnyValue) -> AnyValue:
    """The same part of another value of the same shape."""
    return rebuilt(op, rewriter, (x,))[0]


def _as_tensor_op(op: Op) -> Any:
    return op


PUSHED = (tensor.Slice, tensor.Flip, tensor.Contract, tensor.Checkpoint, tensor.CustomVjp)
PUSH = Rules(
    VIEWS, WINDOWS, move_before_map, slice_before_broadcast, slice_before_permute,
    flip_before_permute, slice_before_reduction, contract_permuted, run_checkpoint,
    run_primal,
)  # fmt: skip
