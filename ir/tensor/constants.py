"""Tensors that come from nothing: constants and counting.

Comes in: attributes only. Goes out: tensors.
"""

from typing import Any

import numpy as np

from ..attributes import Shape
from ..declare import Attr, Result
from ..dtypes import NUMBERS, DType, i64
from ..errors import require
from ..interpreter.arrays import convert
from ..payloads import Array, Payload
from ..types import Tensor
from .base import TensorOp, check_axis, shape_of
from .rules import no_tangent


class Constant(TensorOp, name="tensor.constant"):
    """A number (rank 0) or an array that the program carries."""

    value: Attr[Payload]
    result: Result[Tensor]

    is_constant = True

    @staticmethod
    def infer(value: Payload) -> Tensor:
        return Tensor(value.shape, value.dtype)

    jvp = no_tangent

    def run(self, frame: Any, *operands: Array) -> Array:
        return self.value.array


TensorOp.constant_class = Constant


class Iota(TensorOp, name="tensor.iota"):
    """0, 1, 2, … along one axis, the same along the others."""

    shape: Attr[Shape]
    axis: Attr[int]
    dtype: Attr[DType]
    result: Result[Tensor]

    @staticmethod
    def infer(shape: Shape, axis: int, dtype: DType) -> Tensor:
        require(dtype in NUMBERS, "cannot count in this dtype", dtype)
        counted = Tensor(shape, dtype)
        check_axis(axis, counted)
        return counted

    jvp = no_tangent

    def run(self, frame: Any, *operands: Array) -> Array:
        shape = shape_of(frame, self.shape)
        line = convert(np.arange(shape[self.axis]), i64, self.dtype)
        after = len(shape) - 1 - self.axis
        return np.broadcast_to(line.reshape([-1] + [1] * after), shape)
