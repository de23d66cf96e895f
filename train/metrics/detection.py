"""How well boxes are found: mean average precision, as the COCO challenge defines it.

Comes in: for each image the boxes found, with scores, and those that are there. Goes out: the mean,
over classes and over how much boxes must overlap, of the precision at 101 recalls.
Never: two found boxes for one that is there; the one with the higher score has it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...frontend.errors import ArgumentError, ShapeError, fail
from ..checks import expect_shares, expect_whole
from .metric import Array, Metric, host, mean

OVERLAPS = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
RECALLS = np.linspace(0.0, 1.0, 101)


class Boxes(NamedTuple):
    """The boxes of an image, [n, 4] as left, top, right, bottom; their classes; scores if found."""

    boxes: Any
    labels: Any
    scores: Any = None


class Match(NamedTuple):
    """Of one class in one image: scores, which are right at each overlap, how many there are."""

    scores: Array
    right: Array
    count: int


def box_overlaps(found: Array, known: Array) -> Array:
    """The overlap over the union of each box with each."""
    low = np.maximum(found[:, None, :2], known[None, :, :2])
    high = np.minimum(found[:, None, 2:], known[None, :, 2:])
    common = np.prod(np.clip(high - low, 0, None), axis=-1)
    union = _areas(found)[:, None] + _areas(known)[None] - common
    return np.divide(common, union, out=np.zeros_like(common), where=union > 0)


@dataclass
class MeanAveragePrecision(Metric):
    """mAP: the mean over classes that occur and over `overlaps`; the `most` best boxes count."""

    overlaps: tuple[float, ...] = OVERLAPS
    most: int = 100

    def __post_init__(self) -> None:
        expect_shares(self, **{f"overlaps[{at}]": each for at, each in enumerate(self.overlaps)})
        expect_whole(self, 1, most=self.most)
        super().__post_init__()

    def reset(self) -> None:
        """Forget all that was gathered."""
        self.matches: dict[int, list[Match]] = {}

    def update(self, outputs: Sequence[Boxes], targets: Sequence[Boxes]) -> None:
        """Gather the images of one more batch."""
        if len(outputs) != len(targets):
            problem = f"there are {len(outputs)} images of outputs and {len(targets)} of targets"
            fail(ArgumentError, self.name, problem)
        for output, target in zip(outputs, targets, strict=True):
            self._gather(_read(self.name, output, True), _read(self.name, target, False))

    def value(self) -> float:
        """The mean over classes and overlaps; NaN where nothing is there."""
        return mean(self.by_class())

    def by_class(self) -> Array:
        """The mean over overlaps of each class, up to the last that occurs; NaN of others."""
        found = np.full(max(self.matches, default=-1) + 1, np.nan)
        for label, matches in self.matches.items():
            found[label] = np.mean(_precisions(matches, len(self.overlaps)))
        return found

    def add(self, other: Any) -> None:
        """Add what an equal metric has gathered."""
        for label, matches in other.matches.items():
            self.matches.setdefault(label, []).extend(matches)

    def _gather(self, output: Boxes, target: Boxes) -> None:
        """Match the boxes of one image, class by class."""
        order = np.argsort(-output.scores, kind="stable")[: self.most]
        boxes, labels, scores = (each[order] for each in output)
        for label in np.union1d(labels, target.labels):
            mine, theirs = labels == label, target.labels == label
            overlaps = box_overlaps(boxes[mine], target.boxes[theirs])
            right = np.stack([_matched(overlaps, least) for least in self.overlaps])
            match = Match(scores[mine], right, int(theirs.sum()))
            self.matches.setdefault(int(label), []).append(match)


def _areas(boxes: Array) -> Array:
    return np.prod(boxes[:, 2:] - boxes[:, :2], axis=-1)


def _read(operation: str, boxes: Boxes, has_scores: bool) -> Boxes:
    """The boxes of one image as arrays, checked."""
    places = host(boxes.boxes, operation).reshape(-1, 4).astype(np.float64)
    labels = host(boxes.labels, operation).reshape(-1).astype(np.int64)
    given = boxes.scores if has_scores else np.zeros(len(labels))
    if given is None:
        fail(ArgumentError, operation, "boxes that were found have scores")
    scores = host(given, operation).reshape(-1).astype(np.float64)
    if not len(places) == len(labels) == len(scores):
        fail(ShapeError, operation, "each box has a label and a score", places, labels, scores)
    if labels.size and labels.min() < 0:
        fail(ArgumentError, operation, "labels are at least 0", labels.min())
    return Boxes(places, labels, scores)


def _matched(overlaps: Array, least: float) -> Array:
    """Which boxes, in order, are right: each takes the one it overlaps most of those left."""
    left = overlaps.copy()
    right = np.zeros(len(left), bool)
    for place, row in enumerate(left):
        best = row.argmax() if row.size else 0
        if row.size and row[best] >= least:
            right[place] = True
            left[:, best] = -1.0  # it is taken
    return right


def _precisions(matches: list[Match], overlaps: int) -> Array:
    """At each overlap the mean, over recalls, of the best precision at that recall or a higher."""
    count = sum(each.count for each in matches)
    if count == 0:
        return np.full(overlaps, np.nan)
    scores = np.concatenate([each.scores for each in matches])
    order = np.argsort(-scores, kind="stable")
    right = np.concatenate([each.right for each in matches], axis=1)[:, order]
    hits = np.cumsum(right, axis=1)
    precision = hits / np.arange(1, len(order) + 1)
    best = np.maximum.accumulate(precision[:, ::-1], axis=1)[:, ::-1]
    padded = np.concatenate([best, np.zeros((overlaps, 1))], axis=1)
    # The first place at which each recall is reached; there is none behind the last.
    places = [np.searchsorted(row, RECALLS, side="left") for row in hits / count]
    return np.array([row[at].mean() for row, at in zip(padded, places, strict=True)])
