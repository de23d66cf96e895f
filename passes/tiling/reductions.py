"""Reductions as tiles that a loop carries.

Comes in: a reduction of the tensor floor, and the tiles that its operand becomes, one a round. Goes
out: the tiles to carry at first, those to carry on, and what is left of them after the loop.
Never: a loop, or a mask; where a tile sticks out, it holds what is `outside` of the reduction.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ir import tensor, tile
from ...ir.builder import Builder
from ...ir.dims import DEFAULT_MAXIMUM, interval
from ...ir.dtypes import FLOATS, DType, i32, i64
from ...ir.payloads import Number, payload
from ...ir.tensor import order
from ...ir.tensor.arg_reduce import ArgReduction
from ...ir.tensor.reduce import ExtremeReduction
from ...ir.values import AnyValue, Op
from .elementwise import is_nan

Binary, Reduce, Compare = tile.BinaryKind, tile.ReduceKind, tile.CompareKind
KINDS = {
    tensor.ReduceSum: (Binary.ADD, Reduce.SUM),
    tensor.ReduceProduct: (Binary.MULTIPLY, Reduce.PRODUCT),
    tensor.ReduceMaximum: (Binary.MAXIMUM, Reduce.MAXIMUM),
    tensor.ReduceMinimum: (Binary.MINIMUM, Reduce.MINIMUM),
    tensor.ReduceAnd: (Binary.BIT_AND, Reduce.AND),
    tensor.ReduceOr: (Binary.BIT_OR, Reduce.OR),
}


def outside(op: Any) -> Number:
    """What an element is that does not count, of the dtype of the operand."""
    dtype: DType = op.x.dtype
    if isinstance(op, tensor.ReduceMaximum | tensor.ArgMaximum):
        return payload(order.least(dtype.storage), dtype)
    if isinstance(op, tensor.ReduceMinimum | tensor.ArgMinimum):
        return payload(order.greatest(dtype.storage), dtype)
    if isinstance(op, tensor.ReduceAnd):
        return payload(np.invert(np.zeros((), dtype.storage)), dtype)
    if isinstance(op, tensor.ReduceProduct):
        return Number(1, dtype)
    return Number(_nothing(op) if dtype in FLOATS else _zero(dtype), dtype)


def first_carries(builder: Builder, op: Any, shape: tuple[int, ...], axis: int) -> list[AnyValue]:
    """What is carried into the first round; `axis` is the innermost reduced one of the tile."""
    start = outside(op)
    if not isinstance(op, ArgReduction):
        wide = sum_dtype(op)
        if wide is not start.dtype:
            start = payload(start.array.astype(wide.storage), wide)
        return [builder.emit(tile.Full, builder.emit(tile.Constant, start), shape=shape)]
    best = builder.emit(tile.Full, builder.emit(tile.Constant, start), shape=shape)
    return [best, builder.emit(tile.Iota, shape=shape, axis=axis, dtype=place_dtype(op))]


def carried_on(
    builder: Builder, op: Any, carries: Sequence[AnyValue], x: AnyValue, places: AnyValue | None
) -> list[AnyValue]:
    """What is carried out of a round whose elements are `x`; a search needs their `places`."""
    if not isinstance(op, ArgReduction):
        wide = sum_dtype(op)
        if wide is not x.dtype:
            x = builder.emit(tile.Cast, x, dtype=wide)
        return [builder.emit(tile.Binary, carries[0], x, kind=KINDS[op.__class__][0])]
    assert places is not None
    best, found = carries
    low, high = (best, x) if isinstance(op, tensor.ArgMaximum) else (x, best)
    if x.dtype in FLOATS:  # a NaN is beyond all numbers, and the first one stays
        within = builder.emit(tile.Compare, high, low, kind=Compare.LESS_EQUAL)
        beyond = builder.emit(tile.Unary, within, kind=tile.UnaryKind.BIT_NOT)
        known = builder.emit(tile.Compare, best, best, kind=Compare.EQUAL)
        better = builder.emit(tile.Binary, beyond, known, kind=Binary.BIT_AND)
    else:
        better = builder.emit(tile.Compare, low, high, kind=Compare.LESS)
    return [
        builder.emit(tile.Select, better, x, best),
        builder.emit(tile.Select, better, places, found),
    ]


def folded(builder: Builder, op: Any, x: AnyValue, axes: Sequence[int]) -> AnyValue:
    """The elements of a tile combined along axes, of which one place is left, in the dtype that is
    carried."""
    wide = sum_dtype(op)
    if wide is not x.dtype:
        x = builder.emit(tile.Cast, x, dtype=wide)
    shape: list[int] = [*x.type.shape]
    for axis in axes:
        shape[axis] = 1
    x = _reduced(builder, x, axes, KINDS[op.__class__][1])
    return x if x.type.shape == tuple(shape) else builder.emit(tile.Reshape, x, shape=tuple(shape))


def finished(
    builder: Builder, op: Any, carries: Sequence[AnyValue], axes: Sequence[int], wide: bool = False
) -> AnyValue:
    """The result, in the dtype of the operand or of the places, of what the last round carried, or
    if `wide` still in the dtype it is carried in; `axes` of the tile are reduced."""
    if not isinstance(op, ArgReduction):
        reduced = _reduced(builder, carries[0], axes, KINDS[op.__class__][1])
        same = wide or reduced.dtype is op.x.dtype
        return reduced if same else builder.emit(tile.Cast, reduced, dtype=op.x.dtype)
    best, found = carries
    largest = isinstance(op, tensor.ArgMaximum)
    kind = Reduce.MAXIMUM if largest else Reduce.MINIMUM
    whole: tuple[int, ...] = best.type.shape
    kept = tuple(axis for axis in range(len(whole)) if axis not in axes)
    extreme = _reduced(builder, best, axes, kind)
    everywhere = builder.emit(tile.Broadcast, extreme, shape=whole, axes=kept)
    chosen = builder.emit(tile.Compare, best, everywhere, kind=Compare.EQUAL)
    if best.dtype in FLOATS:
        chosen = builder.emit(tile.Binary, chosen, is_nan(builder, best), kind=Binary.BIT_OR)
    last = Number(int(np.iinfo(found.dtype.storage).max), found.dtype)
    never = builder.emit(tile.Full, builder.emit(tile.Constant, last), shape=whole)
    candidates = builder.emit(tile.Select, chosen, found, never)
    place = _reduced(builder, candidates, axes, Reduce.MINIMUM)
    same = place.dtype is op.dtype
    return place if same else builder.emit(tile.Cast, place, dtype=op.dtype)


def sum_dtype(op: Op) -> DType:
    """The dtype in which a reduction's tiles are carried: an extreme is one of the elements."""
    dtype: DType = op.operands[0].dtype
    return dtype if isinstance(op, ExtremeReduction) else dtype.accumulator


def place_dtype(op: ArgReduction) -> DType:
    """The dtype in which places are carried: the narrow one, which takes half the registers, if it
    counts as far as the axis goes."""
    return i32 if interval(op.x.type.shape[op.axis])[1] <= DEFAULT_MAXIMUM else i64


def _reduced(builder: Builder, x: AnyValue, axes: Sequence[int], kind: tile.ReduceKind) -> AnyValue:
    """The tile without the axes; one of size 1 is only left out."""
    shape: tuple[int, ...] = x.type.shape
    for axis in sorted(axes, reverse=True):
        if shape[axis] != 1:
            x = builder.emit(tile.Reduce, x, axis=axis, kind=kind)
    left = tuple(size for axis, size in enumerate(shape) if axis not in axes)
    return x if x.type.shape == left else builder.emit(tile.Reshape, x, shape=left)


def _nothing(op: Any) -> float:
    """What adds nothing: -0.0, for 0.0 would make a sum of nothing but -0.0 another zero; but the
    sum of no elements is 0.0."""
    may_be_empty = any(interval(op.x.type.shape[axis])[0] < 1 for axis in op.axes)
    return 0.0 if may_be_empty else -0.0


def _zero(dtype: DType) -> Any:
    return False if dtype.bits == 1 else 0
