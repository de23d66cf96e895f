"""Errors of indices, before a kernel reads or writes at the places that they name.

Comes in: an array, and indices into it. Goes out: nothing, or the error of the op of the tensor
floor that the kernel stands for; a kernel has no errors of its own.
Never: a look at what the array holds.
"""

from typing import Any

from .. import types
from ..declare import Attr, Effect, Operand, among
from ..dtypes import INTEGERS
from ..errors import ExecutionError, Unmet, require
from ..payloads import Array
from ..shared.places import require_inside
from .base import StepOp


class Inside(StepOp, name="step.inside", effects=(Effect.READ, Effect.HOST)):
    """An error of the op called `by`, unless all indices name places along `axes` of the array."""

    array: Operand[types.Array]
    indices: Operand[types.Array] = among(INTEGERS)
    axes: Attr[tuple[int, ...]]
    by: Attr[str]

    def check(self) -> None:
        shape = self.array.type.shape
        require(all(0 <= axis < len(shape) for axis in self.axes), f"axes = {list(self.axes)}")
        counted = self.indices.type.shape[-1:] == (len(self.axes),)
        require(counted, f"the last axis of indices has no index for each of {list(self.axes)}")

    def act(self, frame: Any, array: Array, indices: Array) -> None:
        try:
            require_inside(indices, self.axes, [array.shape[axis] for axis in self.axes])
        except Unmet as problem:
            raise ExecutionError(f"{self.by}: {problem}", self.location) from None
