"""Metrics of an order: whether what is there has higher scores than what is not."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...frontend.errors import ArgumentError, ShapeError, fail
from ..checks import expect_among
from .labels import without_lone_class
from .metric import Array, Collected, host, mean, ratio


@dataclass
class Ranking(Collected):
    """A metric of scores and of what is there.

    Outputs and targets have one shape, [N] or [N, labels], or targets are classes of [N, classes].
    `average` is "macro", the mean of classes for which it is defined, "micro", all of them as one,
    "weighted", by how often they occur, or "none", one value a class.
    """

    average: str = "macro"

    def __post_init__(self) -> None:
        expect_among(self, ("macro", "micro", "weighted", "none"), average=self.average)
        super().__post_init__()

    @abstractmethod
    def of(self, scores: Array, there: Array) -> float:
        """The metric of one class."""

    def read(self, outputs: Any, targets: Any) -> tuple[Array, ...]:
        """Scores, and whether each class is there, of shape [N, classes]."""
        known = host(targets, self.name)
        scores = without_lone_class(host(outputs, self.name).astype(np.float64), known)
        if scores.ndim == 2 and known.shape == scores.shape[:1]:
            known = known.astype(np.int64)[:, None] == np.arange(scores.shape[1])
        if scores.shape != known.shape or scores.ndim not in (1, 2):
            problem = "outputs and targets are [N] or [N, labels], or [N, classes] and [N]"
            fail(ShapeError, self.name, problem, scores, known)
        if np.isnan(scores).any():
            fail(ArgumentError, self.name, "a score is not a number", scores)
        there = known > 0
        return (scores, there) if scores.ndim == 2 else (scores[:, None], there[:, None])

    def result(self, *arrays: Array) -> Any:
        """The metric, averaged as asked."""
        scores, there = arrays
        if self.average == "micro":
            return self.of(scores.reshape(-1), there.reshape(-1))
        each = np.array([self.of(*pair) for pair in zip(scores.T, there.T, strict=True)])
        if self.average == "none" and len(each) > 1:
            return each
        if self.average == "weighted":
            known, weights = ~np.isnan(each), there.sum(axis=0)
            return ratio((each * weights)[known].sum(), weights[known].sum())
        return mean(each)


@dataclass
class AUROC(Ranking):
    """How likely what is there scores higher than what is not; ties count half.

    NaN where all or none is there.
    """

    def of(self, scores: Array, there: Array) -> float:
        """The metric of one class, by the ranks of its scores."""
        _, places, counts = np.unique(scores, return_inverse=True, return_counts=True)
        ranks = (np.cumsum(counts) - (counts - 1) / 2.0)[places]
        positives = int(there.sum())
        above = ranks[there].sum() - positives * (positives + 1) / 2.0
        return float(ratio(above, positives * (there.size - positives)))


@dataclass
class AUCPR(Ranking):
    """Average precision: the precision at each threshold, weighted by the recall that it adds.

    NaN where nothing is there. The mean over classes is often called mAP.
    """

    def of(self, scores: Array, there: Array) -> float:
        """The metric of one class."""
        order = np.argsort(-scores, kind="stable")
        falling, hits = scores[order], there[order]
        # Equal scores have one threshold, below the last of them.
        is_last = np.ones(falling.shape, bool)
        is_last[:-1] = falling[1:] != falling[:-1]
        last = np.flatnonzero(is_last)
        found = np.cumsum(hits)[last]
        precision = ratio(found, last + 1)
        return float(ratio((np.diff(found, prepend=0) * precision).sum(), hits.sum()))
