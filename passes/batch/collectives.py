"""Collectives between lanes: what they exchange lies along an axis of one tensor.

Comes in: a collective along the axis that the lanes are, and the operand of all lanes. Goes out:
what each lane gets, along axis 0; or what all get, without that axis.
Never: a collective along another axis; those are batched by the rules in their classes.
"""

from collections.abc import Callable

import numpy as np

from ...ir import tensor
from ...ir.builder import Builder
from ...ir.dims import Size, ceil_div
from ...ir.dtypes import i64
from ...ir.errors import Unmet, require
from ...ir.payloads import payload
from ...ir.tensor.base import Values
from ...ir.tensor.batching import merged, parted
from ...ir.tensor.collectives import Exchange, Reduction
from ...ir.tensor.indexing import Outside
from ...ir.tensor.rules import with_axis
from ...ir.values import AnyValue, Op

SAME_FOR_ALL = (tensor.AllReduce, tensor.AllGather)
"""Those that give every lane the same."""

REDUCE: dict[Reduction, type[tensor.reduce.Reduction]] = {
    Reduction.SUM: tensor.ReduceSum,
    Reduction.PRODUCT: tensor.ReduceProduct,
    Reduction.MAXIMUM: tensor.ReduceMaximum,
    Reduction.MINIMUM: tensor.ReduceMinimum,
}


def between_lanes(op: Op, axis_name: str | None) -> bool:
    """Whether an op is a collective along the axis that the lanes are."""
    return isinstance(op, Exchange | tensor.AxisIndex) and op.axis_name == axis_name


def exchanged(op: Op, builder: Builder, operands: Values, size: Size) -> AnyValue:
    """What becomes of the result of such an op, whose operands are those of all lanes."""
    count = getattr(op, "count", size)
    require(count == size, f"this is for {count} devices, and there are {size} lanes")
    return RULES[op.__class__](op, builder, *operands, size)


def all_reduce(op: tensor.AllReduce, builder: Builder, x: AnyValue, size: Size) -> AnyValue:
    """Lanes are an axis to reduce."""
    return builder.emit(REDUCE[op.reduction], x, axes=(0,))


def all_gather(op: tensor.AllGather, builder: Builder, x: AnyValue, size: Size) -> AnyValue:
    """Lanes are the outer part of the axis."""
    return merged(builder, with_axis(builder, x, 0, op.axis), op.axis)


def reduce_scatter(op: tensor.ReduceScatter, builder: Builder, x: AnyValue, size: Size) -> AnyValue:
    """The outer part of the axis becomes the lanes."""
    total = builder.emit(REDUCE[op.reduction], x, axes=(0,))
    parts = parted(builder, total, op.axis, (op.count, op.result.shape[op.axis]))
    return with_axis(builder, parts, op.axis, 0)


def all_to_all(op: tensor.AllToAll, builder: Builder, x: AnyValue, size: Size) -> AnyValue:
    """The outer part of one axis becomes the lanes, and these the outer part of another."""
    split, concat = op.split_axis, op.concat_axis
    part = ceil_div(op.x.shape[split], op.count)
    parts = parted(builder, x, split + 1, (op.count, part))
    sent = with_axis(builder, parts, split + 1, 0)
    return merged(builder, with_axis(builder, sent, 1, concat + 1), concat + 1)


def collective_permute(
    op: tensor.CollectivePermute, builder: Builder, x: AnyValue, size: Size
) -> AnyValue:
    """Each lane reads its source, or zeros."""
    largest = max((place for pair in op.pairs for place in pair), default=0)
    if not isinstance(size, int):
        raise Unmet(f"it has to be known how many lanes there are, not {size}")
    require(largest < size, f"there is no lane {largest} among {size}")
    sources = np.full((size, 1), -1, np.int64)
    for source, target in op.pairs:
        sources[target] = source
    indices = builder.emit(tensor.Constant, payload(sources, i64))
    return builder.emit(tensor.Gather, x, indices, axes=(0,), outside=Outside.ZERO)


def axis_index(op: tensor.AxisIndex, builder: Builder, size: Size) -> AnyValue:
    """Counts the lanes."""
    return builder.emit(tensor.Iota, shape=(size,), axis=0, dtype=i64)


RULES: dict[type[Op], Callable[..., AnyValue]] = {
    tensor.AllReduce: all_reduce,
    tensor.AllGather: all_gather,
    tensor.ReduceScatter: reduce_scatter,
    tensor.AllToAll: all_to_all,
    tensor.CollectivePermute: collective_permute,
    tensor.AxisIndex: axis_index,
}
