"""Matrices as products of triangles and orthogonal matrices.

Comes in: stacks of matrices. Goes out: their factors.
Never: an answer for a matrix without such factors; the program fails where it runs.
"""

from math import prod
from typing import Any

import numpy as np

from ..builder import Builder
from ..declare import Attr, Operand, Result, among, same_as
from ..dims import Size, minimum
from ..dtypes import i64
from ..errors import Unmet
from ..payloads import Array, Number
from ..types import Tensor
from .base import Tangents
from .matrices import WIDE, Matrix, MatrixOp, check_matrix, check_square, identity, matrices
from .rules import emit


class Cholesky(MatrixOp, name="tensor.cholesky"):
    """The lower triangle L with L @ Lᴴ = x, for x Hermitian and positive; its upper triangle and
    the imaginary part of its diagonal are not read."""

    x: Operand[Tensor] = among(WIDE)
    result: Result[Tensor] = same_as("x")

    def check(self) -> None:
        check_square(self.x.type)

    def jvp(self, builder: Builder, tangents: Tangents) -> Tangents:
        """L · (L⁻¹ dx L⁻ᴴ)'s lower triangle, its diagonal halved."""
        factor, change = matrices(builder, self.result, *tangents)
        left = factor.lower_solve(change.hermitian)
        return ((factor @ factor.lower_solve(left.adjoint).adjoint.half).value,)

    def run(self, frame: Any, *operands: Array) -> Array:
        return positive_factor(operands[0])


class Qr(MatrixOp, name="tensor.qr"):
    """x as q @ r: columns of length 1 at right angles, and an upper triangle.

    There are as many columns as the shorter side of x has, or with `full` as many as x has rows.
    """

    x: Operand[Tensor] = among(WIDE)
    full: Attr[bool] = False
    q: Result[Tensor]
    r: Result[Tensor]

    @staticmethod
    def infer(x: Tensor, full: bool) -> tuple[Tensor, Tensor]:
        check_matrix(x)
        *stack, rows, columns = x.shape
        inner = rows if full else minimum(rows, columns)
        return x.with_shape((*stack, rows, inner)), x.with_shape((*stack, inner, columns))

    def jvp(self, builder: Builder, tangents: Tangents) -> Tangents:
        """With r square in front, w = dx r⁻¹ and o the part of qᴴ w below the diagonal, less its
        adjoint, and its imaginary diagonal: dq = w - q (qᴴ w - o) and dr = (qᴴ w - o) r."""
        q, r, x, change = matrices(builder, self.q, self.r, self.x, *tangents)
        count = self.q.shape[-1]
        if count != minimum(*self.x.shape[-2:]):
            raise Unmet(
                "has no derivative: columns of q beyond those of x are not determined", self.x.type
            )
        front = columns(r, count)
        whole = columns(change, count).upper_divide(front)
        inside = q.adjoint @ whole
        turned = inside.below - inside.below.adjoint
        if q.conjugate is not q:
            turned = turned + identity(builder, inside.value.type) * inside.imaginary
        upper = inside - turned
        q_change = whole - q @ upper
        if self.x.shape[-1] == count:
            return q_change.value, (upper @ r).value
        return q_change.value, (q_change.adjoint @ x + q.adjoint @ change).value

    def run(self, frame: Any, *operands: Array) -> tuple[Array, Array]:
        q, r = np.linalg.qr(operands[0], "complete" if self.full else "reduced")
        return q, r


class Lu(MatrixOp, name="tensor.lu"):
    """x with its rows in the order `rows`, as a lower triangle with ones on the diagonal, times an
    upper one: `factors` has both, without these ones.

    Of the rows still there, the next is the first of those whose number is the largest.
    """

    x: Operand[Tensor] = among(WIDE)
    factors: Result[Tensor] = same_as("x")
    rows: Result[Tensor]

    @staticmethod
    def infer(x: Tensor) -> tuple[Tensor, Tensor]:
        check_matrix(x)
        return x, Tensor(x.shape[:-1], i64)

    def jvp(self, builder: Builder, tangents: Tangents) -> Tangents:
        """With f = L⁻¹ dx U⁻¹, both made square: L times what is below f's diagonal, and the rest
        of f times U."""
        factors, change = matrices(builder, self.factors, *tangents)
        tall, wide = self.x.shape[-2:]
        lower, upper = fitted(factors.below, tall), fitted(factors.above, wide)
        lower = lower + identity(builder, lower.value.type)
        # Where x is too wide, ones complete the diagonal of U.
        known = fitted(identity(builder, factors.value.type), wide)
        upper = upper + identity(builder, upper.value.type) - known
        ordered = in_order(builder, change, self.rows)
        inside = lower.lower_solve(ordered, unit=True).upper_divide(upper)
        return (lower @ inside.below + inside.above @ upper).value, None

    def run(self, frame: Any, *operands: Array) -> tuple[Array, Array]:
        return eliminated(operands[0])


def columns(matrix: Matrix, count: Size) -> Matrix:
    """The first few columns."""
    shape = matrix.value.shape
    if shape[-1] == count:
        return matrix
    rank = len(shape)
    return matrix.apply("slice", start=(0,) * rank, size=(*shape[:-1], count), step=(1,) * rank)


def fitted(matrix: Matrix, size: Size) -> Matrix:
    """The matrix cut off, or with zeros added, to a square one of this size."""
    *stack, rows, width = matrix.value.shape
    cut = tuple([*stack, minimum(rows, size), minimum(width, size)])
    none, step = (0,) * len(cut), (1,) * len(cut)
    more = (*none[2:], size - cut[-2], size - cut[-1])
    zero = Number(0, matrix.value.dtype)
    kept = matrix.apply("slice", start=none, size=cut, step=step)
    return kept.apply("pad", low=none, high=more, interior=none, value=zero)


def in_order(builder: Builder, matrix: Matrix, rows: Any) -> Matrix:
    """The rows of a matrix in another order."""
    rank = len(matrix.value.shape)
    indices = emit(builder, "reshape", rows, shape=(*rows.shape, 1))
    named = {"axes": (rank - 2,), "batch": rank - 2}
    return Matrix(builder, emit(builder, "gather", matrix.value, indices, **named))


BLOCK = 32
"""So many columns are eliminated before what is right of them is changed, by one product, in
matrices that are large."""
LARGE = 1 << 16
"""Of so many elements: for less, the nearer caches are large enough."""


NOT_POSITIVE = "Matrix is not positive definite"
FACTORED_AS_ONE = 1 << 14
"""Of so many elements: for a matrix of less, its triangle is found quickly column by column."""


def is_small(x: Array, least: int) -> bool:
    """Whether a matrix has less elements than one that is left to LAPACK; complex ones all are."""
    return x.dtype.kind == "f" and prod(x.shape[-2:]) < least


def positive_factor(x: Array) -> Array:
    """The result of `Cholesky`."""
    if not is_small(x, FACTORED_AS_ONE):
        return np.linalg.cholesky(x)
    work = np.tril(x)
    for step in range(x.shape[-1]):
        pivot = work[..., step, step, None]
        if (pivot <= 0).any():
            raise Unmet(NOT_POSITIVE)
        root = np.sqrt(pivot)
        work[..., step, step, None] = root
        work[..., step + 1 :, step] /= root
        below = work[..., step + 1 :, step]
        work[..., step + 1 :, step + 1 :] -= below[..., :, None] * below[..., None, :]
    return np.tril(work)


def eliminated(x: Array) -> tuple[Array, Array]:
    """Gaussian elimination with exchanged rows, of a stack of matrices at once."""
    *stack, tall, wide = x.shape
    work: Array = np.array(x).reshape(prod(stack), tall, wide)
    rows: Array = np.tile(np.arange(tall, dtype=np.int64), (len(work), 1))
    block = BLOCK if tall * wide >= LARGE else wide
    for start in range(0, min(tall, wide), block or 1):
        stop = min(start + block, tall, wide)
        end = min(start + block, wide)
        _eliminate_columns(work, rows, range(start, stop), end)
        for row in range(start + 1, stop if end < wide else start):
            factors = work[:, row, None, start:row]
            work[:, row, None, end:] -= factors @ work[:, start:row, end:]
        work[:, stop:, end:] -= work[:, stop:, start:stop] @ work[:, start:stop, end:]
    return work.reshape(x.shape), rows.reshape(*stack, tall)


def _eliminate_columns(work: Array, rows: Array, columns: range, end: int) -> None:
    """Choose the pivots of some columns, and change what stands right of each up to some end."""
    each = np.arange(len(work))
    for step in columns:
        chosen = step + np.argmax(np.abs(work[:, step:, step]), axis=1)
        for array in (work, rows):
            array[each, chosen], array[:, step] = array[:, step].copy(), array[each, chosen]
        pivot = work[:, step, step, None]
        below = work[:, step + 1 :, step]
        work[:, step + 1 :, step] = np.where(pivot == 0, below, below / pivot)
        outer = work[:, step + 1 :, step, None] * work[:, step, None, step + 1 : end]
        work[:, step + 1 :, step + 1 : end] -= outer
