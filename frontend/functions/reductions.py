"""Many elements made one: sums, extremes, averages, tests, and running totals.

Comes in: tensors. Goes out: tensors without the axes reduced, or with these of size 1.
Never: narrow floats rounded on the way: averages and variances are computed in at least f32.
"""

from __future__ import annotations

from math import prod as product
from typing import TYPE_CHECKING, Any

from ...ir import dtypes as ir
from ...ir import tensor as ops
from ...ir.dims import Size
from ..errors import ArgumentError, ShapeError, fail
from ..handle import wrap
from ..node import Node, record
from .common import (
    as_axes,
    as_axis,
    as_integer,
    as_ir_dtype,
    as_node,
    as_real,
    broadcast_node,
    cast_node,
    either,
    filled,
    not_negative,
    number_like,
    promote,
    refuse_dtype,
)
from .manipulation import concat, part, reshaped

if TYPE_CHECKING:
    from ..tensor import Tensor

INDEX = ir.i64


def reduce(op: Any, node: Node, axes: tuple[int, ...], keepdims: bool) -> Node:
    """One of the ops that reduce, along axes in any order."""
    made = record(op, (node,), (tuple(sorted(axes)),)) if axes else node
    return kept(made, node, axes) if keepdims else made


def kept(reduced: Node, node: Node, axes: tuple[int, ...]) -> Node:
    """A reduced node with its axes of size 1 again."""
    shape = tuple([1 if at in axes else size for at, size in enumerate(node.type.shape)])
    return reshaped(reduced, shape)


def is_kept(name: str, keepdims: Any, keepdim: Any) -> bool:
    """Whether reduced axes stay with size 1, by either spelling."""
    given = either(keepdims, keepdim, False, name, "keepdims, keepdim")
    try:
        return bool(given)
    except ValueError:
        fail(ArgumentError, name, "keepdims is True or False", given)


def _arguments(
    name: str, x: Any, axis: Any, dim: Any, keepdims: Any, keepdim: Any
) -> tuple[Node, tuple[int, ...], bool]:
    node = as_node(x, name)
    axes = as_axes(either(axis, dim, None, name, "axis, dim"), len(node.type.shape), name)
    return node, axes, is_kept(name, keepdims, keepdim)


def _summed(name: str, node: Node, dtype: Any) -> Node:
    """The node in the dtype in which it is added up: small integers are widened."""
    own = node.type.dtype
    default = own
    if own in ir.SIGNED or own is ir.boolean:
        default = ir.i64
    elif own in ir.UNSIGNED:
        default = ir.u64
    wanted = as_ir_dtype(dtype, default)
    if wanted not in ir.NUMBERS:
        refuse_dtype(name, wanted, ir.NUMBERS)
    return cast_node(node, wanted)


def sum(
    x: Any, /, axis: Any = None, dtype: Any = None, keepdims: Any = None, *, dim: Any = None,
    keepdim: Any = None,
) -> Tensor:  # fmt: skip
    """The sum of the elements; of none, 0."""
    node, axes, keep = _arguments("sum", x, axis, dim, keepdims, keepdim)
    return wrap(reduce(ops.ReduceSum, _summed("sum", node, dtype), axes, keep))


def prod(
    x: Any, /, axis: Any = None, dtype: Any = None, keepdims: Any = None, *, dim: Any = None,
    keepdim: Any = None,
) -> Tensor:  # fmt: skip
    """The product of the elements; of none, 1."""
    node, axes, keep = _arguments("prod", x, axis, dim, keepdims, keepdim)
    return wrap(reduce(ops.ReduceProduct, _summed("prod", node, dtype), axes, keep))


def max(
    x: Any, /, axis: Any = None, keepdims: Any = None, *, dim: Any = None, keepdim: Any = None
) -> Tensor:
    """The largest element; NaN if any is."""
    return _extreme(ops.ReduceMaximum, "max", x, axis, dim, keepdims, keepdim)


def min(
    x: Any, /, axis: Any = None, keepdims: Any = None, *, dim: Any = None, keepdim: Any = None
) -> Tensor:
    """The smallest element; NaN if any is."""
    return _extreme(ops.ReduceMinimum, "min", x, axis, dim, keepdims, keepdim)


def _extreme(op: Any, name: str, x: Any, *rest: Any) -> Tensor:
    node, axes, keep = _arguments(name, x, *rest)
    _ordered(name, node)
    if 0 in [node.type.shape[axis] for axis in axes]:
        fail(ShapeError, name, "an empty axis has no extreme element", x)
    return wrap(reduce(op, node, axes, keep))


def any(
    x: Any, /, axis: Any = None, keepdims: Any = None, *, dim: Any = None, keepdim: Any = None
) -> Tensor:
    """Whether any element is true, that is, not 0."""
    node, axes, keep = _arguments("any", x, axis, dim, keepdims, keepdim)
    return wrap(reduce(ops.ReduceOr, cast_node(node, ir.boolean), axes, keep))


def all(
    x: Any, /, axis: Any = None, keepdims: Any = None, *, dim: Any = None, keepdim: Any = None
) -> Tensor:
    """Whether all elements are true, that is, not 0."""
    node, axes, keep = _arguments("all", x, axis, dim, keepdims, keepdim)
    return wrap(reduce(ops.ReduceAnd, cast_node(node, ir.boolean), axes, keep))


def count_nonzero(
    x: Any, /, axis: Any = None, keepdims: Any = None, *, dim: Any = None, keepdim: Any = None
) -> Tensor:
    """How many elements are not 0."""
    node, axes, keep = _arguments("count_nonzero", x, axis, dim, keepdims, keepdim)
    counted = cast_node(cast_node(node, ir.boolean), INDEX)
    return wrap(reduce(ops.ReduceSum, counted, axes, keep))


def mean(
    x: Any, /, axis: Any = None, keepdims: Any = None, *, dtype: Any = None, dim: Any = None,
    keepdim: Any = None,
) -> Tensor:  # fmt: skip
    """The average of the elements, a float even of integers; of none, NaN."""
    node, axes, keep = _arguments("mean", x, axis, dim, keepdims, keepdim)
    node = _inexact("mean", node, dtype)
    wide = cast_node(node, node.type.dtype.accumulator)
    return wrap(cast_node(_mean(wide, axes, keep), node.type.dtype))


def _inexact(name: str, node: Node, dtype: Any = None) -> Node:
    """Floats as they are, integers as the default floats; or all as the dtype asked for."""
    if dtype is None:
        return promote(name, wrap(node), floats=True)[0]
    wanted = as_ir_dtype(dtype, node.type.dtype)
    if wanted not in ir.INEXACT:
        refuse_dtype(name, wanted, ir.INEXACT, wrap(node))
    return cast_node(node, wanted)


def _mean(node: Node, axes: tuple[int, ...], keepdims: bool) -> Node:
    total = reduce(ops.ReduceSum, node, axes, keepdims)
    return record(ops.Divide, (total, number_like(_count(node, axes), total)))


def _count(node: Node, axes: tuple[int, ...]) -> Size:
    """How many elements are reduced to one."""
    return product([node.type.shape[axis] for axis in axes])


def var(
    x: Any, /, axis: Any = None, correction: float = 0.0, keepdims: Any = None, *,
    dim: Any = None, keepdim: Any = None,
) -> Tensor:  # fmt: skip
    """The average squared distance from the average, over the count less `correction`."""
    node, axes, keep = _arguments("var", x, axis, dim, keepdims, keepdim)
    node = _inexact("var", node)
    less = as_real(correction, "var", "the correction")
    return wrap(cast_node(_variance(node, axes, less, keep), node.type.dtype.real))


def _variance(node: Node, axes: tuple[int, ...], correction: float, keepdims: bool) -> Node:
    """The variance, in the wide dtype."""
    wide = cast_node(node, node.type.dtype.accumulator)
    center = broadcast_kept(_mean(wide, axes, True), wide)
    apart = record(ops.Subtract, (wide, center))
    if apart.type.dtype in ir.COMPLEXES:
        length = record(ops.Absolute, (apart,))
        squares = record(ops.Multiply, (length, length))
    else:
        squares = record(ops.Multiply, (apart, apart))
    total = reduce(ops.ReduceSum, squares, axes, keepdims)
    divisor = number_like(_count(node, axes), total)
    if correction:
        zero = filled(0.0, total.type.shape, total.type.dtype)
        less = filled(correction, total.type.shape, total.type.dtype)
        divisor = record(ops.Maximum, (record(ops.Subtract, (divisor, less)), zero))
    return record(ops.Divide, (total, divisor))


def broadcast_kept(node: Node, like: Node) -> Node:
    """A node whose reduced axes have size 1, stretched to the shape it was reduced from."""
    return broadcast_node(node, like.type.shape)


def std(
    x: Any, /, axis: Any = None, correction: float = 0.0, keepdims: Any = None, *,
    dim: Any = None, keepdim: Any = None,
) -> Tensor:  # fmt: skip
    """The square root of the variance; its derivative where all elements are equal is 0."""
    node, axes, keep = _arguments("std", x, axis, dim, keepdims, keepdim)
    node = _inexact("std", node)
    less = as_real(correction, "std", "the correction")
    root = root_of(_variance(node, axes, less, keep), 2)
    return wrap(cast_node(root, node.type.dtype.real))


def root_of(node: Node, degree: float) -> Node:
    """The root of what is not negative, with a derivative of 0 at 0."""
    zero, one = (filled(value, node.type.shape, node.type.dtype) for value in (0.0, 1.0))
    none = record(ops.Equal, (node, zero))
    safe = record(ops.Select, (none, one, node))
    if degree == 2:
        root = record(ops.SquareRoot, (safe,))
    else:
        exponent = filled(1 / degree, node.type.shape, node.type.dtype)
        root = record(ops.Power, (safe, exponent))
    return record(ops.Select, (none, zero, root))


def logsumexp(
    x: Any, /, axis: Any = None, keepdims: Any = None, *, dim: Any = None, keepdim: Any = None
) -> Tensor:
    """log(sum(exp(x))), without overflow on the way; of none, -inf."""
    node, axes, keep = _arguments("logsumexp", x, axis, dim, keepdims, keepdim)
    (node,) = promote("logsumexp", wrap(node), among=ir.FLOATS, floats=True)
    wide = cast_node(node, node.type.dtype.accumulator)
    largest = maximum_kept(wide, axes)
    zero = filled(0.0, largest.type.shape, largest.type.dtype)
    shift = record(ops.Select, (record(ops.IsFinite, (largest,)), largest, zero))
    powers = record(ops.Exp, (record(ops.Subtract, (wide, broadcast_kept(shift, wide))),))
    total = reduce(ops.ReduceSum, powers, axes, True)
    result = record(ops.Add, (record(ops.Log, (total,)), shift))
    if not keep:
        result = reshaped(result, tuple(
            [size for at, size in enumerate(node.type.shape) if at not in axes]
        ))  # fmt: skip
    return wrap(cast_node(result, node.type.dtype))


def maximum_kept(node: Node, axes: tuple[int, ...]) -> Node:
    """The largest along the axes, which stay with size 1.

    No derivative flows through it: it only keeps powers from overflowing.
    """
    return record(ops.StopGradient, (reduce(ops.ReduceMaximum, node, axes, True),))


def argmax(
    x: Any, /, axis: Any = None, keepdims: Any = None, *, dim: Any = None, keepdim: Any = None
) -> Tensor:
    """The place of the first of the largest along an axis, or among all elements."""
    return _place(ops.ArgMaximum, "argmax", x, axis, dim, keepdims, keepdim)


def argmin(
    x: Any, /, axis: Any = None, keepdims: Any = None, *, dim: Any = None, keepdim: Any = None
) -> Tensor:
    """The place of the first of the smallest along an axis, or among all elements."""
    return _place(ops.ArgMinimum, "argmin", x, axis, dim, keepdims, keepdim)


def _place(op: Any, name: str, x: Any, axis: Any, dim: Any, keepdims: Any, keepdim: Any) -> Tensor:
    axis = either(axis, dim, None, name, "axis, dim")
    keep = is_kept(name, keepdims, keepdim)
    node = _ordered(name, as_node(x, name))
    rank = len(node.type.shape)
    flat = node if axis is not None else reshaped(node, (product(node.type.shape),))
    place = 0 if axis is None else as_axis(axis, rank, name)
    if flat.type.shape[place] == 0:
        fail(ShapeError, name, "an empty axis has no extreme element", x)
    found = record(op, (flat,), (place, INDEX))
    if not keep:
        return wrap(found)
    return wrap(kept(found, node, tuple(range(rank)) if axis is None else (place,)))


def cumulative_sum(
    x: Any, /, axis: Any = None, dtype: Any = None, include_initial: bool = False, *,
    dim: Any = None,
) -> Tensor:  # fmt: skip
    """The sum of each element and all before it; `include_initial` puts a 0 in front."""
    node, place = _scanned("cumulative_sum", x, axis, dim)
    first = 0 if include_initial else None
    return wrap(_scan(ops.CumulativeSum, _summed("cumulative_sum", node, dtype), place, first))


def cumulative_prod(
    x: Any, /, axis: Any = None, dtype: Any = None, include_initial: bool = False, *,
    dim: Any = None,
) -> Tensor:  # fmt: skip
    """The product of each element and all before it; `include_initial` puts a 1 in front."""
    node, place = _scanned("cumulative_prod", x, axis, dim)
    first = 1 if include_initial else None
    return wrap(_scan(ops.CumulativeProduct, _summed("cumulative_prod", node, dtype), place, first))


def cumulative_max(x: Any, /, axis: Any = None, *, dim: Any = None) -> Tensor:
    """The largest of each element and all before it."""
    node, place = _scanned("cumulative_max", x, axis, dim)
    return wrap(_scan(ops.CumulativeMaximum, _ordered("cumulative_max", node), place, None))


def cumulative_min(x: Any, /, axis: Any = None, *, dim: Any = None) -> Tensor:
    """The smallest of each element and all before it."""
    node, place = _scanned("cumulative_min", x, axis, dim)
    return wrap(_scan(ops.CumulativeMinimum, _ordered("cumulative_min", node), place, None))


def _ordered(name: str, node: Node) -> Node:
    """The node, of a dtype whose values have an order."""
    if node.type.dtype not in ir.ORDERED:
        refuse_dtype(name, node.type.dtype, ir.ORDERED, wrap(node))
    return node


def _scanned(name: str, x: Any, axis: Any, dim: Any) -> tuple[Node, int]:
    """The node and the axis of a scan; the axis may be left out where there is one."""
    node = as_node(x, name)
    rank = len(node.type.shape)
    axis = either(axis, dim, None, name, "axis, dim")
    if axis is None and rank != 1:
        fail(ArgumentError, name, "needs an axis where the tensor has not just one", x)
    return node, as_axis(0 if axis is None else axis, rank, name)


def _scan(op: Any, node: Node, axis: int, first: int | None) -> Node:
    made = record(op, (node,), (axis, False))
    if first is None:
        return made
    shape = node.type.shape
    dtype = node.type.dtype
    value = {ir.Kind.FLOAT: float, ir.Kind.COMPLEX: complex}.get(dtype.kind, int)(first)
    front = filled(value, (*shape[:axis], 1, *shape[axis + 1 :]), dtype)
    return record(ops.Concat, (front, made), (axis,))


def diff(
    x: Any, /, axis: int = -1, n: int = 1, *, prepend: Any = None, append: Any = None
) -> Tensor:
    """Each element less the one before it, along an axis, `n` times."""
    node = as_node(x, "diff")
    place = as_axis(axis, len(node.type.shape), "diff")
    count = as_integer(n, "diff", "a number of differences")
    if count < 0:
        fail(ArgumentError, "diff", f"the number of differences is not negative, as {n} is", x)
    if count == 0:
        return wrap(node)
    parts = [each for each in (prepend, x, append) if each is not None]
    if len(parts) > 1:
        node = concat(parts, axis=place).node
    for _ in range(count):
        size = node.type.shape[place]
        if isinstance(size, int) and size == 0:
            return wrap(node)
        left = not_negative(size - 1)
        pair = (part(node, place, size - left, left), part(node, place, 0, left))
        op = ops.NotEqual if node.type.dtype is ir.boolean else ops.Subtract
        node = record(op, pair)
    return wrap(node)
