"""Small matrices that the lanes of a subgroup, or the tile registers of a core, hold together.

Comes in: buffers, numbers, fragments. Goes out: fragments, and changed buffers.
Never: one element of a fragment; which lane holds which is the target's secret. So every lane of
the subgroup comes to an op here, with equal operands, and all get the same fragment.
"""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, ClassVar

import numpy as np

from ..declare import Attr, Effect, Operand, Result, among, same_as
from ..dtypes import FLOATS, REALS
from ..errors import require
from ..interpreter.arrays import stored, widened
from ..payloads import Array
from ..types import Buffer, Fragment, Scalar, Use
from .base import INDICES, VALUES
from .bounds import checked
from .lanes import Meeting


class Layout(Enum):
    """Which elements of a matrix stand next to each other in memory."""

    ROW_MAJOR = "row_major"
    COLUMN_MAJOR = "column_major"


class FragmentOp(Meeting):
    """An op that a subgroup does once: `once` takes the operands that all its lanes have."""

    once: ClassVar[Callable[..., Any]]

    def meet(self, operands: Sequence[Sequence[Any]]) -> Sequence[Any]:
        first = operands[0]
        for lane, other in enumerate(operands):
            same = all(map(_equal, first, other))
            require(same, f"lane {lane} of the subgroup has other operands than lane 0")
        return [self.once(*first)] * len(operands)


class FragmentFill(FragmentOp, name="loop.fragment_fill"):
    """A matrix with the same number everywhere."""

    value: Operand[Scalar] = among(VALUES)
    rows: Attr[int]
    columns: Attr[int]
    use: Attr[Use]
    result: Result[Fragment]

    @staticmethod
    def infer(value: Scalar, rows: int, columns: int, use: Use) -> Fragment:
        return Fragment(rows, columns, value.dtype, use)

    def once(self, value: Array) -> Array:
        return np.full((self.rows, self.columns), value, value.dtype)


class FragmentLoad(FragmentOp, name="loop.fragment_load", effects=(Effect.READ,)):
    """The matrix that starts at an index; `stride` is the distance of its rows (row-major) or of
    its columns (column-major)."""

    buffer: Operand[Buffer] = among(VALUES)
    index: Operand[Scalar] = among(INDICES)
    stride: Operand[Scalar] = among(INDICES)
    rows: Attr[int]
    columns: Attr[int]
    use: Attr[Use]
    layout: Attr[Layout] = Layout.ROW_MAJOR
    result: Result[Fragment]

    @staticmethod
    def infer(buffer: Buffer, rows: int, columns: int, use: Use) -> Fragment:
        return Fragment(rows, columns, buffer.dtype, use)

    def once(self, buffer: Array, index: Array, stride: Array) -> Array:
        places = _places(index, stride, (self.rows, self.columns), self.layout)
        return buffer[checked(self, buffer, places)]


class FragmentStore(FragmentOp, name="loop.fragment_store", effects=(Effect.WRITE,)):
    """Put the matrix from an index on, in the layout that a load would read."""

    buffer: Operand[Buffer] = among(VALUES)
    index: Operand[Scalar] = among(INDICES)
    stride: Operand[Scalar] = among(INDICES)
    value: Operand[Fragment]
    layout: Attr[Layout] = Layout.ROW_MAJOR

    def check(self) -> None:
        buffer, value = self.buffer.type, self.value.type
        require(value.dtype is buffer.dtype, "the value is of another dtype", buffer, value)

    def once(self, buffer: Array, index: Array, stride: Array, value: Array) -> tuple[()]:
        places = checked(self, buffer, _places(index, stride, value.shape, self.layout))
        distinct = len(np.unique(places)) == places.size
        require(distinct, f"elements overlap in memory with a stride of {stride}")
        buffer[places] = value
        return ()


class FragmentMultiplyAccumulate(FragmentOp, name="loop.fragment_multiply_accumulate"):
    """accumulator + a @ b, in the accumulator's dtype (f32 for narrow floats): one product after
    the other is added, each rounded, and the sum is rounded to the accumulator's dtype once."""

    a: Operand[Fragment] = among(REALS)
    b: Operand[Fragment]
    accumulator: Operand[Fragment] = among(REALS)
    result: Result[Fragment] = same_as("accumulator")

    def check(self) -> None:
        a, b, accumulator = self.a.type, self.b.type, self.accumulator.type
        uses = (a.use, b.use, accumulator.use)
        require(uses == (Use.LEFT, Use.RIGHT, Use.ACCUMULATOR), "wrong uses", a, b, accumulator)
        require(a.dtype is b.dtype, "dtypes differ", a, b)
        floats = {a.dtype in FLOATS, accumulator.dtype in FLOATS}
        wide = accumulator.dtype.bits >= a.dtype.bits
        require(len(floats) == 1 and wide, "cannot accumulate in this dtype", a, accumulator)
        inner = a.columns == b.rows
        outer = (a.rows, b.columns) == (accumulator.rows, accumulator.columns)
        require(inner and outer, "sizes differ", a, b, accumulator)

    def once(self, a: Array, b: Array, accumulator: Array) -> Array:
        dtype = self.accumulator.dtype
        total = widened(accumulator, dtype)
        left, right = a.astype(total.dtype), b.astype(total.dtype)
        for inner in range(left.shape[1]):
            total = total + left[:, inner : inner + 1] * right[inner : inner + 1, :]
        return stored(total, dtype)


def _equal(left: Array, right: Array) -> bool:
    """Whether two lanes hold the same: the same buffer, or the same bits."""
    return left is right or (left.ndim != 1 and left.tobytes() == right.tobytes())


def _places(index: Array, stride: Array, shape: tuple[int, ...], layout: Layout) -> Array:
    """Where in its buffer each element of a matrix stands."""
    rows, columns = np.ogrid[: shape[0], : shape[1]]
    along, across = (columns, rows) if layout is Layout.ROW_MAJOR else (rows, columns)
    return index.astype(np.int64) + across * stride.astype(np.int64) + along


__all__ = [
    "FragmentFill", "FragmentLoad", "FragmentMultiplyAccumulate", "FragmentOp", "FragmentStore",
    "Layout",
]  # fmt: skip
