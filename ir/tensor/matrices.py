"""What the ops that solve and factor matrices share: a base, and formulas of matrices.

Comes in: tensors whose last two axes are matrices; all axes before them count matrices. Goes out:
rules for such stacks, and `Matrix`, in which `a @ b.adjoint` emits the ops that compute it.
Never: a dtype that the routines of LAPACK do not know; whoever has narrow floats widens them first.
"""

from typing import Any

from ..builder import Builder
from ..dims import Size
from ..dtypes import COMPLEXES, f32, f64, i64
from ..errors import require
from ..types import Tensor
from ..values import AnyValue
from .base import TensorOp, Values, rebuilt
from .batching import all_batched
from .rules import Term, emit, filled

WIDE = COMPLEXES | {f32, f64}


class MatrixOp(TensorOp):
    """An op on stacks of matrices: lanes are one more axis of the stack."""

    def batching(
        self, builder: Builder, operands: Values, batched: tuple[bool, ...], size: Size
    ) -> Values:
        return rebuilt(self, builder, all_batched(builder, operands, batched, size))


def check_matrix(x: Tensor) -> None:
    """Refuse what has not the two axes of a matrix."""
    require(x.rank >= 2, "a matrix has two axes", x)


def check_square(x: Tensor) -> None:
    """Refuse what is no stack of square matrices."""
    check_matrix(x)
    require(x.shape[-1] == x.shape[-2], "the matrix is not square", x)


class Matrix(Term):
    """A stack of matrices in a formula."""

    def __matmul__(self, other: "Matrix") -> "Matrix":
        last = len(self.value.shape) - 1
        batch = tuple(range(last - 1))
        named = {"left_contract": (last,), "right_contract": (last - 1,), "dtype": self.value.dtype}
        return self.apply("contract", other, left_batch=batch, right_batch=batch, **named)

    @property
    def conjugate(self) -> "Matrix":
        """The complex conjugate; a real matrix is its own."""
        return self.apply("conjugate") if self.value.dtype in COMPLEXES else self

    @property
    def transposed(self) -> "Matrix":
        """Rows as columns."""
        last = len(self.value.shape) - 1
        return self.apply("permute", axes=(*range(last - 1), last, last - 1))

    @property
    def adjoint(self) -> "Matrix":
        """The transpose of the conjugate."""
        return self.conjugate.transposed

    @property
    def real(self) -> "Matrix":
        """The real part."""
        return self.apply("real") if self.value.dtype in COMPLEXES else self

    @property
    def imaginary(self) -> "Matrix":
        """i times the imaginary part, in the same dtype."""
        return self - self.real.cast(self.value.dtype)

    @property
    def places(self) -> tuple["Matrix", "Matrix"]:
        """For each element, in which row and in which column it stands."""
        shape, last = self.value.shape, len(self.value.shape) - 1
        made = [emit(self.builder, "iota", shape, axis, i64) for axis in (last - 1, last)]
        return Matrix(self.builder, made[0]), Matrix(self.builder, made[1])

    @property
    def below(self) -> "Matrix":
        """What stands below the diagonal, and zeros."""
        row, column = self.places
        return self.where(column.apply("less", row), 0)

    @property
    def above(self) -> "Matrix":
        """What stands on and above the diagonal, and zeros."""
        row, column = self.places
        return self.where(row.apply("less_equal", column), 0)

    @property
    def half(self) -> "Matrix":
        """What stands below the diagonal, and half of what stands on it."""
        row, column = self.places
        return self.below + (self * 0.5).where(row.apply("equal", column), 0)

    @property
    def hermitian(self) -> "Matrix":
        """The Hermitian matrix that the lower triangle says."""
        return self.half + self.half.adjoint

    @property
    def diagonal(self) -> "Matrix":
        """The elements on the diagonal, as vectors."""
        row, column = self.places
        kept = self.where(row.apply("equal", column), 0)
        return kept.apply("reduce_sum", axes=(len(self.value.shape) - 1,))

    def row(self, like: "Matrix") -> "Matrix":
        """This vector as every row of a matrix of the shape of `like`."""
        last = len(like.value.shape) - 1
        return self.apply("broadcast", shape=like.value.shape, axes=(*range(last - 1), last))

    def column(self, like: "Matrix") -> "Matrix":
        """This vector as every column of a matrix of the shape of `like`."""
        last = len(like.value.shape) - 1
        return self.apply("broadcast", shape=like.value.shape, axes=tuple(range(last)))

    def solve(self, right: "Matrix") -> "Matrix":
        """x of self @ x = right."""
        return self.apply("solve", right)

    def lower_solve(self, right: "Matrix", unit: bool = False) -> "Matrix":
        """x of self @ x = right, for a lower triangle."""
        return self.apply("triangular_solve", right, lower=True, unit=unit)

    def upper_divide(self, right: "Matrix") -> "Matrix":
        """self @ right⁻¹, for an upper triangle."""
        return right.transposed.lower_solve(self.transposed).transposed


def identity(builder: Builder, type_: Tensor) -> Matrix:
    """Ones on the diagonal, in matrices of a type."""
    ones = Matrix(builder, filled(builder, 1, type_))
    row, column = ones.places
    return ones.where(row.apply("equal", column), 0)


def matrices(builder: Builder, *values: AnyValue | None) -> list[Any]:
    """Values as parts of a formula; None stays None."""
    return [value and Matrix(builder, value) for value in values]
