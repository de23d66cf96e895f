"""Writing whole arrays without a kernel.

Comes in: arrays, and numbers of the host. Goes out: nothing; memory has changed.
"""

from typing import Any

from .. import types
from ..declare import Attr, Effect, Operand, same_as
from ..errors import require
from ..payloads import Array, Number, Payload
from ..types import Scalar
from .allocations import overlaps
from .base import StepOp


class Copy(StepOp, name="step.copy", effects=(Effect.READ, Effect.WRITE)):
    """Every element of `source` into `destination`, which shares no memory with it."""

    source: Operand[types.Array]
    destination: Operand[types.Array] = same_as("source")

    def act(self, frame: Any, source: Array, destination: Array) -> None:
        require(not overlaps(source, destination), "source and destination overlap")
        destination[...] = source


class Fill(StepOp, name="step.fill", effects=(Effect.WRITE,)):
    """One number into every element, or as many numbers as the array has; of its dtype."""

    array: Operand[types.Array]
    value: Attr[Payload]

    def check(self) -> None:
        dtype = self.array.dtype
        require(self.value.dtype is dtype, f"the value is not of {dtype}", self.value)
        fits = isinstance(self.value, Number) or self.value.shape == self.array.type.shape
        require(fits, f"the value is neither one number nor {self.array.type}", self.value)

    def act(self, frame: Any, array: Array) -> None:
        array[...] = self.value.array


class Store(StepOp, name="step.store", effects=(Effect.WRITE,)):
    """A number of the host into an array of rank 0."""

    number: Operand[Scalar]
    array: Operand[types.Array]

    def check(self) -> None:
        expected = types.Array((), self.number.type.dtype)
        require(self.array.type is expected, f"the array is no {expected}", self.array.type)

    def act(self, frame: Any, number: Array, array: Array) -> None:
        array[...] = number
