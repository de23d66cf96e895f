"""Arrays in memory: made, freed, seen in parts, measured.

Comes in: shapes, which may be symbolic, and arrays. Goes out: arrays, which are row-major and may
share memory, and sizes on the host.
Never: a value of an element.
"""

from math import prod
from typing import Any

import numpy as np

from .. import types
from ..attributes import Shape
from ..declare import Attr, Effect, Operand, Result, among
from ..dims import Size, check_size, interval
from ..dtypes import DType, i64
from ..errors import require
from ..payloads import Array
from ..types import INDEX, Scalar
from .allocations import allocations_of
from .base import StepOp


class Allocate(StepOp, name="step.allocate", effects=(Effect.WRITE,)):
    """Fresh memory, of which nothing may be read before it is written."""

    array: Result[types.Array]

    def act(self, frame: Any) -> Array:
        type_ = self.array.type
        return allocations_of(frame).allocate(frame.shape(type_.shape), type_.dtype)


class Free(StepOp, name="step.free", effects=(Effect.WRITE,)):
    """Give back what `step.allocate` gave; neither it nor a view of it may be used again."""

    array: Operand[types.Array]

    def check(self) -> None:
        require(isinstance(self.array.op, Allocate), "only what step.allocate gave can be freed")

    def act(self, frame: Any, array: Array) -> None:
        allocations_of(frame).free(array, self.array.dtype, self.location)


class View(StepOp, name="step.view", effects=(Effect.READ,)):
    """Part of the same memory, from element `offset` of the array on, read as another shape, and as
    another dtype where one is given."""

    array: Operand[types.Array]
    offset: Attr[Size]
    shape: Attr[Shape]
    dtype: Attr[DType | None] = None
    part: Result[types.Array]

    @staticmethod
    def infer(array: types.Array, offset: Size, shape: Shape, dtype: DType | None) -> types.Array:
        check_size(offset)
        part = types.Array(shape, dtype or array.dtype)
        end = offset * array.dtype.itemsize + prod(shape) * part.dtype.itemsize
        excess = end - prod(array.shape) * array.dtype.itemsize
        require(interval(excess)[0] <= 0, f"{part} at element {offset} does not fit into {array}")
        return part

    def act(self, frame: Any, array: Array) -> Array:
        require(array.flags.c_contiguous, "the elements of the array do not lie in row-major order")
        shape = frame.shape(self.part.type.shape)
        storage = self.part.dtype.storage
        start = frame.size(self.offset) * array.itemsize
        stop = start + int(np.prod(shape, dtype=np.int64)) * storage.itemsize
        require(start % storage.itemsize == 0, f"byte {start} is not aligned for {self.part.dtype}")
        require(
            0 <= start <= stop <= array.nbytes,
            f"bytes {start}..{stop} of an array that has {array.nbytes}",
        )
        return array.reshape(-1).view(np.uint8)[start:stop].view(storage).reshape(shape)


class Row(StepOp, name="step.row", effects=(Effect.READ,)):
    """The same memory at one index of the leading axis."""

    array: Operand[types.Array]
    index: Operand[Scalar] = among({i64})
    row: Result[types.Array]

    @staticmethod
    def infer(array: types.Array) -> types.Array:
        require(array.rank >= 1, "an array of rank 0 has no rows", array)
        return array.with_shape(array.shape[1:])

    def act(self, frame: Any, array: Array, index: Array) -> Array:
        place = int(index)
        require(0 <= place < array.shape[0], f"row {place} of an array that has {array.shape[0]}")
        return array[place, ...]


class Dim(StepOp, name="step.dim", effects=(Effect.READ,)):
    """The size of an array along an axis."""

    array: Operand[types.Array]
    axis: Attr[int]
    size: Result[Scalar]

    @staticmethod
    def infer(array: types.Array, axis: int) -> Scalar:
        require(0 <= axis < array.rank, "the array has no such axis", axis, array)
        return INDEX

    def act(self, frame: Any, array: Array) -> Array:
        return np.asarray(array.shape[self.axis], np.int64)
