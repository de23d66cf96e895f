"""Scans: every prefix along an axis, combined to one element.

Comes in: a tensor. Goes out: a tensor of the same type, whose element i combines 0..i, or with
`reverse` i..last. Elements are combined one after the other; narrow floats accumulate in f32 and
each result is rounded once.
Never: an exclusive scan; that is a pad and a slice of one.
"""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ..declare import Attr, Operand, Result, among, same_as
from ..dtypes import NUMBERS, ORDERED
from ..interpreter.arrays import stored, widened
from ..payloads import Array
from ..types import Tensor
from .base import TensorOp, check_axis
from .order import MAXIMUM, MINIMUM

Prefixes = Callable[..., Array]


def prefixes(function: np.ufunc) -> Prefixes:
    """The scan by a ufunc along an axis, in the dtype of the array."""

    def along(array: Array, axis: int) -> Array:
        return function.accumulate(array, axis=axis, dtype=array.dtype)

    return along


class Scan(TensorOp):
    """Each element combined with all before it along `axis`, or with `reverse` all after it."""

    x: Operand[Tensor] = among(NUMBERS)
    axis: Attr[int]
    reverse: Attr[bool] = False
    result: Result[Tensor] = same_as("x")

    prefixes: ClassVar[Prefixes]

    def __init_subclass__(cls, name: str = "", prefixes: Prefixes | None = None) -> None:
        super().__init_subclass__(name=name)
        if prefixes is not None:
            cls.prefixes = staticmethod(prefixes)

    def check(self) -> None:
        check_axis(self.axis, self.x.type)

    def run(self, frame: Any, *operands: Array) -> Array:
        (x,) = operands
        dtype = self.x.dtype
        forward = np.flip(x, self.axis) if self.reverse else x
        combined = stored(self.prefixes(widened(forward, dtype), self.axis), dtype)
        return np.flip(combined, self.axis) if self.reverse else combined


class CumulativeSum(Scan, name="tensor.cumulative_sum", prefixes=prefixes(np.add)):
    """The sum of each element and all before it."""


class CumulativeProduct(Scan, name="tensor.cumulative_product", prefixes=prefixes(np.multiply)):
    """The product of each element and all before it."""


class CumulativeMaximum(Scan, name="tensor.cumulative_maximum", prefixes=MAXIMUM.accumulate):
    """The largest of each element and all before it; NaN from the first NaN on."""

    x: Operand[Tensor] = among(ORDERED)


class CumulativeMinimum(Scan, name="tensor.cumulative_minimum", prefixes=MINIMUM.accumulate):
    """The smallest of each element and all before it; NaN from the first NaN on."""

    x: Operand[Tensor] = among(ORDERED)
