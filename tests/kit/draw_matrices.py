"""Recipes for ops that solve and factor matrices, which are made such that this succeeds."""

from brimstone.ir import tensor
from brimstone.ir.declare import Op
from brimstone.ir.dtypes import i64
from brimstone.ir.tensor.matrices import WIDE
from brimstone.ir.tensor.solve import Equations
from brimstone.ir.values import AnyValue
from kit.draft import Draft, require_small
from kit.recipes import recipe

STACKS = (0, 0, 0, 1, 1, 2)


@recipe(tensor.Qr, tensor.Svd)
def draw_factors(draft: Draft, cls: type[Op]) -> object:
    """Of matrices of any shape."""
    x = tame(draft, draft.operand(WIDE, (2, 2, 2, 3, 3, 4)))
    full = draft.chance(0.3)
    *stack, rows, columns = x.shape
    require_small((*stack, rows, rows), (*stack, columns, columns))
    return draft.emit(cls, x, full)


@recipe(tensor.Lu)
def draw_lu(draft: Draft, cls: type[Op]) -> object:
    return draft.emit(cls, tame(draft, draft.operand(WIDE, (2, 2, 2, 3, 3, 4))))


@recipe(tensor.Eigh, tensor.Eig)
def draw_eigenvalues(draft: Draft, cls: type[Op]) -> object:
    return draft.emit(cls, tame(draft, square(draft)))


@recipe(tensor.Cholesky)
def draw_cholesky(draft: Draft, cls: type[Op]) -> object:
    return draft.emit(cls, heavy(draft, tame(draft, square(draft))))


@recipe(Equations)
def draw_equations(draft: Draft, cls: type[Op]) -> object:
    matrix = heavy(draft, tame(draft, square(draft)))
    shape = (*matrix.shape[:-1], draft.size())
    require_small(shape)
    right = draft.like(shape, matrix.dtype)
    if cls is tensor.Solve:
        return draft.emit(cls, matrix, right)
    return draft.emit(cls, matrix, right, draft.chance(0.5), draft.chance(0.3))


def square(draft: Draft) -> AnyValue:
    """A stack of square matrices."""
    stack, size = draft.shape(ranks=STACKS), draft.size()
    require_small((*stack, size, size))
    return draft.like((*stack, size, size), draft.dtype(WIDE))


def tame(draft: Draft, x: AnyValue) -> AnyValue:
    """x, with a half in the place of NaNs and of what is larger than 1."""
    (size,) = draft.emit(tensor.Absolute, x)
    (small,) = draft.emit(tensor.LessEqual, size, everywhere(draft, 1.0, size))
    return draft.emit(tensor.Select, small, x, everywhere(draft, 0.5, x))[0]


def heavy(draft: Draft, x: AnyValue) -> AnyValue:
    """x with a diagonal that outweighs all else."""
    last = len(x.shape) - 1
    row, column = (draft.emit(tensor.Iota, x.shape, axis, i64)[0] for axis in (last - 1, last))
    (diagonal,) = draft.emit(tensor.Equal, row, column)
    return draft.emit(tensor.Select, diagonal, everywhere(draft, 100.0, x), x)[0]


def everywhere(draft: Draft, number: float, like: AnyValue) -> AnyValue:
    """One number, in the type of a value."""
    return draft.emit(tensor.Broadcast, draft.number(number, like.dtype), shape=like.shape)[0]
