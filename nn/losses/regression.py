"""Losses of numbers beside numbers: how far off they are, and how likely that is.

Comes in: predictions and targets of one shape. Goes out: a loss, in f32 or f64.
Never: a derivative at no distance that is NaN.
"""

from __future__ import annotations

from math import log as log_of
from math import pi
from typing import Any

from ...frontend.functions.elementwise import abs, exp, log, maximum, minimum, square
from ...frontend.functions.logic import equal, greater, where
from ...frontend.grad import stop_gradient
from ...frontend.tensor import Tensor
from ..arguments import above, at_least
from .loss import Loss, Reduction, alike, reduced, wide


def l1_loss(input: Any, target: Any, *, reduction: Reduction = "mean") -> Tensor:
    """|input - target|."""
    input, target = alike("l1_loss", input, target)
    return reduced("l1_loss", abs(input - target), reduction)


class L1Loss(Loss):
    """The distance, `l1_loss`."""

    reduction: Reduction = "mean"
    function = staticmethod(l1_loss)


def mse_loss(input: Any, target: Any, *, reduction: Reduction = "mean") -> Tensor:
    """(input - target)²."""
    input, target = alike("mse_loss", input, target)
    return reduced("mse_loss", square(input - target), reduction)


class MSELoss(Loss):
    """The squared distance, `mse_loss`."""

    reduction: Reduction = "mean"
    function = staticmethod(mse_loss)


def lp_loss(input: Any, target: Any, *, p: float = 2.0, reduction: Reduction = "mean") -> Tensor:
    """|input - target| to the power p; the derivative at 0 is 0."""
    above("lp_loss", "p", p, 0)
    input, target = alike("lp_loss", input, target)
    apart = abs(input - target)
    none = equal(apart, 0)
    powers = where(none, 0.0, where(none, 1.0, apart) ** p)
    return reduced("lp_loss", powers, reduction)


class LpLoss(Loss):
    """A power of the distance, `lp_loss`."""

    p: float = 2.0
    reduction: Reduction = "mean"
    function = staticmethod(lp_loss)


def huber_loss(
    input: Any, target: Any, *, delta: float = 1.0, reduction: Reduction = "mean"
) -> Tensor:
    """Half the squared distance up to delta, from there on a line."""
    above("huber_loss", "delta", delta, 0)
    input, target = alike("huber_loss", input, target)
    return reduced("huber_loss", _huber(input - target, delta), reduction)


def _huber(apart: Tensor, delta: float) -> Tensor:
    distance = abs(apart)
    curved = minimum(distance, delta)
    return 0.5 * curved * curved + delta * (distance - curved)


class HuberLoss(Loss):
    """A squared distance that goes on as a line, `huber_loss`."""

    delta: float = 1.0
    reduction: Reduction = "mean"
    function = staticmethod(huber_loss)


def smooth_l1_loss(
    input: Any, target: Any, *, beta: float = 1.0, reduction: Reduction = "mean"
) -> Tensor:
    """The distance less beta / 2, but below beta a parabola: `huber_loss` over beta."""
    at_least("smooth_l1_loss", "beta", beta, 0)
    input, target = alike("smooth_l1_loss", input, target)
    apart = input - target
    losses = _huber(apart, beta) / beta if beta else abs(apart)
    return reduced("smooth_l1_loss", losses, reduction)


class SmoothL1Loss(Loss):
    """A distance without a bend at 0, `smooth_l1_loss`."""

    beta: float = 1.0
    reduction: Reduction = "mean"
    function = staticmethod(smooth_l1_loss)


def poisson_nll_loss(
    input: Any, target: Any, *, log_input: bool = True, full: bool = False, eps: float = 1e-8,
    reduction: Reduction = "mean",
) -> Tensor:  # fmt: skip
    """How unlikely counts are whose expectation is exp(input), or input itself.

    `full` adds Stirling's estimate of log(target!), where the target is above 1.
    """
    name = "poisson_nll_loss"
    input, target = alike(name, input, target)
    losses = exp(input) - target * input if log_input else input - target * log(input + eps)
    return reduced(name, losses + _stirling(target) if full else losses, reduction)


def _stirling(count: Tensor) -> Tensor:
    """About log(count!), and 0 up to 1."""
    many = greater(count, 1)
    some = where(many, count, 1.0)
    return where(many, some * log(some) - some + 0.5 * log(2 * pi * some), 0.0)


class PoissonNLLLoss(Loss):
    """How unlikely counts are, `poisson_nll_loss`."""

    log_input: bool = True
    full: bool = False
    eps: float = 1e-8
    reduction: Reduction = "mean"
    function = staticmethod(poisson_nll_loss)


def gaussian_nll_loss(
    input: Any, target: Any, var: Any, *, full: bool = False, eps: float = 1e-6,
    reduction: Reduction = "mean",
) -> Tensor:  # fmt: skip
    """How unlikely targets are that vary around the input with a variance, which is eps or more.

    The variance has the shape of the input, that without the last axis, or 1 there. Where it is
    raised to eps, gradients reach it all the same. `full` adds log(2π) / 2.
    """
    name = "gaussian_nll_loss"
    above(name, "eps", eps, 0)
    input, target = alike(name, input, target)
    var = _stretched(wide(var), input)
    var = var + stop_gradient(maximum(var, eps) - var)
    losses = 0.5 * (log(var) + square(input - target) / var)
    return reduced(name, losses + 0.5 * log_of(2 * pi) if full else losses, reduction)


def _stretched(var: Tensor, input: Tensor) -> Tensor:
    """One variance for each element, of one for all along the last axis."""
    if var.ndim == input.ndim - 1:
        var = var[..., None]
    if var.ndim and input.ndim and var.node.type.shape[-1] == 1:
        alike("gaussian_nll_loss", var[..., 0], input[..., 0])
        return var
    return alike("gaussian_nll_loss", var, input)[0]


class GaussianNLLLoss(Loss):
    """How unlikely targets are around a mean, with a variance, `gaussian_nll_loss`."""

    full: bool = False
    eps: float = 1e-6
    reduction: Reduction = "mean"
    function = staticmethod(gaussian_nll_loss)
