"""Matrices as products with a diagonal: eigenvalues and singular values.

Comes in: stacks of matrices. Goes out: the numbers on the diagonals, and the vectors beside them.
A vector times -1, or a complex one times any number of length 1, would do as well: a derivative
holds for what does not depend on which of them it is. That of vectors is infinite, or NaN, where
two of the numbers are equal.
Never: an answer for NaN or infinity; the program fails where it runs.
"""

from typing import Any

import numpy as np

from ..builder import Builder
from ..declare import Attr, Operand, Result, among
from ..dims import minimum
from ..dtypes import DType, c64, c128, f32
from ..errors import Unmet, require
from ..payloads import Array
from ..types import Tensor
from .base import Tangents
from .matrices import WIDE, Matrix, MatrixOp, check_matrix, check_square, matrices


class Eigh(MatrixOp, name="tensor.eigh"):
    """x @ vectors = vectors @ diagonal(values) for x Hermitian: values in order, vectors of length
    1 at right angles. Its upper triangle and the imaginary part of its diagonal are not read."""

    x: Operand[Tensor] = among(WIDE)
    values: Result[Tensor]
    vectors: Result[Tensor]

    @staticmethod
    def infer(x: Tensor) -> tuple[Tensor, Tensor]:
        check_square(x)
        return Tensor(x.shape[:-1], x.dtype.real), x

    def jvp(self, builder: Builder, tangents: Tangents) -> Tangents:
        """With m = vᴴ dx v: dλ[j] = m[j, j], and dv = v (m / (λ[j] - λ[i]), without diagonal)."""
        values, vectors, change = matrices(builder, self.values, self.vectors, *tangents)
        inside = vectors.adjoint @ change.hermitian @ vectors
        turned = apart(values, inside) * inside
        return inside.diagonal.real.value, (vectors @ turned).value

    def run(self, frame: Any, *operands: Array) -> tuple[Array, Array]:
        values, vectors = np.linalg.eigh(finite(operands[0]))
        return values, vectors


class Eig(MatrixOp, name="tensor.eig"):
    """x @ vectors = vectors @ diagonal(values), all complex: values in no order, vectors of length
    1."""

    x: Operand[Tensor] = among(WIDE)
    values: Result[Tensor]
    vectors: Result[Tensor]

    @staticmethod
    def infer(x: Tensor) -> tuple[Tensor, Tensor]:
        check_square(x)
        dtype = complex_of(x.dtype)
        return Tensor(x.shape[:-1], dtype), Tensor(x.shape, dtype)

    def jvp(self, builder: Builder, tangents: Tangents) -> Tangents:
        """As for `eigh`, with v⁻¹ for vᴴ; and then the vectors keep their length."""
        values, vectors, change = matrices(builder, self.values, self.vectors, *tangents)
        inside = vectors.solve(change.cast(self.values.dtype) @ vectors)
        turned = vectors @ (apart(values, inside) * inside)
        grown = (vectors.adjoint @ turned).diagonal.real.cast(self.values.dtype)
        return inside.diagonal.value, (turned - vectors * grown.row(vectors)).value

    def run(self, frame: Any, *operands: Array) -> tuple[Array, Array]:
        values, vectors = np.linalg.eig(finite(operands[0]))
        storage = self.values.dtype.storage
        return values.astype(storage), vectors.astype(storage)


class Svd(MatrixOp, name="tensor.svd"):
    """x = left @ diagonal(values) @ right: values falling and never negative, columns of `left` and
    rows of `right` of length 1 at right angles; with `full` these are square matrices."""

    x: Operand[Tensor] = among(WIDE)
    full: Attr[bool] = False
    left: Result[Tensor]
    values: Result[Tensor]
    right: Result[Tensor]

    @staticmethod
    def infer(x: Tensor, full: bool) -> tuple[Tensor, Tensor, Tensor]:
        check_matrix(x)
        *stack, rows, columns = x.shape
        inner = minimum(rows, columns)
        left = x.with_shape((*stack, rows, rows if full else inner))
        right = x.with_shape((*stack, columns if full else inner, columns))
        return left, Tensor((*stack, inner), x.dtype.real), right

    def jvp(self, builder: Builder, tangents: Tangents) -> Tangents:
        """With m = uᴴ dx v, f = 1 / (s[j]² - s[i]²): ds = the diagonal of m, and du = u (f (m s +
        s mᴴ)) + (1 - u uᴴ) dx v / s, and dv likewise."""
        rows, columns = self.x.shape[-2:]
        if self.full and rows != columns:
            raise Unmet(
                "has no derivative: vectors beyond the shorter side are not determined", self.x.type
            )
        left, values, right, change = matrices(
            builder, self.left, self.values, self.right, *tangents
        )
        right = right.adjoint
        dtype = self.x.dtype
        inside = left.adjoint @ change @ right
        across = values.cast(dtype).row(inside)
        down = values.cast(dtype).column(inside)
        gaps = apart(values * values, inside)
        inverse = (1 / values).cast(dtype)
        left_turn = gaps * (inside * across + down * inside.adjoint)
        if left.conjugate is not left:  # what phases change, the left vectors take on
            phase = inside.diagonal.imaginary * inverse
            left_turn = left_turn + on_diagonal(phase, inside)
        right_turn = gaps * (down * inside + inside.adjoint * across)
        left_change = moved(left, left_turn, change @ right, inverse)
        right_change = moved(right, right_turn, change.adjoint @ left, inverse)
        return left_change.value, inside.diagonal.real.value, right_change.adjoint.value

    def run(self, frame: Any, *operands: Array) -> tuple[Array, Array, Array]:
        left, values, right = np.linalg.svd(finite(operands[0]), full_matrices=self.full)
        return left, values, right


def complex_of(dtype: DType) -> DType:
    """The complex dtype of the same precision."""
    return c64 if dtype.real is f32 else c128


def finite(x: Array) -> Array:
    """x, if it is finite: what LAPACK makes of other numbers depends on the machine."""
    require(np.isfinite(x).all(), "the matrix has elements that are not finite")
    return x


def apart(values: Matrix, like: Matrix) -> Matrix:
    """1 / (values[j] - values[i]) at row i and column j, and 0 on the diagonal."""
    gaps = values.row(like) - values.column(like)
    row, column = like.places
    same = row.apply("equal", column)
    return gaps.number(0).where(same, 1 / gaps.number(1).where(same, gaps)).cast(like.value.dtype)


def on_diagonal(vector: Matrix, like: Matrix) -> Matrix:
    """A vector on the diagonal of a matrix."""
    row, column = like.places
    return vector.row(like).where(row.apply("equal", column), 0)


def moved(vectors: Matrix, turn: Matrix, change: Matrix, inverse: Matrix) -> Matrix:
    """v turn + (change - v vᴴ change) / s: they turn, and leave their space if it is not all."""
    turned = vectors @ turn
    if vectors.value.shape[-1] == vectors.value.shape[-2]:
        return turned
    rest = change - vectors @ (vectors.adjoint @ change)
    return turned + rest * inverse.row(rest)
