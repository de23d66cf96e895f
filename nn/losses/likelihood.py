"""Losses that are how unlikely targets are, given probabilities of classes or of yes and no.

Comes in: scores or probabilities; targets. Goes out: a loss in f32 or f64. What is certain and
comes true costs 0, what is impossible and comes true inf (of `binary_cross_entropy`, 100).
Never: 0 times an infinity.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from ...frontend.functions.activations import log_softmax, softplus
from ...frontend.functions.creation import asarray
from ...frontend.functions.elementwise import exp, log, log1p, maximum
from ...frontend.functions.indexing import take
from ...frontend.functions.logic import equal, where
from ...frontend.functions.manipulation import broadcast_to, expand_dims
from ...frontend.functions.special import xlogy
from ...frontend.tensor import Tensor
from ..arguments import within
from .loss import REDUCTIONS, Loss, Reduction, alike, reduced, wide
from .targets import Wanted, class_axis, importance, wanted

INFINITY = float("inf")


def cross_entropy(
    input: Any, target: Any, *, weight: Any = None, ignore_index: int | None = None,
    label_smoothing: float = 0.0, reduction: Reduction = "mean", axis: int = 1,
) -> Tensor:  # fmt: skip
    """How unlikely the targets are where probabilities are softmax(input) along an axis.

    Targets are the places of classes, without that axis, or the share of each class. `weight` says
    how much each class counts, `label_smoothing` how much of each target is spread over all
    classes. Examples whose target is `ignore_index` do not count.
    """
    name = "cross_entropy"
    scores = wide(input)
    place = class_axis(name, scores, axis)
    within(name, "label_smoothing", label_smoothing, 0, 1)
    logs = log_softmax(scores, axis=place)
    targets = wanted(name, target, logs, place, ignore_index)
    if label_smoothing:
        even = label_smoothing / logs.shape[place]
        targets = targets._replace(shares=targets.shares * (1 - label_smoothing) + even)
    return _unlikeliness(name, logs, targets, weight, place, reduction)


class CrossEntropyLoss(Loss):
    """How unlikely classes are whose scores are known, `cross_entropy`."""

    weight: Any = None
    ignore_index: int | None = None
    label_smoothing: float = 0.0
    reduction: Reduction = "mean"
    axis: int = 1
    function = staticmethod(cross_entropy)


def nll_loss(
    input: Any, target: Any, *, weight: Any = None, ignore_index: int | None = None,
    reduction: Reduction = "mean", axis: int = 1,
) -> Tensor:  # fmt: skip
    """How unlikely the targets are where the input is the logarithms of probabilities.

    The arguments are those of `cross_entropy`.
    """
    logs = wide(input)
    place = class_axis("nll_loss", logs, axis)
    targets = wanted("nll_loss", target, logs, place, ignore_index)
    return _unlikeliness("nll_loss", logs, targets, weight, place, reduction)


class NLLLoss(Loss):
    """How unlikely classes are whose probabilities are known, `nll_loss`."""

    weight: Any = None
    ignore_index: int | None = None
    reduction: Reduction = "mean"
    axis: int = 1
    function = staticmethod(nll_loss)


def _unlikeliness(
    name: str, logs: Tensor, targets: Wanted, weight: Any, axis: int, reduction: Reduction
) -> Tensor:
    """The negative logarithms, as far as they are wanted; classes count as they are weighed."""
    shares, places, counts = targets
    weights = None if weight is None else importance(name, weight, logs, axis)
    if weights is not None:
        shares = shares * expand_dims(weights, axis=tuple(range(1, logs.ndim - axis)))
    losses = -_times_log(shares, logs).sum(axis=axis)
    if counts is not None:
        losses = where(counts, losses, 0.0)
    all_count = weights is None and counts is None
    if reduction != "mean" or places is None or all_count:
        return reduced(name, losses, reduction)
    divisor = 1.0 if weights is None else take(weights, places)
    divisor = divisor if counts is None else where(counts, divisor, 0.0)
    return losses.sum() / asarray(divisor).sum()


def _times_log(share: Tensor, logarithm: Tensor) -> Tensor:
    """A share times the logarithm of a probability: of what is not wanted 0, even if impossible."""
    nothing = equal(share, 0) & equal(logarithm, -INFINITY)
    return share * where(nothing, 0.0, logarithm)


def kl_div(
    input: Any, target: Any, *, log_target: bool = False,
    reduction: Reduction | Literal["batchmean"] = "mean",
) -> Tensor:  # fmt: skip
    """target * (log(target) - input): how far the input, logarithms, is from target probabilities.

    "batchmean" sums for each example, and takes the mean of these: the divergence of mathematics.
    """
    input, target = alike("kl_div", input, target)
    share = exp(target) if log_target else target
    own = _times_log(share, target) if log_target else xlogy(target, target)
    losses = own - _times_log(share, input)
    if reduction == "batchmean":
        return losses.sum(axis=tuple(range(1, losses.ndim))).mean()
    return reduced("kl_div", losses, reduction)


class KLDivLoss(Loss):
    """How far probabilities are from others, `kl_div`."""

    log_target: bool = False
    reduction: Reduction | Literal["batchmean"] = "mean"
    reductions = (*REDUCTIONS, "batchmean")
    function = staticmethod(kl_div)


def binary_cross_entropy(
    input: Any, target: Any, *, weight: Any = None, reduction: Reduction = "mean"
) -> Tensor:
    """How unlikely the targets are, where the input is the probability of 1: at most 100.

    `weight` stretches to the shape of the input.
    """
    name = "binary_cross_entropy"
    input, target = alike(name, input, target)
    yes = _logarithm(log, input, equal(input, 0))
    no = _logarithm(log1p, -input, equal(input, 1))
    losses = -(target * yes + (1.0 - target) * no)
    return reduced(name, _weighed(losses, weight), reduction)


def _logarithm(function: Callable[[Tensor], Tensor], x: Tensor, impossible: Tensor) -> Tensor:
    """log or log1p, but -100 or more; where it is infinite, the derivative is 0."""
    return where(impossible, -100.0, maximum(function(where(impossible, 0.5, x)), -100.0))


def _weighed(losses: Tensor, weight: Any) -> Tensor:
    return losses if weight is None else losses * broadcast_to(wide(weight), losses.shape)


class BCELoss(Loss):
    """How unlikely yes and no are, given probabilities, `binary_cross_entropy`."""

    weight: Any = None
    reduction: Reduction = "mean"
    function = staticmethod(binary_cross_entropy)


def binary_cross_entropy_with_logits(
    input: Any, target: Any, *, weight: Any = None, pos_weight: Any = None,
    reduction: Reduction = "mean",
) -> Tensor:  # fmt: skip
    """How unlikely the targets are, where the probability of 1 is sigmoid(input).

    `weight` and `pos_weight`, which is for targets of 1 alone, stretch to the shape of the input.
    """
    name = "binary_cross_entropy_with_logits"
    input, target = alike(name, input, target)
    unlikely = softplus(-input)
    if pos_weight is not None:
        unlikely = unlikely * (1.0 + _weighed(target, wide(pos_weight) - 1.0))
    losses = (1.0 - target) * input + unlikely
    return reduced(name, _weighed(losses, weight), reduction)


class BCEWithLogitsLoss(Loss):
    """How unlikely yes and no are, given scores, `binary_cross_entropy_with_logits`."""

    weight: Any = None
    pos_weight: Any = None
    reduction: Reduction = "mean"
    function = staticmethod(binary_cross_entropy_with_logits)
