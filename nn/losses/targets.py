"""Targets that are classes: which one is right, or how much of each.

Comes in: scores with an axis of classes, and targets: the places of the classes, in the shape of
the scores without that axis; or floats in the shape of the scores, the share of each class.
Goes out: how much of each class is wanted.
Never: a place that names no class: it fails when it is read. Negative ones do not count from the
end; those that are to be left out are named by `ignore_index`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ...frontend.errors import ArgumentError, ShapeError, fail
from ...frontend.functions.common import as_axis
from ...frontend.functions.creation import arange, asarray
from ...frontend.functions.indexing import one_hot, take
from ...frontend.functions.logic import not_equal, where
from ...frontend.functions.types import isdtype
from ...frontend.tensor import Tensor
from ...frontend.unseen import looked_at
from .loss import alike, wide

_SHARES = (
    "places of classes are integers, `target.astype(bs.int64)`; shares of them have the shape of "
    "the scores; a batch of both is a pair, (inputs, targets)"
)


class Wanted(NamedTuple):
    """How much of each class is wanted, like the scores; and without the axis of the classes, which
    class it is, if it is one, and whether the example counts, if not all do."""

    shares: Tensor
    places: Tensor | None = None
    counts: Tensor | None = None


def wanted(
    name: str, target: Any, scores: Tensor, axis: int, ignore_index: int | None = None
) -> Wanted:
    """The targets of scores."""
    target = asarray(target)
    if isdtype(target.dtype, "real floating"):
        if ignore_index is not None:
            fail(ArgumentError, name, "only targets that are integers can be ignored", target)
        return Wanted(alike(name, target, scores, hint=_SHARES)[0])
    _expect_places(name, target, scores, axis)
    classes = scores.shape[axis]
    counts = None
    if ignore_index is not None:
        counts = not_equal(target, ignore_index)
        target = where(counts, target, 0)
    places = checked_places(target, classes)
    return Wanted(one_hot(places, classes, axis=axis, dtype=scores.dtype), places, counts)


def checked_places(target: Tensor, classes: int) -> Tensor:
    """Places of classes as they are; reading one that is none fails, and names it."""
    # Unsigned, so that negative ones are outside rather than counted from the end.
    return take(arange(classes), target.astype("uint64"))


def class_axis(name: str, scores: Tensor, axis: int) -> int:
    """Which axis is that of the classes: the only one, or the one that is named."""
    return 0 if scores.ndim == 1 else as_axis(axis, scores.ndim, name)


def importance(name: str, weight: Any, scores: Tensor, axis: int) -> Tensor:
    """The weights of the classes."""
    weights, classes = wide(weight), scores.shape[axis]
    if weights.shape != (classes,):
        problem = f"there are {classes} classes, and not one weight for each"
        fail(ShapeError, name, problem, scores, weights)
    return weights.astype(scores.dtype)


def _expect_places(name: str, target: Tensor, scores: Tensor, axis: int) -> None:
    """Refuse targets that are not integers in the shape of the scores without the classes."""
    sizes, given = scores.node.type.shape, target.node.type.shape
    expected = (*sizes[:axis], *sizes[axis + 1 :])
    if isdtype(target.dtype, "integral") and (
        given == expected or looked_at(given) == looked_at(expected)
    ):
        return
    problem = (
        f"axis {axis} of the scores is that of the classes; targets are integers without that "
        "axis, or floats of the same shape"
    )
    hint = "cast targets with `x.astype(...)`; another axis of classes is named by `axis=`"
    fail(ShapeError, name, problem, scores, target, hint=hint)
