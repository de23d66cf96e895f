"""Writing whole arrays without a kernel.

Comes in: arrays. Goes out: nothing; memory has changed.
"""

from typing import Any

from .. import types
from ..declare import Attr, Effect, Operand, same_as
from ..errors import require
from ..payloads import Array, Number, Payload
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
    """One number, of the array's dtype, into every element."""

    array: Operand[types.Array]
    value: Attr[Payload]

    def check(self) -> None:
        dtype = self.array.dtype
        is_number = isinstance(self.value, Number) and self.value.dtype is dtype
        require(is_number, f"the value is not one number of {dtype}", self.value)

    def act(self, frame: Any, array: Array) -> None:
        array[...] = self.value.array
