"""Rewrites of reductions and scans that keep every bit.

Comes in: reductions along axes, scans along one. Goes out: fewer, or along fewer axes.
Never: a change to the order in which floats are added; only maxima, minima, bits and integers,
whose order does not matter, are merged.
"""

from ...ir import tensor
from ...ir.dtypes import BITS
from ...ir.rewriter import Rewriter, Rules, rewrite
from ...ir.tensor.arg_reduce import ArgReduction
from ...ir.tensor.reduce import Reduction
from ...ir.tensor.scan import Scan
from ...ir.values import AnyValue
from .patterns import full, made_by

LATTICE = (tensor.ReduceMaximum, tensor.ReduceMinimum, tensor.ReduceAnd, tensor.ReduceOr)


def _any_order(op: Reduction) -> bool:
    return isinstance(op, LATTICE) or op.x.dtype in BITS


@rewrite(Reduction)
def reduce_nothing(op: Reduction, rewriter: Rewriter) -> AnyValue | None:
    """reduce(x) over no axes -> x, but for sums of floats, where -0.0 becomes 0.0"""
    sums = isinstance(op, tensor.ReduceSum) and op.x.dtype not in BITS
    return op.x if not op.axes and not sums else None


@rewrite(Reduction)
def reduce_unit_axes(op: Reduction, rewriter: Rewriter) -> AnyValue | None:
    """reduce(x) over axes of size 1 -> reshape(x), where the order does not matter"""
    if not _any_order(op) or any(op.x.shape[axis] != 1 for axis in op.axes):
        return None
    return rewriter.emit(tensor.Reshape, op.x, op.result.shape)


@rewrite(Reduction)
def reduce_twice(op: Reduction, rewriter: Rewriter) -> AnyValue | None:
    """reduce(reduce(x)) -> reduce(x) over both axes, where the order does not matter"""
    inner = made_by(op.x, op.__class__)
    if inner is None or not _any_order(op):
        return None
    left = [axis for axis in range(len(inner.x.shape)) if axis not in inner.axes]
    axes = sorted((*inner.axes, *(left[axis] for axis in op.axes)))
    rewriter.covers(inner)
    return rewriter.emit(op.__class__, inner.x, tuple(axes))


@rewrite(Reduction)
def reduce_permuted(op: Reduction, rewriter: Rewriter) -> AnyValue | None:
    """reduce(permute(x)) -> permute(reduce(x)), where the order does not matter"""
    inner = made_by(op.x, tensor.Permute)
    if inner is None or not _any_order(op):
        return None
    rewriter.covers(inner)
    axes = sorted(inner.axes[axis] for axis in op.axes)
    reduced = rewriter.emit(op.__class__, inner.x, tuple(axes))
    kept = [axis for place, axis in enumerate(inner.axes) if place not in op.axes]
    order = tuple(sorted(kept).index(axis) for axis in kept)
    return rewriter.emit(tensor.Permute, reduced, order)


@rewrite(Scan)
def scan_unit_axis(op: Scan, rewriter: Rewriter) -> AnyValue | None:
    """cumulative(x) along an axis of size 1 -> x, where the order does not matter"""
    lattice = isinstance(op, tensor.CumulativeMaximum | tensor.CumulativeMinimum)
    unit = op.x.shape[op.axis] == 1
    return op.x if unit and (lattice or op.x.dtype in BITS) else None


@rewrite(ArgReduction)
def place_on_unit_axis(op: ArgReduction, rewriter: Rewriter) -> AnyValue | None:
    """arg_maximum(x) along an axis of size 1 -> 0"""
    return full(rewriter, 0, op.result.type) if op.x.shape[op.axis] == 1 else None


REDUCTIONS = Rules(
    reduce_nothing, reduce_unit_axes, reduce_twice, reduce_permuted, scan_unit_axis,
    place_on_unit_axis,
)  # fmt: skip
