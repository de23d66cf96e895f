"""Linear equations and what answers them: inverses, determinants, ranks, powers.

Comes in: tensors whose last two axes are matrices. Goes out: tensors.
Never: an inverse where a solution is asked for.
"""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any, NamedTuple

from ...ir import dtypes as ir
from ...ir import tensor as ops
from ...ir.dims import maximum
from ..dtypes import OF_IR
from ..errors import ArgumentError, DTypeError, ShapeError, fail
from ..handle import wrap
from ..node import Node, record, record_parts
from .common import as_node, broadcast_node, cast_node, filled, number_like, to_common_dtype
from .decompositions import parity, singular_values
from .manipulation import part
from .matrices import adjoint, as_equations, as_matrices, identity, multiplied, transposed
from .products import diagonal, matmul
from .reductions import reduce

if TYPE_CHECKING:
    from ..tensor import Tensor


class SlogdetResult(NamedTuple):
    """A determinant's sign, a number of length 1 or 0, and the logarithm of its absolute value."""

    sign: Tensor
    logabsdet: Tensor


def solve(x1: Any, x2: Any, /) -> Tensor:
    """x of x1 @ x = x2; x2 is a vector, or a matrix (or stack) of columns.

    Where x1 is singular, it fails when it runs.
    """
    matrix, right, dtype, vector = as_equations("solve", x1, x2)
    return _solution(record(ops.Solve, (matrix, right)), dtype, vector)


def solve_triangular(
    x1: Any, x2: Any, /, *, upper: bool, left: bool = True, unit_diagonal: bool = False
) -> Tensor:
    """x of x1 @ x = x2, or of x @ x1 = x2 without `left`, reading one triangle of x1 only.

    With `unit_diagonal`, the diagonal is not read either, and counts as ones.
    """
    name = "solve_triangular"
    if not left:
        turned = [transposed(as_matrices(name, each)[0]) for each in (x1, x2)]
        named = {"upper": not upper, "unit_diagonal": unit_diagonal}
        found = solve_triangular(*map(wrap, turned), **named).node
        (dtype,) = {node.type.dtype for node in to_common_dtype(name, x1, x2, floats=True)}
        return wrap(cast_node(transposed(found), dtype))
    matrix, right, dtype, vector = as_equations(name, x1, x2)
    options = (not upper, bool(unit_diagonal))
    return _solution(record(ops.TriangularSolve, (matrix, right), options), dtype, vector)


def _solution(found: Node, dtype: ir.DType, vector: bool) -> Tensor:
    """The solutions, as vectors where vectors were given, rounded to their dtype."""
    if vector:
        found = record(ops.Reshape, (found,), (found.type.shape[:-1],))
    return wrap(cast_node(found, dtype))


def inv(x: Any, /) -> Tensor:
    """The matrix y with x @ y = 1; where x is singular, it fails when it runs.

    To solve equations, `solve` is quicker and more exact.
    """
    node, dtype = as_matrices("inv", x, square=True)
    one = identity(node.type.shape[:-2], node.type.shape[-1], node.type.dtype)
    return wrap(cast_node(record(ops.Solve, (node, one)), dtype))


def det(x: Any, /) -> Tensor:
    """The determinant; of a matrix of no rows, 1. A singular matrix's has no derivative here."""
    node, dtype = as_matrices("det", x, square=True)
    numbers, sign = _pivots(node)
    product = record(ops.ReduceProduct, (numbers,), ((len(numbers.type.shape) - 1,),))
    return wrap(cast_node(record(ops.Multiply, (sign, product)), dtype))


def slogdet(x: Any, /) -> SlogdetResult:
    """The sign of the determinant, and the logarithm of its size; of 0, they are 0 and -inf."""
    node, dtype = as_matrices("slogdet", x, square=True)
    numbers, sign = _pivots(node)
    last = (len(numbers.type.shape) - 1,)
    sizes = record(ops.Absolute, (numbers,))
    logarithm = record(ops.ReduceSum, (record(ops.Log, (sizes,)),), (last,))
    signs = record(ops.ReduceProduct, (_directions(numbers, sizes),), (last,))
    return SlogdetResult(
        wrap(cast_node(record(ops.Multiply, (sign, signs)), dtype)),
        wrap(cast_node(logarithm, dtype.real)),
    )


def _pivots(node: Node) -> tuple[Node, Node]:
    """Numbers whose product is the determinant but for the sign, and that sign."""
    factors, rows = record_parts(ops.Lu, (node,))
    return diagonal(wrap(factors)).node, parity(rows, node.type.dtype)


def _directions(numbers: Node, sizes: Node) -> Node:
    """Numbers made to have length 1; 0 stays."""
    if numbers.type.dtype not in ir.COMPLEXES:
        return record(ops.Sign, (numbers,))
    zero = filled(0.0, sizes.type.shape, sizes.type.dtype)
    one = filled(1.0, sizes.type.shape, sizes.type.dtype)
    length = record(ops.Select, (record(ops.Equal, (sizes, zero)), one, sizes))
    return record(ops.Divide, (numbers, cast_node(length, numbers.type.dtype)))


def pinv(x: Any, /, *, rtol: Any = None) -> Tensor:
    """The pseudo-inverse: singular values up to `rtol` times the largest count as 0.

    `rtol` is the larger side times the dtype's epsilon if not given. The derivative is NaN or
    infinite where two singular values are equal.
    """
    node, dtype = as_matrices("pinv", x)
    *stack, rows, columns = node.type.shape
    if 0 in (rows, columns):
        return wrap(filled(0, (*stack, columns, rows), dtype))
    left, values, right = record_parts(ops.Svd, (node,), (False,))
    kept = _above(values, rtol, node, dtype)
    one = filled(1.0, values.type.shape, values.type.dtype)
    safe = record(ops.Divide, (one, record(ops.Select, (kept, values, one))))
    none = filled(0.0, values.type.shape, values.type.dtype)
    inverse = cast_node(record(ops.Select, (kept, safe, none)), node.type.dtype)
    spread = adjoint(right)
    axes = (*range(len(stack)), len(stack) + 1)
    scale = record(ops.Broadcast, (inverse,), (spread.type.shape, axes))
    scaled = record(ops.Multiply, (spread, scale))
    return wrap(cast_node(multiplied(scaled, adjoint(left)), dtype))


def matrix_rank(x: Any, /, *, rtol: Any = None) -> Tensor:
    """How many singular values are more than `rtol` times the largest.

    `rtol` is the larger side times the dtype's epsilon if not given.
    """
    node, dtype = as_matrices("matrix_rank", x)
    if 0 in node.type.shape[-2:]:
        return wrap(filled(0, node.type.shape[:-2], ir.i64))
    kept = _above(singular_values(node), rtol, node, dtype)
    return wrap(reduce(ops.ReduceSum, cast_node(kept, ir.i64), (len(kept.type.shape) - 1,), False))


def _above(values: Node, rtol: Any, matrix: Node, dtype: ir.DType) -> Node:
    """Which singular values count beside the largest, which comes first."""
    stack = values.type.shape[:-1]
    largest = part(values, len(stack), 0, 1)
    one = filled(1.0, (*stack, 1), values.type.dtype)
    if rtol is None:
        epsilon = filled(_epsilon(dtype), one.type.shape, one.type.dtype)
        side = number_like(maximum(*matrix.type.shape[-2:]), one)
        tolerance = record(ops.Multiply, (side, epsilon))
    else:
        given = cast_node(as_node(rtol, "rtol"), one.type.dtype)
        column = record(ops.Reshape, (given,), ((*given.type.shape, 1),))
        tolerance = broadcast_node(column, one.type.shape)
    limit = record(ops.Multiply, (largest, tolerance))
    return record(ops.Less, (broadcast_node(limit, values.type.shape), values))


def _epsilon(dtype: ir.DType) -> float:
    """The distance from 1 to the next number."""
    from .types import finfo

    return float(finfo(OF_IR[dtype.real]).eps)


def matrix_power(x: Any, n: int, /) -> Tensor:
    """x @ x @ …, n times; of the inverse where n is negative, and 1 where it is 0."""
    (node,) = to_common_dtype("matrix_power", x)
    shape = node.type.shape
    if len(shape) < 2 or shape[-1] != shape[-2]:
        fail(ShapeError, "matrix_power", "only square matrices have powers", x)
    try:
        count = index(n)
    except TypeError:
        fail(DTypeError, "matrix_power", f"the power is an integer, not {type(n).__name__}", n)
    if count < 0:
        if node.type.dtype not in ir.INEXACT:
            problem = "the inverse of a matrix of integers is not one"
            fail(ArgumentError, "matrix_power", problem, x, hint="cast it to floats first")
        return matrix_power(inv(x), -count)
    if not count:
        return wrap(identity(shape[:-2], shape[-1], node.type.dtype))
    power, result = wrap(node), None
    while True:
        if count & 1:
            result = power if result is None else matmul(result, power)
        count >>= 1
        if not count:
            return result  # pyright: ignore[reportReturnType]
        power = matmul(power, power)
