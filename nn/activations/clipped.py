"""Activations made of straight pieces that end in constants.

Comes in: tensors of floats. Goes out: tensors of the same shape and dtype. At the ends of a piece,
the derivative is that of what is constant, as in PyTorch.
Never: half a derivative, as `clip` has at its ends.
"""

from __future__ import annotations

from typing import Any

from ...frontend.functions.elementwise import add, clip
from ...frontend.functions.logic import greater, less, less_equal, where
from ...frontend.grad import stop_gradient
from ...frontend.tensor import Tensor
from ..arguments import above
from ..record import Record


def hardtanh(x: Any, /, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """x, but at least `min_val` and at most `max_val`."""
    above("hardtanh", "max_val", max_val, min_val)
    inside = greater(x, min_val) & less(x, max_val)
    return where(inside, x, stop_gradient(clip(x, min_val, max_val)))


class Hardtanh(Record):
    """x, but at least `min_val` and at most `max_val`."""

    min_val: float = -1.0
    max_val: float = 1.0

    def forward(self, x: Any) -> Tensor:
        """x -> min(max(x, min_val), max_val)"""
        return hardtanh(x, self.min_val, self.max_val)


def relu6(x: Any, /) -> Tensor:
    """x, but at least 0 and at most 6."""
    return hardtanh(x, 0.0, 6.0)


class ReLU6(Record):
    """x, but at least 0 and at most 6."""

    def forward(self, x: Any) -> Tensor:
        """x -> min(max(x, 0), 6)"""
        return relu6(x)


def hardsigmoid(x: Any, /) -> Tensor:
    """x / 6 + 1/2, but at least 0 and at most 1."""
    return relu6(add(x, 3.0)) / 6.0


class Hardsigmoid(Record):
    """x / 6 + 1/2, but at least 0 and at most 1."""

    def forward(self, x: Any) -> Tensor:
        """x -> min(max(x / 6 + 1/2, 0), 1)"""
        return hardsigmoid(x)


def hardswish(x: Any, /) -> Tensor:
    """x * hardsigmoid(x): 0 up to -3, x from 3 on, a parabola between them."""
    between = clip(x, -3.0, 3.0)
    parabola = between * (between + 3.0) / 6.0
    return where(less_equal(x, -3.0), 0.0, where(less(x, 3.0), parabola, x))


class Hardswish(Record):
    """x * hardsigmoid(x)."""

    def forward(self, x: Any) -> Tensor:
        """x -> x * hardsigmoid(x)"""
        return hardswish(x)
