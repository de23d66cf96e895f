"""Losses that want scores, or points, to be a margin apart; beyond it nothing is to be gained.

Comes in: scores or points, and which of them belong together. Goes out: a loss in f32 or f64.
Never: a derivative beyond the margin. Just on it there is one where PyTorch has one.
"""

from __future__ import annotations

from typing import Any

from ...frontend.errors import ArgumentError, fail, one_of
from ...frontend.functions.activations import relu, softplus
from ...frontend.functions.creation import asarray
from ...frontend.functions.elementwise import minimum, sqrt, square
from ...frontend.functions.indexing import one_hot, take
from ...frontend.functions.logic import equal, where
from ...frontend.linalg import vector_norm
from ...frontend.tensor import Tensor
from ..arguments import above
from .loss import Loss, Reduction, alike, hinge, reduced, wide
from .targets import checked_places, class_axis, importance, wanted


def margin_ranking_loss(
    input1: Any, input2: Any, target: Any, *, margin: float = 0.0, reduction: Reduction = "mean"
) -> Tensor:
    """How much is missing for one input to be larger by the margin: the first for a target of 1,
    the second for -1."""
    input1, input2, target = alike("margin_ranking_loss", input1, input2, target)
    losses = hinge(margin - target * (input1 - input2))
    return reduced("margin_ranking_loss", losses, reduction)


class MarginRankingLoss(Loss):
    """How much is missing for a ranking, `margin_ranking_loss`."""

    margin: float = 0.0
    reduction: Reduction = "mean"
    function = staticmethod(margin_ranking_loss)


def hinge_embedding_loss(
    input: Any, target: Any, *, margin: float = 1.0, reduction: Reduction = "mean"
) -> Tensor:
    """The input, a distance, where the target is 1; how much it lacks to the margin, for -1."""
    input, target = alike("hinge_embedding_loss", input, target)
    losses = where(equal(target, 1), input, hinge(margin - input))
    return reduced("hinge_embedding_loss", losses, reduction)


class HingeEmbeddingLoss(Loss):
    """Distances that are to be 0 or large, `hinge_embedding_loss`."""

    margin: float = 1.0
    reduction: Reduction = "mean"
    function = staticmethod(hinge_embedding_loss)


def cosine_embedding_loss(
    input1: Any, input2: Any, target: Any, *, margin: float = 0.0, reduction: Reduction = "mean"
) -> Tensor:
    """1 less the cosine of the angle between vectors, which are the last axis, for a target of 1;
    how much the cosine exceeds the margin, for -1."""
    name = "cosine_embedding_loss"
    input1, input2 = alike(name, input1, input2)
    squares = [square(each).sum(axis=-1) + 1e-12 for each in (input1, input2)]
    cosine = (input1 * input2).sum(axis=-1) / sqrt(squares[0] * squares[1])
    cosine, target = alike(name, cosine, target)
    losses = where(equal(target, 1), 1.0 - cosine, hinge(cosine - margin))
    return reduced(name, losses, reduction)


class CosineEmbeddingLoss(Loss):
    """Angles that are to be small or large, `cosine_embedding_loss`."""

    margin: float = 0.0
    reduction: Reduction = "mean"
    function = staticmethod(cosine_embedding_loss)


def soft_margin_loss(input: Any, target: Any, *, reduction: Reduction = "mean") -> Tensor:
    """log(1 + exp(-target * input)), where targets are 1 or -1."""
    input, target = alike("soft_margin_loss", input, target)
    return reduced("soft_margin_loss", softplus(-target * input), reduction)


class SoftMarginLoss(Loss):
    """Scores that are to have the sign of the target, `soft_margin_loss`."""

    reduction: Reduction = "mean"
    function = staticmethod(soft_margin_loss)


def triplet_margin_loss(
    anchor: Any, positive: Any, negative: Any, *, margin: float = 1.0, p: float = 2.0,
    eps: float = 1e-6, swap: bool = False, reduction: Reduction = "mean",
) -> Tensor:  # fmt: skip
    """How much is missing for the anchor to be closer to the positive than to the negative by the
    margin. Points are the last axis, distances of the order p; eps is added to each difference.

    With `swap`, the negative's distance from the positive counts where that is less.
    """
    name = "triplet_margin_loss"
    above(name, "margin", margin, 0)
    anchor, positive, negative = alike(name, anchor, positive, negative)

    def distance(one: Tensor, other: Tensor) -> Tensor:
        return vector_norm(one - other + eps, axis=-1, ord=p)

    far = distance(anchor, negative)
    far = minimum(far, distance(positive, negative)) if swap else far
    losses = hinge(margin + distance(anchor, positive) - far)
    return reduced(name, losses, reduction)


class TripletMarginLoss(Loss):
    """Points that are to be closer to one than to another, `triplet_margin_loss`."""

    margin: float = 1.0
    p: float = 2.0
    eps: float = 1e-6
    swap: bool = False
    reduction: Reduction = "mean"
    function = staticmethod(triplet_margin_loss)


def multi_margin_loss(
    input: Any, target: Any, *, p: int = 1, margin: float = 1.0, weight: Any = None,
    reduction: Reduction = "mean",
) -> Tensor:  # fmt: skip
    """By how much other scores come within the margin of the right one, to the power p.

    The input is [N, classes] or [classes], the target which is right. The sum is divided by the
    number of classes; `weight` says how much each right class counts.
    """
    name = "multi_margin_loss"
    one_of(name, "p", p, (1, 2))
    scores = wide(input)
    axis = class_axis(name, scores, -1)
    targets = wanted(name, target, scores, axis)
    if targets.places is None:
        fail(ArgumentError, name, "the targets are integers, places of classes", target)
    right = equal(targets.shares, 1)
    best = where(right, scores, 0.0).sum(axis=axis, keepdims=True)
    losses = where(right, 0.0, relu(margin - best + scores) ** p).sum(axis=axis)
    if weight is not None:
        losses = losses * take(importance(name, weight, scores, axis), targets.places)
    return reduced(name, losses / scores.shape[axis], reduction)


class MultiMarginLoss(Loss):
    """By how much wrong scores come close to the right one, `multi_margin_loss`."""

    p: int = 1
    margin: float = 1.0
    weight: Any = None
    reduction: Reduction = "mean"
    function = staticmethod(multi_margin_loss)


def multilabel_margin_loss(input: Any, target: Any, *, reduction: Reduction = "mean") -> Tensor:
    """By how much scores of wrong classes come within 1 of those of each right one.

    Targets are integers in the shape of the input, [N, classes] or [classes]: which classes are
    right, then -1. The sum is divided by the number of classes.
    """
    name = "multilabel_margin_loss"
    scores, target = wide(input), asarray(target)
    alike(name, scores, target)
    classes = scores.shape[-1]
    listed = equal((target < 0).cumulative_sum(axis=-1), 0)
    places = checked_places(where(listed, target, 0), classes)
    # […, place in the list, class]
    named = equal(one_hot(places, classes), 1) & listed[..., None]
    wrong = listed[..., None] & ~named.any(axis=-2, keepdims=True)
    right = where(named, scores[..., None, :], 0.0).sum(axis=-1, keepdims=True)
    losses = where(wrong, relu(1.0 - right + scores[..., None, :]), 0.0).sum(axis=(-2, -1))
    return reduced(name, losses / classes, reduction)


class MultiLabelMarginLoss(Loss):
    """By how much wrong scores come close to right ones, `multilabel_margin_loss`."""

    reduction: Reduction = "mean"
    function = staticmethod(multilabel_margin_loss)
