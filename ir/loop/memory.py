"""Buffers: made, measured, and read and written one number at a time.

Comes in: buffers and indices. Goes out: numbers, and changed buffers.
Never: an address, or a choice between buffers: an op names the buffer it touches.
"""

from typing import Any

import numpy as np

from ..declare import Attr, Effect, Operand, Result, among
from ..dims import Size
from ..dtypes import DType, Kind
from ..errors import require
from ..payloads import Array
from ..types import INDEX, Buffer, Scalar, Space
from .base import INDICES, VALUES, LoopOp
from .bounds import checked
from .lanes import Lane

POISON = 0xAA
"""Every byte of fresh memory that holds no floats."""


class Allocate(LoopOp, name="loop.allocate", effects=(Effect.WRITE,)):
    """Fresh memory for `count` numbers, which hold NaN or nonsense until they are written.

    Local memory belongs to one lane, shared memory to all lanes of a program: when they come here
    in the same turn of the loops around, they get the same buffer.
    """

    count: Attr[Size]
    dtype: Attr[DType]
    space: Attr[Space]
    result: Result[Buffer]

    @staticmethod
    def infer(count: Size, dtype: DType, space: Space) -> Buffer:
        require(
            space is not Space.GLOBAL, "global memory is allocated by the step, not by a kernel"
        )
        require(dtype in VALUES, "complex numbers live on the tensor floor", dtype)
        require(not isinstance(count, int) or count >= 0, "a buffer has no negative length", count)
        return Buffer(dtype, space)

    def run(self, frame: Any) -> Array:
        count = frame.size(self.count)
        require(count >= 0, "a buffer has no negative length", count)
        if self.space is Space.SHARED and isinstance(frame, Lane):
            return frame.shared(self, lambda: poisoned(count, self.dtype))
        return poisoned(count, self.dtype)


class Length(LoopOp, name="loop.length"):
    """How many numbers a buffer holds."""

    buffer: Operand[Buffer] = among(VALUES)
    result: Result[Scalar]

    @staticmethod
    def infer() -> Scalar:
        return INDEX

    def run(self, frame: Any, buffer: Array) -> Array:
        return np.asarray(len(buffer), np.int64)


class Load(LoopOp, name="loop.load", effects=(Effect.READ,)):
    """The number at an index; a `steady` one is there, and is the same for all programs."""

    buffer: Operand[Buffer] = among(VALUES)
    index: Operand[Scalar] = among(INDICES)
    steady: Attr[bool] = False
    result: Result[Scalar]

    @staticmethod
    def infer(buffer: Buffer) -> Scalar:
        return Scalar(buffer.dtype)

    def run(self, frame: Any, buffer: Array, index: Array) -> Array:
        return np.array(buffer[checked(self, buffer, index)])


class Store(LoopOp, name="loop.store", effects=(Effect.WRITE,)):
    """Put a number at an index."""

    buffer: Operand[Buffer] = among(VALUES)
    index: Operand[Scalar] = among(INDICES)
    value: Operand[Scalar] = among(VALUES)

    def check(self) -> None:
        require_element(self.buffer.type, self.value.type)

    def run(self, frame: Any, buffer: Array, index: Array, value: Array) -> tuple[()]:
        buffer[checked(self, buffer, index)] = value
        return ()


class Prefetch(LoopOp, name="loop.prefetch", effects=(Effect.READ,)):
    """A hint that the number at an index will be wanted soon.

    It touches nothing, so the index may lie outside. `locality` says how long the number is
    worth keeping: 0 not at all, 3 in every cache.
    """

    buffer: Operand[Buffer] = among(VALUES)
    index: Operand[Scalar] = among(INDICES)
    locality: Attr[int] = 3

    def check(self) -> None:
        require(0 <= self.locality <= 3, "locality is 0, 1, 2 or 3", self.locality)

    def run(self, frame: Any, buffer: Array, index: Array) -> tuple[()]:
        return ()


def require_element(buffer: Buffer, value: Any) -> None:
    """Refuse to write a value of another dtype than the buffer's."""
    require(value.dtype is buffer.dtype, "the value is of another dtype", buffer, value)


def poisoned(count: int, dtype: DType) -> Array:
    """Memory nobody has written: floats are NaN, bools true, other numbers a pattern of bits."""
    if dtype.kind is Kind.FLOAT:
        return np.full(count, np.nan, dtype.storage)
    if dtype.kind is Kind.BOOL:
        return np.ones(count, dtype.storage)
    return np.full(count * dtype.itemsize, POISON, np.uint8).view(dtype.storage)


__all__ = ["Allocate", "Length", "Load", "Prefetch", "Store"]
