"""Matrices as products of simpler ones: triangles, orthogonal matrices, diagonals.

Comes in: tensors whose last two axes are matrices. Goes out: tuples of their factors, with names.
Never: a factor in a narrow float's precision: narrow floats are widened, and the factors rounded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ...ir import dtypes as ir
from ...ir import tensor as ops
from ...ir.dims import minimum
from ..errors import one_of
from ..handle import wrap
from ..node import Node, record, record_parts
from .common import broadcast_node, cast_node, filled
from .manipulation import part
from .matrices import adjoint, as_matrices, hermitian, identity
from .triangles import tril, triu

if TYPE_CHECKING:
    from ..tensor import Tensor


class EighResult(NamedTuple):
    """Eigenvalues, and their eigenvectors as columns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class EigResult(NamedTuple):
    """Complex eigenvalues, and their eigenvectors as columns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class QRResult(NamedTuple):
    """A matrix with columns of length 1 at right angles, and an upper triangle."""

    Q: Tensor
    R: Tensor


class SVDResult(NamedTuple):
    """Left vectors as columns, singular values in falling order, right vectors as rows."""

    U: Tensor
    S: Tensor
    Vh: Tensor


class LUResult(NamedTuple):
    """A matrix that exchanges rows, a lower triangle with ones on its diagonal, an upper one."""

    P: Tensor
    L: Tensor
    U: Tensor


def cholesky(x: Any, /, *, upper: bool = False) -> Tensor:
    """The triangle L with L @ Lᴴ = x, or with `upper` U with Uᴴ @ U = x, for x Hermitian, positive.

    Of a matrix that is not Hermitian, (x + xᴴ) / 2 is taken. If x is not positive, it fails.
    """
    node, dtype = as_matrices("cholesky", x, square=True)
    factor = record(ops.Cholesky, (hermitian(node),))
    return wrap(cast_node(adjoint(factor) if upper else factor, dtype))


def eigh(x: Any, /) -> EighResult:
    """Eigenvalues in rising order and eigenvectors of a Hermitian matrix.

    Of a matrix that is not Hermitian, (x + xᴴ) / 2 is taken. The derivative of eigenvectors is
    infinite or NaN where two eigenvalues are equal.
    """
    node, dtype = as_matrices("eigh", x, square=True)
    values, vectors = record_parts(ops.Eigh, (hermitian(node),))
    return EighResult(wrap(cast_node(values, dtype.real)), wrap(cast_node(vectors, dtype)))


def eigvalsh(x: Any, /) -> Tensor:
    """The eigenvalues of a Hermitian matrix in rising order."""
    node, dtype = as_matrices("eigvalsh", x, square=True)
    values, _ = record_parts(ops.Eigh, (hermitian(node),))
    return wrap(cast_node(values, dtype.real))


def eig(x: Any, /) -> EigResult:
    """Complex eigenvalues and eigenvectors of length 1, in no particular order."""
    node, _ = as_matrices("eig", x, square=True)
    values, vectors = record_parts(ops.Eig, (node,))
    return EigResult(wrap(values), wrap(vectors))


def eigvals(x: Any, /) -> Tensor:
    """The complex eigenvalues, in no particular order."""
    node, _ = as_matrices("eigvals", x, square=True)
    return wrap(record_parts(ops.Eig, (node,))[0])


def qr(x: Any, /, mode: str = "reduced") -> QRResult:
    """Q @ R = x: Q has as many columns as x has rows or columns, whichever is less.

    With mode "complete", Q is square; it has no derivative then if x has more rows than columns.
    """
    one_of("qr", "mode", mode, ("reduced", "complete"))
    node, dtype = as_matrices("qr", x)
    q, r = record_parts(ops.Qr, (node,), (mode == "complete",))
    return QRResult(wrap(cast_node(q, dtype)), wrap(cast_node(r, dtype)))


def svd(x: Any, /, full_matrices: bool = True) -> SVDResult:
    """U @ diag(S) @ Vh = x, the singular values S in falling order, never negative.

    Without `full_matrices`, U and Vh have only the vectors that S counts; only these have a
    derivative, which is infinite or NaN where two singular values are equal.
    """
    node, dtype = as_matrices("svd", x)
    left, values, right = record_parts(ops.Svd, (node,), (bool(full_matrices),))
    return SVDResult(
        wrap(cast_node(left, dtype)),
        wrap(cast_node(values, dtype.real)),
        wrap(cast_node(right, dtype)),
    )


def svdvals(x: Any, /) -> Tensor:
    """The singular values in falling order."""
    node, dtype = as_matrices("svdvals", x)
    return wrap(cast_node(singular_values(node), dtype.real))


def singular_values(node: Node) -> Node:
    """The singular values of matrices in a wide dtype."""
    return record_parts(ops.Svd, (node,), (False,))[1]


def lu(x: Any, /) -> LUResult:
    """P @ L @ U = x, by elimination in which the largest number of a column comes first."""
    node, dtype = as_matrices("lu", x)
    factors, rows = record_parts(ops.Lu, (node,))
    shape = node.type.shape
    inner = minimum(*shape[-2:])
    last = len(shape) - 1
    lower = tril(wrap(part(factors, last, 0, inner)), k=-1).node
    # Where x is wide the triangle is square, where it is tall it goes on below.
    ones = part(identity(shape[:-2], shape[-2], node.type.dtype), last, 0, inner)
    upper = triu(wrap(part(factors, last - 1, 0, inner))).node
    return LUResult(
        wrap(cast_node(permutation(rows, node.type.dtype), dtype)),
        wrap(cast_node(record(ops.Add, (lower, ones)), dtype)),
        wrap(cast_node(upper, dtype)),
    )


def permutation(rows: Node, dtype: ir.DType) -> Node:
    """The matrix P whose column j has a 1 in row rows[j]: (P @ y)[rows[j]] = y[j]."""
    shape = rows.type.shape
    square = (*shape, shape[-1])
    count = record(ops.Iota, (), (square, len(shape) - 1, ir.i64))
    axes = (*range(len(shape) - 1), len(shape))
    there = record(ops.Equal, (count, record(ops.Broadcast, (rows,), (square, axes))))
    return cast_node(there, dtype)


def parity(rows: Node, dtype: ir.DType) -> Node:
    """1 if it takes an even number of exchanges to order the rows, else -1."""
    shape = rows.type.shape
    square, stack = (*shape, shape[-1]), tuple(range(len(shape) - 1))
    earlier, later = (
        record(ops.Broadcast, (rows,), (square, (*stack, axis)))
        for axis in (len(shape) - 1, len(shape))
    )
    first, second = (
        record(ops.Iota, (), (square, axis, ir.i64)) for axis in (len(shape) - 1, len(shape))
    )
    pairs = record(ops.Less, (first, second)), record(ops.Less, (later, earlier))
    wrong = cast_node(record(ops.BitAnd, pairs), ir.i64)
    count = record(ops.ReduceSum, (wrong,), ((len(shape) - 1, len(shape)),))
    odd = record(ops.BitAnd, (count, filled(1, count.type.shape, ir.i64)))
    sign = record(ops.Subtract, (filled(1, count.type.shape, ir.i64), record(ops.Add, (odd, odd))))
    return cast_node(broadcast_node(sign, shape[:-1]), dtype)
