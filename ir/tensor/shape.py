"""The sizes of tensors, as values.

Comes in: a tensor. Goes out: a number that the host knows without waiting for the tensor.
"""

from typing import Any

import numpy as np

from ..builder import Builder
from ..declare import Attr, Operand, Result
from ..dims import Size
from ..dtypes import i64
from ..payloads import Array
from ..types import Tensor
from .base import TensorOp, Values, check_axis, rebuilt
from .rules import no_tangent


class Dim(TensorOp, name="tensor.dim"):
    """The size of one axis of x."""

    x: Operand[Tensor]
    axis: Attr[int]
    result: Result[Tensor]

    @staticmethod
    def infer(x: Tensor, axis: int) -> Tensor:
        check_axis(axis, x)
        return Tensor((), i64)

    jvp = no_tangent

    def batching(
        self, builder: Builder, operands: Values, batched: tuple[bool, ...], size: Size
    ) -> Values:
        return rebuilt(self, builder, operands, axis=self.axis + 1)

    def run(self, frame: Any, *operands: Array) -> Array:
        (x,) = operands
        return np.asarray(x.shape[self.axis], np.int64)
