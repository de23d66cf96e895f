"""How large vectors and matrices are.

Comes in: tensors. Goes out: lengths, real numbers. Narrow floats are summed in f32.
Never: an infinite derivative at 0: there the derivative of a length is 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...ir import dtypes as ir
from ...ir import tensor as ops
from ..errors import ArgumentError, ShapeError, fail, shown
from ..handle import wrap
from ..node import Node, record
from .common import as_axes, cast_node, either, filled, to_common_dtype
from .decompositions import singular_values
from .manipulation import permuted
from .matrices import as_matrices
from .reductions import is_kept, kept, reduce, root_of

if TYPE_CHECKING:
    from ..tensor import Tensor

INFINITY = float("inf")


def vector_norm(
    x: Any, /, *, axis: Any = None, keepdims: Any = None, ord: float = 2, dim: Any = None,
    keepdim: Any = None,
) -> Tensor:  # fmt: skip
    """The length of vectors along the axes: sum(|x|^ord)^(1/ord).

    inf means the largest |x|, -inf the least, and 0 how many elements are not 0.
    """
    name = "vector_norm"
    (node,) = to_common_dtype(name, x, floats=True)
    axes = as_axes(either(axis, dim, None, name, "axis, dim"), len(node.type.shape), name)
    keep = is_kept(name, keepdims, keepdim)
    return wrap(_length(name, node, axes, keep, ord))


def _length(name: str, node: Node, axes: tuple[int, ...], keep: bool, order: Any) -> Node:
    """The length along axes, rounded once."""
    if isinstance(order, bool) or not isinstance(order, int | float):
        fail(ArgumentError, name, f"ord is a number, not {shown(order)}", wrap(node))
    dtype = node.type.dtype
    wide = cast_node(node, dtype.accumulator)
    if order == 2:
        squares = reduce(ops.ReduceSum, _squares(wide), axes, keep)
        return cast_node(root_of(squares, 2), dtype.real)
    sizes = record(ops.Absolute, (wide,))
    if abs(order) == INFINITY:
        return cast_node(_extreme(name, sizes, axes, keep, order > 0), dtype.real)
    if order == 0:
        zero = filled(0.0, sizes.type.shape, sizes.type.dtype)
        counted = cast_node(record(ops.NotEqual, (sizes, zero)), sizes.type.dtype)
        return cast_node(reduce(ops.ReduceSum, counted, axes, keep), dtype.real)
    total = reduce(ops.ReduceSum, _power(sizes, float(order)), axes, keep)
    if order > 1:
        return cast_node(root_of(total, order), dtype.real)
    return cast_node(_power(total, 1 / order), dtype.real)


def _squares(node: Node) -> Node:
    """|x|²"""
    if node.type.dtype not in ir.COMPLEXES:
        return record(ops.Multiply, (node, node))
    parts = [record(part, (node,)) for part in (ops.Real, ops.Imaginary)]
    return record(ops.Add, tuple([record(ops.Multiply, (each, each)) for each in parts]))


def _power(node: Node, exponent: float) -> Node:
    """node to the power of one number."""
    if exponent == 1:
        return node
    return record(ops.Power, (node, filled(exponent, node.type.shape, node.type.dtype)))


def _extreme(name: str, sizes: Node, axes: tuple[int, ...], keep: bool, largest: bool) -> Node:
    """The largest or the least of numbers that are not negative; the largest of none is 0."""
    if 0 in [sizes.type.shape[axis] for axis in axes]:
        if not largest:
            fail(ShapeError, name, "of no elements, none is the least", wrap(sizes))
        return reduce(ops.ReduceSum, sizes, axes, keep)
    op = ops.ReduceMaximum if largest else ops.ReduceMinimum
    return reduce(op, sizes, axes, keep)


def matrix_norm(
    x: Any, /, *, keepdims: Any = None, ord: Any = "fro", keepdim: Any = None
) -> Tensor:
    """The size of matrices: "fro", the root of the sum of squares; "nuc", the sum of the singular
    values; 2 and -2, the largest and least of them; 1 and -1, the largest and least sum of |x| in
    a column; inf and -inf, in a row."""
    name = "matrix_norm"
    node, dtype = as_matrices(name, x)
    keep = is_kept(name, keepdims, keepdim)
    last = len(node.type.shape) - 1
    found = _matrix_length(name, node, ord)
    made = kept(found, node, (last - 1, last)) if keep else found
    return wrap(cast_node(made, dtype.real))


def _matrix_length(name: str, node: Node, order: Any) -> Node:
    """The size of matrices in a wide dtype."""
    last = len(node.type.shape) - 1
    if order == "fro":
        return _length(name, node, (last - 1, last), False, 2)
    if order == "nuc":
        return reduce(ops.ReduceSum, singular_values(node), (last - 1,), False)
    if order in (2, -2):
        return _extreme(name, singular_values(node), (last - 1,), False, order > 0)
    if order in (1, -1, INFINITY, -INFINITY):
        along = last - 1 if abs(order) == 1 else last
        sums = reduce(ops.ReduceSum, record(ops.Absolute, (node,)), (along,), False)
        return _extreme(name, sums, (last - 1,), False, order > 0)
    fail(
        ArgumentError, name, f"there is no norm {shown(order)}", wrap(node),
        hint='ord is "fro", "nuc", 1, -1, 2, -2, inf or -inf',
    )  # fmt: skip


def norm(
    x: Any, /, ord: Any = None, axis: Any = None, keepdims: Any = None, *, dim: Any = None,
    keepdim: Any = None,
) -> Tensor:  # fmt: skip
    """The length of x: of all its elements, along one axis, or as matrices along two axes.

    Without `axis`, `ord` means a norm of the vector or the matrix that x is; without `ord`, the
    root of the sum of squares.
    """
    (node,) = to_common_dtype("norm", x, floats=True)
    shape = node.type.shape
    axis = either(axis, dim, None, "norm", "axis, dim")
    axes = as_axes(axis, len(shape), "norm")
    keep = is_kept("norm", keepdims, keepdim)
    if ord is None:
        return wrap(_length("norm", node, axes, keep, 2))
    if len(axes) > 2:
        problem = f"a norm of order {shown(ord)} is along one axis or two, not {len(axes)}"
        fail(ShapeError, "norm", problem, x)
    if len(axes) < 2 and not isinstance(ord, str):
        return wrap(_length("norm", node, axes, keep, ord))
    if len(axes) < 2:
        fail(ArgumentError, "norm", f"{shown(ord)} is a norm of matrices: it takes two axes", x)
    rest = tuple([at for at in range(len(shape)) if at not in axes])
    moved = wrap(permuted(node, (*rest, *axes)))
    found = matrix_norm(moved, ord=ord).node
    return wrap(kept(found, node, axes) if keep else found)


def cond(x: Any, /, *, ord: Any = None) -> Tensor:
    """How much equations with this matrix amplify errors: the largest singular value over the
    least, or norm(x) * norm(inverse of x) for a norm `ord`."""
    if ord is None or ord == 2:
        return matrix_norm(x, ord=2) / matrix_norm(x, ord=-2)
    from .equations import inv

    return matrix_norm(x, ord=ord) * matrix_norm(inv(x), ord=ord)
