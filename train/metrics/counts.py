"""Metrics of how often a class is found, missed and wrongly seen: precision, recall, overlap.

Comes in: labels or scores. Goes out: one number, averaged over classes as asked, or one a class.
Never: an average over classes that neither occur nor are seen.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...frontend.errors import ShapeError, fail
from ..checks import expect_among, expect_positive, expect_whole
from .labels import confusion, labels, refuse_no_label
from .metric import Array, Totals, host, ratio

AVERAGES = ("binary", "micro", "macro", "weighted", "none")


@dataclass
class Counted(Totals):
    """A metric of true and false positives and negatives, of each class.

    `average` "binary" is that of class 1 of two; "micro" is of the sums over classes, "macro" the
    mean of the classes, "weighted" by how often they occur; "none" gives one value a class. Of
    outputs and targets [N, labels] with `multilabel`, each label is a class of its own. What is
    undefined, as the precision of a class that is never seen, is `undefined`.
    """

    classes: int = 2
    average: str = "binary"
    threshold: float = 0.5
    ignore: int | None = None
    multilabel: bool = False
    undefined: float = 0.0

    def __post_init__(self) -> None:
        expect_whole(self, 1, classes=self.classes)
        choices = AVERAGES if self.classes == 2 and not self.multilabel else AVERAGES[1:]
        expect_among(self, choices, average=self.average)
        super().__post_init__()

    @abstractmethod
    def of(self, right: Any, false: Any, missed: Any, rest: Any) -> Any:
        """The metric, of true positives, false positives, false and true negatives."""

    def count(self, outputs: Any, targets: Any) -> Array:
        """For each class, how many are rightly and wrongly seen, missed, and rightly not seen."""
        if self.multilabel:
            return self._count_labels(outputs, targets)
        found, known = labels(self.name, outputs, targets, self.threshold, self.ignore)
        pairs = confusion(self.name, found, known, self.classes)
        right = pairs.diagonal()
        false, missed = pairs.sum(axis=0) - right, pairs.sum(axis=1) - right
        return np.stack([right, false, missed, pairs.sum() - right - false - missed])

    def _count_labels(self, outputs: Any, targets: Any) -> Array:
        """The same where each label is a class."""
        found, known = host(outputs, self.name), host(targets, self.name)
        if found.shape != known.shape or found.ndim != 2 or found.shape[1] != self.classes:
            problem = f"outputs and targets are [N, {self.classes}]"
            fail(ShapeError, self.name, problem, found, known)
        refuse_no_label(self.name, np.isnan(found))
        seen, there = found > self.threshold, known > 0
        if found.dtype.kind != "f":
            seen = found > 0
        pairs = (seen & there, seen & ~there, ~seen & there, ~seen & ~there)
        return np.stack([pair.sum(axis=0) for pair in pairs])

    def result(self, totals: Array) -> Any:
        """The metric, averaged as asked."""
        if self.average == "binary":
            return self.of(*totals[:, 1])
        if self.average == "micro":
            return self.of(*totals.sum(axis=1))
        each = np.asarray(self.of(*totals))
        if self.average == "none":
            return each
        occurring = totals[0] + totals[2]
        weights = occurring if self.average == "weighted" else totals[:3].sum(axis=0) > 0
        return ratio((each * weights).sum(), weights.sum(), self.undefined)


@dataclass
class Precision(Counted):
    """The share of what is seen that is right."""

    def of(self, right: Any, false: Any, missed: Any, rest: Any) -> Any:
        """right / (right + false)"""
        return ratio(right, right + false, self.undefined)


@dataclass
class Recall(Counted):
    """The share of what is there that is seen."""

    def of(self, right: Any, false: Any, missed: Any, rest: Any) -> Any:
        """right / (right + missed)"""
        return ratio(right, right + missed, self.undefined)


@dataclass
class Specificity(Counted):
    """The share of what is not there that is not seen."""

    def of(self, right: Any, false: Any, missed: Any, rest: Any) -> Any:
        """rest / (rest + false)"""
        return ratio(rest, rest + false, self.undefined)


@dataclass
class FBeta(Counted):
    """The harmonic mean of precision and recall, where recall counts `beta` times as much."""

    beta: float = 1.0

    def __post_init__(self) -> None:
        expect_positive(self, beta=self.beta)
        super().__post_init__()

    def of(self, right: Any, false: Any, missed: Any, rest: Any) -> Any:
        """(1 + beta²) right / ((1 + beta²) right + beta² missed + false)"""
        square = self.beta**2
        above = (1.0 + square) * right
        return ratio(above, above + square * missed + false, self.undefined)


@dataclass
class Dice(Counted):
    """Twice the overlap, over both sizes; the same as FBeta of beta 1."""

    def of(self, right: Any, false: Any, missed: Any, rest: Any) -> Any:
        """2 right / (2 right + missed + false)"""
        return ratio(2.0 * right, 2.0 * right + missed + false, self.undefined)


@dataclass
class IoU(Counted):
    """The overlap over the union (Jaccard's index)."""

    def of(self, right: Any, false: Any, missed: Any, rest: Any) -> Any:
        """right / (right + false + missed)"""
        return ratio(right, right + false + missed, self.undefined)
