"""Activations that take what is close to 0 for 0.

Comes in: tensors of floats. Goes out: tensors of the same shape and dtype. At ±lambd, both the
value and the derivative are 0.
Never: a NaN taken for 0.
"""

from __future__ import annotations

from typing import Any

from ...frontend.functions.creation import asarray
from ...frontend.functions.elementwise import abs, sign, tanh
from ...frontend.functions.logic import less_equal, where
from ...frontend.tensor import Tensor
from ..arguments import at_least
from ..record import Record


def shrink(x: Any, /, lambd: float = 0.5, bias: float = 0.0) -> Tensor:
    """0 within ±lambd, elsewhere x, closer to 0 by the bias."""
    at_least("shrink", "lambd", lambd, 0)
    x = asarray(x)
    return where(less_equal(abs(x), lambd), 0.0, x - bias * sign(x) if bias else x)


class Shrink(Record):
    """0 within ±lambd, elsewhere x, closer to 0 by the bias."""

    lambd: float = 0.5
    bias: float = 0.0

    def forward(self, x: Any) -> Tensor:
        """x -> 0, x - bias or x + bias"""
        return shrink(x, self.lambd, self.bias)


def hardshrink(x: Any, /, lambd: float = 0.5) -> Tensor:
    """0 within ±lambd, elsewhere x."""
    return shrink(x, lambd)


class Hardshrink(Record):
    """0 within ±lambd, elsewhere x."""

    lambd: float = 0.5

    def forward(self, x: Any) -> Tensor:
        """x -> 0 or x"""
        return hardshrink(x, self.lambd)


def softshrink(x: Any, /, lambd: float = 0.5) -> Tensor:
    """0 within ±lambd, elsewhere x, closer to 0 by lambd."""
    return shrink(x, lambd, lambd)


class Softshrink(Record):
    """0 within ±lambd, elsewhere x, closer to 0 by lambd."""

    lambd: float = 0.5

    def forward(self, x: Any) -> Tensor:
        """x -> 0, x - lambd or x + lambd"""
        return softshrink(x, self.lambd)


def tanhshrink(x: Any, /) -> Tensor:
    """x - tanh(x)."""
    x = asarray(x)
    return x - tanh(x)


class Tanhshrink(Record):
    """x - tanh(x)."""

    def forward(self, x: Any) -> Tensor:
        """x -> x - tanh(x)"""
        return tanhshrink(x)
