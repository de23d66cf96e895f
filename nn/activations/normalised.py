"""Activations that make shares of a whole out of the numbers along an axis.

Comes in: tensors of floats. Goes out: tensors of the same shape and dtype.
Never: a power that overflows.
"""

from __future__ import annotations

from typing import Any

from ...frontend.functions.activations import log_softmax, softmax
from ...frontend.functions.elementwise import negative
from ...frontend.tensor import Tensor
from ..record import Record


class Softmax(Record):
    """exp(x) / sum(exp(x)) along an axis."""

    dim: int = -1

    def forward(self, x: Any) -> Tensor:
        """x -> exp(x) / sum(exp(x))"""
        return softmax(x, self.dim)


class LogSoftmax(Record):
    """log(softmax(x)) along an axis."""

    dim: int = -1

    def forward(self, x: Any) -> Tensor:
        """x -> log(softmax(x))"""
        return log_softmax(x, self.dim)


def softmin(x: Any, /, axis: int = -1) -> Tensor:
    """softmax(-x) along an axis."""
    return softmax(negative(x), axis)


class Softmin(Record):
    """softmax(-x) along an axis."""

    dim: int = -1

    def forward(self, x: Any) -> Tensor:
        """x -> softmax(-x)"""
        return softmin(x, self.dim)
