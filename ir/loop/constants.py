"""Numbers that a program carries.

Comes in: an attribute. Goes out: a scalar, or a vector.
"""

from typing import Any

from ..declare import Attr, Result
from ..errors import require
from ..payloads import Array, Payload
from ..types import Scalar, Vec
from .base import VALUES, LoopOp, Register


class Constant(LoopOp, name="loop.constant"):
    """One number as a scalar, or a row of them as a vector."""

    value: Attr[Payload]
    result: Result[Register]

    is_constant = True

    @staticmethod
    def infer(value: Payload) -> Register:
        dtype, shape = value.dtype, value.shape
        require(dtype in VALUES, "complex numbers live on the tensor floor", dtype)
        require(len(shape) <= 1, "a constant is a number or one row of numbers", list(shape))
        return Vec(shape[0], dtype) if shape else Scalar(dtype)

    def run(self, frame: Any) -> Array:
        return self.value.array


LoopOp.constant_class = Constant
