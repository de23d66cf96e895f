"""Activations that let pass what is positive, and bend what is not.

Comes in: tensors of floats. Goes out: tensors of the same shape and dtype. At a bend the
derivative is that of the side below, as in PyTorch.
Never: an infinity on the side that is not taken, whose derivative would be NaN.
"""

from __future__ import annotations

from typing import Any

from ...frontend.errors import ShapeError, fail
from ...frontend.functions.activations import elu, leaky_relu, relu
from ...frontend.functions.creation import asarray, full
from ...frontend.functions.elementwise import expm1, multiply
from ...frontend.functions.logic import greater, less_equal, where
from ...frontend.functions.sampling import uniform
from ...frontend.tensor import Tensor
from ..arguments import above, at_least, check_counts
from ..context import is_training, next_key
from ..module import Module
from ..record import Record

SELU_SCALE, SELU_ALPHA = 1.0507009873554805, 1.6732632423543772
"""With these, layers keep mean 0 and variance 1 (Klambauer and others, 2017)."""


class ReLU(Record):
    """max(x, 0)."""

    def forward(self, x: Any) -> Tensor:
        """x -> max(x, 0)"""
        return relu(x)


class LeakyReLU(Record):
    """x above 0, negative_slope * x below."""

    negative_slope: float = 0.01

    def forward(self, x: Any) -> Tensor:
        """x -> x or negative_slope * x"""
        return leaky_relu(x, self.negative_slope)


def prelu(x: Any, weight: Any, /) -> Tensor:
    """x above 0, weight * x below; one weight, or one for each channel, which is axis 1."""
    x, weight = asarray(x), asarray(weight)
    if weight.size != 1:
        weight = _by_channel(x, weight)
    positive = greater(x, 0)
    return where(positive, x, weight * where(positive, 0.0, x))


def _by_channel(x: Tensor, weight: Tensor) -> Tensor:
    """The weights, stretching along all axes but that of the channels."""
    if x.ndim < 2 or weight.shape != (x.shape[1],):
        problem = "there is neither one weight nor one for each channel, which is axis 1"
        fail(ShapeError, "prelu", problem, x, weight)
    return weight.reshape((-1,) + (1,) * (x.ndim - 2))


class PReLU(Module):
    """x above 0, weight * x below, where the weights are learned."""

    weight: Tensor  # [num_parameters]

    def __init__(self, num_parameters: int = 1, init: float = 0.25, *, dtype: Any = None) -> None:
        check_counts("PReLU", 1, num_parameters=num_parameters)
        self.weight = full((num_parameters,), float(init), dtype=dtype)

    def forward(self, x: Any) -> Tensor:
        """[N, num_parameters, …] -> the same; one parameter serves any shape"""
        return prelu(x, self.weight)


def rrelu(x: Any, /, lower: float = 1 / 8, upper: float = 1 / 3) -> Tensor:
    """x above 0, slope * x below: slopes are drawn in training, else their mean is taken."""
    at_least("rrelu", "upper", upper, lower)
    if not is_training():
        return leaky_relu(x, (lower + upper) / 2)
    x = asarray(x)
    slopes = uniform(next_key(), x.shape, x.dtype, lower, upper)
    return where(greater(x, 0), x, slopes * x)


class RReLU(Record):
    """x above 0, slope * x below, where slopes are drawn in training, one for each element."""

    lower: float = 1 / 8
    upper: float = 1 / 3

    def forward(self, x: Any) -> Tensor:
        """x -> x or slope * x"""
        return rrelu(x, self.lower, self.upper)


class ELU(Record):
    """x above 0, alpha * (exp(x) - 1) below."""

    alpha: float = 1.0

    def forward(self, x: Any) -> Tensor:
        """x -> x or alpha * (exp(x) - 1)"""
        return elu(x, self.alpha)


def celu(x: Any, /, alpha: float = 1.0) -> Tensor:
    """x above 0, alpha * (exp(x / alpha) - 1) below: its derivative is continuous."""
    above("celu", "alpha", alpha, 0)
    positive = greater(x, 0)
    rest = where(positive, 0.0, x)
    return where(positive, x, alpha * expm1(rest / alpha))


class CELU(Record):
    """x above 0, alpha * (exp(x / alpha) - 1) below."""

    alpha: float = 1.0

    def forward(self, x: Any) -> Tensor:
        """x -> x or alpha * (exp(x / alpha) - 1)"""
        return celu(x, self.alpha)


def selu(x: Any, /) -> Tensor:
    """`elu`, scaled so that layers keep mean 0 and variance 1."""
    return multiply(SELU_SCALE, elu(x, SELU_ALPHA))


class SELU(Record):
    """`elu`, scaled so that layers keep mean 0 and variance 1."""

    def forward(self, x: Any) -> Tensor:
        """x -> scale * elu(x)"""
        return selu(x)


def threshold(x: Any, threshold: float, value: float, /) -> Tensor:
    """x above the threshold, else the value."""
    return where(less_equal(x, threshold), value, x)


class Threshold(Record):
    """x above the threshold, else the value."""

    threshold: float
    value: float

    def forward(self, x: Any) -> Tensor:
        """x -> x or value"""
        return threshold(x, self.threshold, self.value)


class ThresholdedReLU(Record):
    """x above alpha, else 0."""

    alpha: float = 1.0

    def forward(self, x: Any) -> Tensor:
        """x -> x or 0"""
        return threshold(x, self.alpha, 0.0)
