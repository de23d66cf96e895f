"""The operands of a contraction as batches of matrices in memory.

Comes in: a contraction of two arguments. Goes out: a `Matrix` for each operand, if its axes can be
seen as three: those of the batch, the free ones and the contracted ones, in any order.
Never: a copy; an operand whose axes are mixed has no such form.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from math import prod

from ....ir import tensor
from ....ir.attributes import Shape
from ....ir.dims import Size
from ....ir.dtypes import DType
from ....ir.tensor.axes import other_axes
from ....ir.tensor.contract import wider
from ....ir.values import AnyValue
from ..kernel import Param
from ..parts import Part
from ..writer import Writer


class Role(Enum):
    """What an axis of an operand is to the product."""

    BATCH, FREE, CONTRACT = "batch", "free", "contract"


Groups = Mapping[Role, tuple[int, ...]]
"""The axes of an operand, in the order in which the product takes them."""


class InThree:
    """An operand that is seen in three axes, which are `order`."""

    __slots__ = ()
    order: tuple[Role, Role, Role]
    sizes: Mapping[Role, Size]

    @property
    def shape(self) -> Shape:
        """The shape in which it is seen."""
        return tuple(self.sizes[role] for role in self.order)

    @property
    def fast(self) -> Role:
        """The role of the axis along which neighbours lie."""
        return self.order[-1]


@dataclass(frozen=True, slots=True)
class Matrix(InThree):
    """The array of this number, seen in three axes, which are `order`."""

    array: int
    dtype: DType
    order: tuple[Role, Role, Role]
    sizes: Mapping[Role, Size]

    @property
    def params(self) -> list[Param]:
        """What is read."""
        return [Param(0, self.shape, self.dtype, "matrix")]

    @property
    def parts(self) -> list[Part]:
        """The array that is read."""
        return [Part(self.array, self.shape)]

    @property
    def asked(self) -> list[Size]:
        """The sizes that are asked for where it is loaded."""
        return [*self.sizes.values()]

    def load(
        self,
        writer: Writer,
        views: Sequence[AnyValue],
        places: Mapping[Role, AnyValue],
        counts: Mapping[Role, int],
    ) -> AnyValue:
        """A block at some places, so many elements long along each axis."""
        offsets = [places[role] for role in self.order]
        return writer.load(views[0], offsets, *[counts[role] for role in self.order])


@dataclass(frozen=True, slots=True)
class Extent:
    """The sizes of a product, and the dtype in which it is summed."""

    batch: Size
    m: Size
    n: Size
    k: Size
    wide: DType


def extent_of(op: tensor.Contract) -> Extent:
    """The sizes of a contraction."""
    left, right = sides_of(op)
    ours, theirs = op.left.type.shape, op.right.type.shape
    return Extent(
        prod(ours[axis] for axis in left[Role.BATCH]),
        prod(ours[axis] for axis in left[Role.FREE]),
        prod(theirs[axis] for axis in right[Role.FREE]),
        prod(ours[axis] for axis in left[Role.CONTRACT]),
        wider(op.left.dtype, op.dtype),
    )


def sides_of(op: tensor.Contract) -> tuple[Groups, Groups]:
    """The axes of both operands."""
    return (
        _groups(op.left.type.rank, op.left_batch, op.left_contract),
        _groups(op.right.type.rank, op.right_batch, op.right_contract),
    )


def _groups(rank: int, batch: tuple[int, ...], contract: tuple[int, ...]) -> Groups:
    free = tuple(other_axes(rank, batch, contract))
    return {Role.BATCH: batch, Role.FREE: free, Role.CONTRACT: contract}


def in_order(groups: Groups) -> tuple[int, ...]:
    """All axes of an operand: of the batch, free, contracted."""
    return tuple(axis for role in Role for axis in groups[role])


def matrix_of(shape: Shape, dtype: DType, groups: Groups, array: int) -> Matrix | None:
    """An operand as matrices, if each group of axes is as good as one axis."""
    sizes = {role: prod(shape[axis] for axis in axes) for role, axes in groups.items()}
    role_of = {axis: role for role, axes in groups.items() for axis in axes}
    long = [axis for axis in range(len(shape)) if shape[axis] != 1]
    together = [(role_of[axis], axis) for axis in long]
    order = list(dict.fromkeys(role for role, _ in together))
    if sum(1 for one, other in pairwise(together) if one[0] is not other[0]) >= max(len(order), 1):
        return None  # a group is torn apart
    for axes in groups.values():
        if not _rising([axis for axis in axes if shape[axis] != 1]):
            return None
    if order[-1:] == [Role.BATCH] and len(order) > 1:
        return None  # no neighbours that a vector could take
    missing = [role for role in Role if role not in order]
    first, second, third = *missing, *order
    return Matrix(array, dtype, (first, second, third), sizes)


def _rising(axes: Sequence[int]) -> bool:
    return list(axes) == sorted(axes)
