"""What functions of matrices do to their arguments first.

Comes in: tensors, as users give them. Goes out: nodes of stacks of matrices, in a dtype in which
equations are solved: f32, f64 or a complex one. Narrow floats are widened, and results rounded.
Never: a routine.
"""

from __future__ import annotations

from typing import Any

from ...ir import dtypes as ir
from ...ir import tensor as ops
from ...ir.dims import Size
from ..errors import ShapeError, fail
from ..node import Node, record
from ..unseen import differ
from .common import broadcast_node, broadcast_shape, cast_node, filled, to_common_dtype
from .manipulation import permuted
from .products import contract


def as_matrices(name: str, x: Any, *, square: bool = False) -> tuple[Node, ir.DType]:
    """A node of matrices in a wide dtype, and the dtype in which results are given."""
    (node,) = to_common_dtype(name, x, floats=True)
    if len(node.type.shape) < 2:
        fail(ShapeError, name, "a matrix has two axes", x,
             hint="`x[:, None]` makes a column of a vector")  # fmt: skip
    if square:
        rows, columns = node.type.shape[-2:]
        if differ(rows, columns):
            fail(ShapeError, name, f"the matrix is not square: {rows} rows, {columns} columns", x)
    dtype = node.type.dtype
    return cast_node(node, dtype.accumulator), dtype


def as_equations(name: str, matrix: Any, right: Any) -> tuple[Node, Node, ir.DType, bool]:
    """Matrices and right sides of one dtype and stack, and whether a right side is a vector."""
    left, other = to_common_dtype(name, matrix, right, floats=True)
    as_matrices(name, matrix, square=True)
    size = left.type.shape[-1]
    vector = len(other.type.shape) == 1
    if not other.type.shape:
        fail(ShapeError, name, "a right side is a vector, or has them as columns", right)
    if differ(other.type.shape[-1 if vector else -2], size):
        axis = -1 if vector else -2
        fail(
            ShapeError, name, f"there are {size} equations, and axis {axis} of the right side has "
            f"size {other.type.shape[axis]}", matrix, right,
            hint="vectors in a stack are solved for as columns: `b[..., None]`",
        )  # fmt: skip
    stack = left.type.shape[:-2]
    if vector:
        other = broadcast_node(other, (*stack, size))
        other = record(ops.Reshape, (other,), ((*stack, size, 1),))
    stack = broadcast_shape(name, stack, other.type.shape[:-2])
    dtype = left.type.dtype
    wide = [
        cast_node(broadcast_node(node, (*stack, *node.type.shape[-2:])), dtype.accumulator)
        for node in (left, other)
    ]
    return wide[0], wide[1], dtype, vector


def multiplied(left: Node, right: Node) -> Node:
    """The products of matrices of one stack."""
    last = len(left.type.shape) - 1
    batch = tuple(range(last - 1))
    return contract(left, right, (batch, batch), ((last,), (last - 1,)))


def conjugated(node: Node) -> Node:
    """The complex conjugate; real numbers are their own."""
    return record(ops.Conjugate, (node,)) if node.type.dtype in ir.COMPLEXES else node


def transposed(node: Node) -> Node:
    """Rows as columns."""
    last = len(node.type.shape) - 1
    return permuted(node, (*range(last - 1), last, last - 1))


def adjoint(node: Node) -> Node:
    """The transpose of the conjugate."""
    return transposed(conjugated(node))


def hermitian(node: Node) -> Node:
    """(x + xᴴ) / 2, which is x where x is Hermitian."""
    half = record(ops.Multiply, (node, filled(0.5, node.type.shape, node.type.dtype)))
    return record(ops.Add, (half, adjoint(half)))


def identity(stack: tuple[Size, ...], size: Size, dtype: ir.DType) -> Node:
    """Ones on the diagonal, for each matrix of a stack."""
    row, column = (record(ops.Iota, (), ((size, size), axis, ir.i64)) for axis in (0, 1))
    return broadcast_node(cast_node(record(ops.Equal, (row, column)), dtype), (*stack, size, size))
