"""Linear equations: x of matrix @ x = right.

Comes in: stacks of square matrices, and of right sides, as many. Goes out: the solutions.
Never: an answer for a singular matrix; the program fails where it runs.
"""

from typing import Any

import numpy as np

from ..builder import Builder
from ..declare import Attr, Operand, Result, among, same_as
from ..errors import Unmet, require
from ..payloads import Array
from ..types import Tensor
from .base import Tangents
from .factor import LARGE, eliminated, is_small
from .matrices import WIDE, Matrix, MatrixOp, check_square, matrices

SINGULAR = "Singular matrix"
"""What is told where there is no solution, or no only one."""
SOLVED_AS_ONE = 1 << 13
"""Of so many elements: for a matrix of less, elimination and substitution are quick as they are."""


class Equations(MatrixOp):
    """x of matrix @ x = right, where the columns of `right` are right sides."""

    matrix: Operand[Tensor] = among(WIDE)
    right: Operand[Tensor] = among(WIDE)
    result: Result[Tensor] = same_as("right")

    def check(self) -> None:
        matrix, right = self.matrix.type, self.right.type
        check_square(matrix)
        require(matrix.dtype is right.dtype, "the dtypes differ", matrix, right)
        fits = right.shape[:-1] == matrix.shape[:-1] and right.rank == matrix.rank
        require(fits, "there is not one row of right sides for each row", matrix, right)

    def again(self, matrix: Matrix, right: Matrix) -> Matrix:
        """The same op of other operands."""
        builder = matrix.builder
        made = self.__class__.build(builder, matrix.value, right.value, *self.attributes)
        return Matrix(builder, made[0])

    def counted(self, matrix: Matrix) -> Matrix:
        """The part of a matrix that the op reads."""
        return matrix

    def transpose_of(self, matrix: Matrix, right: Matrix) -> Matrix:
        """The same equations with the matrix transposed."""
        return self.again(matrix.transposed, right)

    def jvp(self, builder: Builder, tangents: Tangents) -> Tangents:
        """a @ dx = dy - da @ x"""
        matrix, result = matrices(builder, self.matrix, self.result)
        change, right = matrices(builder, *tangents)
        if change is not None:
            moved = self.counted(change) @ result
            right = -moved if right is None else right - moved
        return (self.again(matrix, right).value,)

    def transpose(self, builder: Builder, operands: Tangents, cotangents: Tangents) -> Tangents:
        """Linear in the right sides: the same with the transposed matrix."""
        matrix, _ = operands
        require(matrix is not None, "is linear in the right sides alone")
        return None, self.transpose_of(*matrices(builder, matrix, cotangents[0])).value


class Solve(Equations, name="tensor.solve"):
    """x of matrix @ x = right, by elimination with exchanged rows."""

    def run(self, frame: Any, *operands: Array) -> Array:
        return solved(*operands)


class TriangularSolve(Equations, name="tensor.triangular_solve"):
    """x of matrix @ x = right for a triangle, the lower or the upper one; the rest is not read.

    With `unit`, its diagonal is not read either, and counts as ones.
    """

    lower: Attr[bool]
    unit: Attr[bool] = False

    def transpose_of(self, matrix: Matrix, right: Matrix) -> Matrix:
        named = {"lower": not self.lower, "unit": self.unit}
        return matrix.transposed.apply("triangular_solve", right, **named)

    def counted(self, matrix: Matrix) -> Matrix:
        """The triangle, without its diagonal where that counts as ones."""
        one_way = matrix if self.lower else matrix.transposed
        kept = one_way.below if self.unit else one_way.transposed.above.transposed
        return kept if self.lower else kept.transposed

    def run(self, frame: Any, *operands: Array) -> Array:
        """Elimination exchanges no rows of an upper triangle, so a lower one is turned round."""
        matrix, right = operands
        if is_small(matrix, LARGE):
            return substituted(matrix, right, self.lower, self.unit)
        if self.unit:
            matrix = np.where(np.eye(matrix.shape[-1], dtype=np.bool_), 1, matrix)
        if not self.lower:
            return _solved_at_once(np.triu(matrix), right)
        turned = _solved_at_once(np.flip(np.tril(matrix), (-2, -1)), np.flip(right, -2))
        return np.flip(turned, -2)


def solved(matrix: Array, right: Array) -> Array:
    """The solutions, in the dtype of the right sides."""
    if not is_small(matrix, SOLVED_AS_ONE):
        return _solved_at_once(matrix, right)
    factors, rows = eliminated(matrix)
    ordered = np.take_along_axis(right, rows[..., None], -2)
    halfway = substituted(factors, ordered, lower=True, unit=True)
    return substituted(factors, halfway, lower=False, unit=False)


def _solved_at_once(matrix: Array, right: Array) -> Array:
    return np.asarray(np.linalg.solve(matrix, right).astype(right.dtype, copy=False))


def substituted(matrix: Array, right: Array, lower: bool, unit: bool) -> Array:
    """The solutions for a triangle, one row after the other."""
    if not unit and not np.diagonal(matrix, 0, -2, -1).all():
        raise Unmet(SINGULAR)
    side, x = matrix.shape[-1], np.array(right)
    for step in range(side) if lower else reversed(range(side)):
        if not unit:
            x[..., step, :] /= matrix[..., step, step, None]
        rest = slice(step + 1, None) if lower else slice(0, step)
        x[..., rest, :] -= matrix[..., rest, step, None] * x[..., step, None, :]
    return x
