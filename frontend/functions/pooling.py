"""Pooling: images made smaller by the largest, or the mean, of what a moving window sees.

Comes in: images [N, C, space…]. Goes out: images of the same channels, with one number a window.
Never: a window of several axes: these are taken one after the other, the last one first; only the
mean of whole axes is taken of all of them at once, which is quicker.
"""

from __future__ import annotations

from math import prod as product
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir import dtypes as ir
from ...ir import tensor as ops
from ...ir.payloads import Number, payload
from ...ir.tensor.order import least
from ...ir.tensor.windows import spread
from ..errors import ArgumentError, ShapeError, fail
from ..handle import wrap
from ..node import Node, record
from ..unseen import looked_at
from .common import as_node, cast_node, filled, number_like, promote, refuse_dtype
from .creation import asarray
from .elementwise import maximum, minimum
from .indexing import take
from .logic import where
from .moving import Combining, Windows, combined, split
from .reductions import mean
from .space import Sizes, around, each_axis, refuse_no_place

if TYPE_CHECKING:
    from ..tensor import Tensor


def max_pool(
    x: Any, /, window: Any, *, stride: Any = None, padding: Any = 0, dilation: Any = 1
) -> Tensor:
    """The largest element of each window; NaN if any is; of zeros, one of either sign.

    x is [N, C, space…]. The window's size, the `stride` from one to the next, which is that size
    unless stated, and the `dilation` from one element to the next are one number, or one for each
    axis of space. What `padding` adds, as for `convolve`, is never the largest. The derivative is
    that of the first of the largest elements, or of the first NaN. A window of nothing but -inf, or
    of the least number of a dtype without it, has derivative 0 if it begins in padding.
    """
    node = as_node(x, "max_pool")
    dtype = node.type.dtype
    if dtype not in ir.REALS:
        refuse_dtype("max_pool", dtype, ir.REALS, x)
    largest = Combining(_larger, _largest, payload(least(dtype.storage), dtype))
    for windows in _windows("max_pool", node, window, stride, padding, dilation):
        node = combined(node, windows, largest)
    return wrap(node)


def mean_pool(
    x: Any, /, window: Any, *, stride: Any = None, padding: Any = 0, count_padding: bool = True
) -> Tensor:
    """The mean of each window, summed in at least float32 and rounded once.

    x is [N, C, space…]. The window's size, and the `stride` from one to the next, which is that
    size unless stated, are one number, or one for each axis of space. The zeros that `padding`
    adds, as for `convolve`, count as elements, unless `count_padding` is false.
    """
    (node,) = promote("mean_pool", x, among=ir.FLOATS, floats=True)
    dtype, every = node.type.dtype, _windows("mean_pool", node, window, stride, padding, 1)
    node = cast_node(node, dtype.accumulator)
    for windows in every:
        node = combined(node, windows, _summing(node))
    if count_padding:
        count = number_like(product([windows.size for windows in every]), node)
    else:
        count = _counted(every, node)
    return wrap(cast_node(record(ops.Divide, (node, count)), dtype))


def adaptive_mean_pool(x: Any, /, size: Any) -> Tensor:
    """The means of windows of about one size, of which there are `size` along each axis of space.

    x is [N, C, space…], and `size` one number, or one for each axis. Along an axis of n elements
    window i has those from i * n / size, rounded down, to (i + 1) * n / size, rounded up.
    """
    name = "adaptive_mean_pool"
    (node,) = promote(name, x, among=ir.FLOATS, floats=True)
    dtype, sizes = node.type.dtype, _space(name, node)
    counts = each_axis(name, "size", size, len(sizes))
    node = cast_node(node, dtype.accumulator)
    whole = tuple([axis for axis, count in enumerate(counts, 2) if count == 1])
    if whole:
        node = mean(wrap(node), axis=whole, keepdims=True).node
    for axis, count in reversed([*enumerate(counts, 2)]):
        if count > 1:
            node = _means(name, node, axis, count)
    return wrap(cast_node(node, dtype))


def _space(name: str, node: Node) -> Sizes:
    """The sizes of the axes of space."""
    if len(node.type.shape) < 3:
        hint = "two axes stand before those of space; `x[None]` is a batch of one image"
        fail(ShapeError, name, "takes images [N, C, space…]", wrap(node), hint=hint)
    return node.type.shape[2:]


def _windows(
    name: str, node: Node, window: Any, stride: Any, padding: Any, dilation: Any
) -> list[Windows]:
    """The windows along each axis of space, the last axis first."""
    sizes = _space(name, node)
    counts = each_axis(name, "window", window, len(sizes))
    steps = counts if stride is None else each_axis(name, "stride", stride, len(sizes))
    apart = each_axis(name, "dilation", dilation, len(sizes))
    spans = tuple(map(spread, counts, apart))
    low, high = around(name, padding, spans, steps)
    for span, *sides in zip(spans, low, high, strict=True):
        if any([isinstance(added, int) and added >= span for added in sides]):
            problem = f"`padding` is {sides}, and a window of {span} would see nothing else"
            fail(ArgumentError, name, problem, wrap(node), hint="give less padding than that")
    refuse_no_place(name, "window", sizes, spans, (low, high), wrap(node))
    each = zip(sizes, counts, steps, apart, low, high, strict=True)
    return [Windows(axis, *of_axis) for axis, of_axis in enumerate(each, 2)][::-1]


def _larger(first: Node, second: Node) -> Node:
    """The first if it is NaN, or at least the second; else the second, which may be NaN."""
    stays = record(ops.LessEqual, (second, first))
    if first.type.dtype in ir.FLOATS:
        stays = record(ops.BitOr, (stays, record(ops.IsNan, (first,))))
    return record(ops.Select, (stays, first, second))


def _largest(node: Node, axis: int) -> Node:
    """The first of the largest along an axis."""
    shape, dtype = node.type.shape, node.type.dtype
    others = tuple([each for each in range(len(shape)) if each != axis])
    found = record(ops.ArgMaximum, (node,), (axis, ir.i64))
    first = record(ops.Broadcast, (found,), (shape, others))
    here = record(ops.Equal, (record(ops.Iota, (), (shape, axis, ir.i64)), first))
    alone = record(ops.Select, (here, node, filled(0, shape, dtype)))
    return record(ops.ReduceSum, (alone,), ((axis,),))


def _summing(node: Node) -> Combining:
    return Combining(_sum, _total, Number(0.0, node.type.dtype))


def _sum(first: Node, second: Node) -> Node:
    return record(ops.Add, (first, second))


def _total(node: Node, axis: int) -> Node:
    return record(ops.ReduceSum, (node,), ((axis,),))


def _counted(every: list[Windows], like: Node) -> Node:
    """How many elements of x there are in each window."""
    total = filled(1, like.type.shape, like.type.dtype)
    for windows in every:
        number = wrap(record(ops.Iota, (), ((windows.places,), 0, ir.i64)))
        first = number * windows.stride - windows.before
        inside = minimum(first + windows.size, windows.extent) - maximum(first, 0)
        counts = cast_node(inside.node, like.type.dtype)
        wide = record(ops.Broadcast, (counts,), (like.type.shape, (windows.axis,)))
        total = record(ops.Multiply, (total, wide))
    return total


def _means(name: str, node: Node, axis: int, count: int) -> Node:
    """The means of `count` windows along an axis, which they cover."""
    size = looked_at(node.type.shape[axis])
    if not isinstance(size, int) or size == 0:
        problem = f"axis {axis} has {size} elements, which are not split into {count} windows"
        fail(ShapeError, name, problem, wrap(node), hint="the size of an axis is known, and not 0")
    if size % count == 0:
        length = size // count
        total = combined(node, Windows(axis, size, length, length), _summing(node))
        return record(ops.Divide, (total, number_like(length, total)))
    first = np.arange(count) * size // count
    end = (np.arange(1, count + 1) * size + count - 1) // count
    places = first[:, None] + np.arange(np.max(end - first))
    taken = take(wrap(node), np.minimum(places, size - 1).ravel(), axis).node
    elements = wrap(split(taken, axis, places.shape))
    behind = (1,) * (len(node.type.shape) - axis - 1)
    inside = asarray((places < end[:, None]).reshape(*places.shape, *behind))
    lengths = asarray((end - first).reshape(-1, *behind))
    total = wrap(_total(where(inside, elements, 0).node, axis + 1))
    return (total / lengths.astype(total.dtype)).node
