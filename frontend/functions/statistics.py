"""Statistics beyond averages: medians and other quantiles, covariances, correlations.

Comes in: tensors. Goes out: tensors of floats. Narrow floats are widened, and results rounded once.
Never: a value read; the places between which a quantile lies come from the size of the axis.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod as product
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir import dtypes as ir
from ...ir import tensor as ops
from ..errors import ArgumentError, ShapeError, fail, one_of
from ..handle import wrap
from ..node import Node, record
from .common import (
    as_axes,
    as_node,
    as_real,
    broadcast_node,
    cast_node,
    either,
    filled,
    number_like,
    refuse_dtype,
    to_common_dtype,
)
from .lists import read
from .manipulation import permuted, reshaped
from .matrices import adjoint, multiplied, transposed
from .products import diagonal
from .reductions import is_kept, reduce

if TYPE_CHECKING:
    from ..tensor import Tensor

METHODS = ("linear", "lower", "higher", "nearest", "midpoint")


def median(
    x: Any, /, axis: Any = None, keepdims: Any = None, *, dim: Any = None, keepdim: Any = None
) -> Tensor:
    """The element in the middle, in order, or the average of the two there; NaN if any is."""
    half = filled(0.5, (), ir.f64)
    reading = _axes("median", axis, dim, keepdims, keepdim)
    return _along("median", x, reading, lambda lines: _at(lines, half, "midpoint"))


def nanmedian(
    x: Any, /, axis: Any = None, keepdims: Any = None, *, dim: Any = None, keepdim: Any = None
) -> Tensor:
    """The median of the elements that are not NaN; NaN if there are none."""
    return _along("nanmedian", x, _axes("nanmedian", axis, dim, keepdims, keepdim), _middle)


def quantile(
    x: Any, q: Any, /, axis: Any = None, keepdims: Any = None, *, method: str = "linear",
    dim: Any = None, keepdim: Any = None,
) -> Tensor:  # fmt: skip
    """The number below which a share `q` of the elements lies; NaN if any is.

    Between two elements it is interpolated, or by `method` "lower", "higher", "nearest" (of equally
    near ones the even place) or "midpoint" one of them or their average. The axes of `q` come
    first. A share that is not between 0 and 1 is refused, or gives NaN if `q` is a tensor.
    """
    share = _share("quantile", q, 1)
    reading = _axes("quantile", axis, dim, keepdims, keepdim)
    return _along("quantile", x, reading, lambda lines: _at(lines, share, _method(method)))


def percentile(
    x: Any, q: Any, /, axis: Any = None, keepdims: Any = None, *, method: str = "linear",
    dim: Any = None, keepdim: Any = None,
) -> Tensor:  # fmt: skip
    """`quantile` with `q` counted in hundredths."""
    share = _share("percentile", q, 100)
    reading = _axes("percentile", axis, dim, keepdims, keepdim)
    return _along("percentile", x, reading, lambda lines: _at(lines, share, _method(method)))


def _method(method: str) -> str:
    """The name of a way to choose between two elements, checked."""
    return one_of("quantile", "method", method, METHODS)


def _axes(name: str, axis: Any, dim: Any, keepdims: Any, keepdim: Any) -> tuple[Any, bool]:
    """The axes asked for, and whether they stay with size 1."""
    keep = is_kept(name, keepdims, keepdim)
    return either(axis, dim, None, name, "axis, dim"), keep


def _along(name: str, x: Any, reading: tuple[Any, bool], find: Callable[[Node], Node]) -> Tensor:
    """What `find` makes of sorted lines: the elements along the axes, as one last axis."""
    (node,) = to_common_dtype(name, x, floats=True)
    dtype, shape = node.type.dtype, node.type.shape
    if dtype not in ir.FLOATS:
        refuse_dtype(name, dtype, ir.FLOATS, x)
    axes = as_axes(reading[0], len(shape), name)
    found = find(_lines(cast_node(node, dtype.accumulator), axes))
    if reading[1]:
        first = found.type.shape[: len(found.type.shape) - len(shape) + len(axes)]
        sizes = [1 if at in axes else size for at, size in enumerate(shape)]
        found = reshaped(found, (*first, *sizes))
    return wrap(cast_node(found, dtype))


def _share(name: str, q: Any, whole: int) -> Node:
    """Shares, as f64; those that are known are checked to lie between 0 and the whole."""
    given = read(q, name, np.float64) if isinstance(q, int | float | list | tuple) else q
    if isinstance(given, np.ndarray) and not ((given >= 0) & (given <= whole)).all():
        fail(ArgumentError, name, f"a share lies between 0 and {whole}", q)
    node = cast_node(as_node(given, name), ir.f64)
    if whole == 1:
        return node
    return record(ops.Divide, (node, filled(float(whole), node.type.shape, ir.f64)))


def _lines(node: Node, axes: tuple[int, ...]) -> Node:
    """The elements along the axes as one last axis, in order."""
    shape = node.type.shape
    rest = tuple([at for at in range(len(shape)) if at not in axes])
    last = tuple([at for at in range(len(shape)) if at in axes])
    count = product([shape[at] for at in last])
    line = reshaped(permuted(node, (*rest, *last)), (*[shape[at] for at in rest], count))
    return record(ops.Sort, (line,), (len(rest), 1, False))


def _at(lines: Node, share: Node, method: str) -> Node:
    """The quantiles of sorted lines."""
    *rest, count = lines.type.shape
    shape, dtype = (*share.type.shape, *rest), lines.type.dtype
    nan = filled(float("nan"), shape, dtype)
    if count == 0:
        return nan
    place = record(ops.Multiply, (share, number_like(count - 1, share)))
    low, high = _neighbours(place, method)
    one, other = (_taken(lines, each) for each in (low, high))
    weight = filled(0.5, share.type.shape, ir.f64)
    if method == "linear":
        weight = record(ops.Subtract, (place, low))
    axes = tuple(range(len(share.type.shape)))
    weight = record(ops.Broadcast, (cast_node(weight, dtype),), (shape, axes))
    way = record(ops.Multiply, (weight, record(ops.Subtract, (other, one))))
    # An infinity less itself would be NaN, and so would be -inf and the infinite way from there.
    least = record(ops.Equal, (one, filled(-float("inf"), shape, dtype)))
    stays = record(ops.BitAnd, (least, record(ops.IsFinite, (other,))))
    stays = record(ops.BitOr, (stays, record(ops.Equal, (one, other))))
    between = record(ops.Select, (stays, one, record(ops.Add, (one, way))))
    last = _taken(lines, number_like(count - 1, share))
    valid = record(ops.BitAnd, _inside(share))
    if not isinstance(count, int):
        valid = record(ops.BitAnd, (valid, _is_any(number_like(count, share))))
    known = record(ops.Broadcast, (valid,), (shape, axes))
    found = record(ops.Select, (record(ops.IsNan, (last,)), nan, between))
    return record(ops.Select, (known, found, nan))


def _inside(share: Node) -> tuple[Node, Node]:
    """Whether shares are at least 0, and at most 1."""
    zero, one = (filled(each, share.type.shape, ir.f64) for each in (0.0, 1.0))
    return record(ops.LessEqual, (zero, share)), record(ops.LessEqual, (share, one))


def _neighbours(place: Node, method: str) -> tuple[Node, Node]:
    """The places between which a quantile lies; both are the same for methods that take one."""
    low, high = record(ops.Floor, (place,)), record(ops.Ceil, (place,))
    nearest = record(ops.RoundEven, (place,))
    pairs = {"lower": (low, low), "higher": (high, high), "nearest": (nearest, nearest)}
    return pairs.get(method, (low, high))


def _taken(lines: Node, places: Node) -> Node:
    """The elements at the places, of every line."""
    indices = reshaped(cast_node(places, ir.i64), (*places.type.shape, 1))
    last = len(lines.type.shape) - 1
    return record(ops.Gather, (lines, indices), ((last,), 0, _outside(lines)))


def _outside(lines: Node) -> ops.Outside:
    """What places outside of lines mean, which none are, unless there are no elements."""
    return ops.Outside.CLAMP if isinstance(lines.type.shape[-1], int) else ops.Outside.ZERO


def _is_any(count: Node) -> Node:
    """Whether counts are more than 0."""
    zero = filled(0, count.type.shape, count.type.dtype)
    return record(ops.Less, (zero, count))


def _middle(lines: Node) -> Node:
    """The median of each sorted line without its NaNs, which stand last."""
    shape = lines.type.shape
    last = len(shape) - 1
    nan = filled(float("nan"), shape[:-1], lines.type.dtype)
    if shape[last] == 0:
        return nan
    number = cast_node(record(ops.Equal, (lines, lines)), ir.i64)
    count = record(ops.ReduceSum, (number,), ((last,),))
    one, two = (filled(each, count.type.shape, ir.i64) for each in (1, 2))
    half = filled(0.5, shape[:-1], lines.type.dtype)
    parts: list[Node] = []
    for each in (record(ops.Subtract, (count, one)), count):
        place = reshaped(record(ops.Divide, (each, two)), (*shape[:-1], 1))
        found = record(ops.Gather, (lines, place), ((last,), last, _outside(lines)))
        parts.append(record(ops.Multiply, (found, half)))
    middle = record(ops.Add, tuple(parts))
    if isinstance(shape[last], int):
        return middle
    return record(ops.Select, (_is_any(count), middle, nan))


def cov(x: Any, /, *, rowvar: bool = True, correction: float = 1.0) -> Tensor:
    """How variables vary together: the average of the products of their distances from their
    averages, over the count less `correction`.

    Each row is a variable, each column an observation, or without `rowvar` the other way round.
    """
    wide, dtype = _variables("cov", x, rowvar)
    found = _covariance(wide, as_real(correction, "cov", "the correction"))
    shape = as_node(x, "cov").type.shape
    return wrap(cast_node(reshaped(found, ()) if len(shape) < 2 else found, dtype))


def corrcoef(x: Any, /, *, rowvar: bool = True) -> Tensor:
    """The correlations of variables: their covariances, over the root of both variances."""
    wide, dtype = _variables("corrcoef", x, rowvar)
    found = _covariance(wide, 0.0)
    variances = diagonal(wrap(found)).node
    last = len(found.type.shape) - 1
    if variances.type.dtype in ir.COMPLEXES:
        variances = record(ops.Real, (variances,))
    spread = cast_node(record(ops.SquareRoot, (variances,)), found.type.dtype)
    for axis in (last - 1, last):
        axes = (*range(last - 1), axis)
        by = record(ops.Broadcast, (spread,), (found.type.shape, axes))
        found = record(ops.Divide, (found, by))
    shape = as_node(x, "corrcoef").type.shape
    return wrap(cast_node(reshaped(found, ()) if len(shape) < 2 else found, dtype))


def _variables(name: str, x: Any, rowvar: bool) -> tuple[Node, ir.DType]:
    """Variables as rows, in a wide dtype."""
    (node,) = to_common_dtype(name, x, floats=True)
    dtype, shape = node.type.dtype, node.type.shape
    if not shape:
        fail(ShapeError, name, "takes a vector, or a matrix of variables and observations", x)
    if len(shape) == 1:
        node = reshaped(node, (1, *shape))
    elif not rowvar:
        node = transposed(node)
    return cast_node(node, dtype.accumulator), dtype


def _covariance(node: Node, correction: float) -> Node:
    """The covariances of rows."""
    last = len(node.type.shape) - 1
    total = reduce(ops.ReduceSum, node, (last,), True)
    count = number_like(node.type.shape[last], total)
    center = broadcast_node(record(ops.Divide, (total, count)), node.type.shape)
    apart = record(ops.Subtract, (node, center))
    products = multiplied(apart, adjoint(apart))
    divisor = number_like(node.type.shape[last], products)
    less = filled(correction, products.type.shape, products.type.dtype)
    return record(ops.Divide, (products, record(ops.Subtract, (divisor, less))))
