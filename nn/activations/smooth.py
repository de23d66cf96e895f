"""Activations without a bend: sigmoids, and products with them.

Comes in: tensors of floats. Goes out: tensors of the same shape and dtype.
Never: an overflow on the way to a result that is finite.
"""

from __future__ import annotations

from typing import Any, Literal

from ...frontend.errors import one_of
from ...frontend.functions.activations import gelu, log_sigmoid, sigmoid, silu, softplus
from ...frontend.functions.creation import asarray
from ...frontend.functions.elementwise import abs, multiply, sign, tanh
from ...frontend.functions.logic import equal, isinf, where
from ...frontend.tensor import Tensor
from ..arguments import above
from ..record import Record

INFINITY = float("inf")


class Sigmoid(Record):
    """1 / (1 + exp(-x))."""

    def forward(self, x: Any) -> Tensor:
        """x -> 1 / (1 + exp(-x))"""
        return sigmoid(x)


class LogSigmoid(Record):
    """log(sigmoid(x))."""

    def forward(self, x: Any) -> Tensor:
        """x -> log(sigmoid(x))"""
        return log_sigmoid(x)


class Tanh(Record):
    """The hyperbolic tangent."""

    def forward(self, x: Any) -> Tensor:
        """x -> tanh(x)"""
        return tanh(x)


class Softplus(Record):
    """log(1 + exp(beta * x)) / beta, as accurate for large x without a threshold."""

    beta: float = 1.0

    def forward(self, x: Any) -> Tensor:
        """x -> log(1 + exp(beta * x)) / beta"""
        above("Softplus", "beta", self.beta, 0)
        return softplus(multiply(self.beta, x)) / self.beta


def softsign(x: Any, /) -> Tensor:
    """x / (1 + |x|); of an infinity, its sign."""
    x = asarray(x)
    infinite = isinf(x)
    finite = where(infinite, 0.0, x)
    return where(infinite, sign(x), finite / (1.0 + abs(finite)))


class Softsign(Record):
    """x / (1 + |x|)."""

    def forward(self, x: Any) -> Tensor:
        """x -> x / (1 + |x|)"""
        return softsign(x)


class SiLU(Record):
    """x * sigmoid(x)."""

    def forward(self, x: Any) -> Tensor:
        """x -> x * sigmoid(x)"""
        return silu(x)


class GELU(Record):
    """x times the probability that a standard normal number is below it; "tanh" estimates it."""

    approximate: Literal["none", "tanh"] = "none"

    def forward(self, x: Any) -> Tensor:
        """x -> x * Φ(x)"""
        way = one_of("GELU", "approximate", self.approximate, ("none", "tanh"))
        return gelu(x, approximate=way == "tanh")


def mish(x: Any, /) -> Tensor:
    """x * tanh(log(1 + exp(x)))."""
    # Far below 0 the other factor wins, and of -inf it is 0.
    bounded = where(equal(x, -INFINITY), 0.0, x)
    return bounded * tanh(softplus(x))


class Mish(Record):
    """x * tanh(log(1 + exp(x)))."""

    def forward(self, x: Any) -> Tensor:
        """x -> x * tanh(log(1 + exp(x)))"""
        return mish(x)
