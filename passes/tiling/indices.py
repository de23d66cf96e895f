"""Indices that name places: which forms there are, and how they are loaded.

Comes in: a `tensor.gather` or `tensor.scatter`. Goes out: tiles of i64, or `Refused`.
Never: an error for an index outside; who wants one asks before the launch.
"""

from collections.abc import Sequence
from math import prod

from ...ir import tensor
from ...ir.attributes import Shape
from ...ir.dtypes import i64, u64
from ...ir.tensor.indexing import Outside
from ...ir.values import AnyValue
from .draft import Draft
from .space import Refused


def check_indices(op: tensor.Gather | tensor.Scatter) -> None:
    """Refuse all but places along neighbouring axes."""
    if not op.axes:
        raise Refused("indices along no axis")
    if op.axes != tuple(range(op.axes[0], op.axes[0] + len(op.axes))):
        raise Refused("indices along axes that are no neighbours, or in another order")
    if op.indices.dtype is u64:
        raise Refused("indices of u64")


def batch_of(op: tensor.Gather | tensor.Scatter) -> Shape:
    """The batch axes as one, or none."""
    return (prod(op.x.type.shape[: op.batch]),) if op.batch else ()


def before_of(op: tensor.Gather | tensor.Scatter) -> Shape:
    """The axes between the batch and those that are indexed as one, or none."""
    first = op.axes[0]
    return (prod(op.x.type.shape[op.batch : first]),) if first > op.batch else ()


def indexed_of(op: tensor.Gather | tensor.Scatter) -> Shape:
    """The axes along which there are indices."""
    return op.x.type.shape[op.axes[0] : op.axes[-1] + 1]


def index_tile(
    draft: Draft,
    op: tensor.Gather | tensor.Scatter,
    named: AnyValue,
    where: Sequence[AnyValue],
    axis: int,
    count: int,
) -> AnyValue:
    """The indices in `named` of `count` places from `where` on, along a gathered axis of x."""
    block = (1,) * (len(where) - 1) + (count, 1)
    column = draft.load(named, [*where, draft.size(axis)], *block)
    index = draft.cast(draft.reshape(column, count), i64)
    if op.outside is not Outside.CLAMP:
        return index
    ends = 0, indexed_of(op)[axis] - 1
    first, last = [draft.full(draft.size(each), count) for each in ends]
    return draft.greatest(draft.least(index, last), first)
