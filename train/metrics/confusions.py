"""Metrics of which class is taken for which: agreement beyond chance, correlation."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..checks import expect_among, expect_whole
from .labels import confusion, labels
from .metric import Array, Totals, ratio


@dataclass
class Confusion(Totals):
    """How often each class (row) was taken for each class (column)."""

    classes: int = 2
    threshold: float = 0.5
    ignore: int | None = None

    def __post_init__(self) -> None:
        expect_whole(self, 1, classes=self.classes)
        super().__post_init__()

    def count(self, outputs: Any, targets: Any) -> Array:
        """The pairs of one batch."""
        found, known = labels(self.name, outputs, targets, self.threshold, self.ignore)
        return confusion(self.name, found, known, self.classes)

    def result(self, totals: Array) -> Any:
        """The pairs of all batches."""
        return totals


@dataclass
class Kappa(Confusion):
    """Cohen's kappa: agreement beyond what chance gives, 1 if all agree.

    With `weights` "linear" or "quadratic", classes that are far apart disagree more.
    """

    weights: str | None = None

    def __post_init__(self) -> None:
        expect_among(self, (None, "linear", "quadratic"), weights=self.weights)
        super().__post_init__()

    def result(self, totals: Array) -> Any:
        """1 - disagreement / expected disagreement"""
        places = np.arange(self.classes)
        apart = np.abs(places[:, None] - places).astype(np.float64)
        cost = {None: apart > 0, "linear": apart, "quadratic": apart**2}[self.weights]
        expected = ratio(np.outer(totals.sum(axis=1), totals.sum(axis=0)), totals.sum())
        return 1.0 - ratio((cost * totals).sum(), (cost * expected).sum())


@dataclass
class MatthewsCorrelation(Confusion):
    """The correlation of labels and targets, between -1 and 1; 0 where either is constant."""

    def result(self, totals: Array) -> Any:
        """The covariance of labels and targets, over the root of both variances."""
        count, right = totals.sum(), totals.trace()
        known, found = totals.sum(axis=1), totals.sum(axis=0)
        spreads = [count**2 - known @ known, count**2 - found @ found]
        if count == 0:
            return float("nan")
        return ratio(count * right - known @ found, np.sqrt(spreads[0] * spreads[1]), 0.0)
