"""How often outputs are right."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...frontend.errors import ShapeError, fail
from ..checks import expect_whole
from .labels import labels
from .metric import Array, Totals, host, ratio


@dataclass
class Accuracy(Totals):
    """The share of labels that are right; those whose target is `ignore` do not count.

    An output that is NaN is never right.
    """

    threshold: float = 0.5
    ignore: int | None = None

    def count(self, outputs: Any, targets: Any) -> tuple[Any, Any]:
        """How many are right, and how many there are."""
        found, known = labels(self.name, outputs, targets, self.threshold, self.ignore)
        return (found == known).sum(), known.size

    def result(self, totals: Array) -> Any:
        """The share of those that are right."""
        return ratio(*totals)


@dataclass
class Hamming(Accuracy):
    """The share of labels that are wrong, each label of an example by itself."""

    def result(self, totals: Array) -> Any:
        """The share of those that are wrong."""
        return 1.0 - ratio(*totals)


@dataclass
class ExactMatch(Totals):
    """The share of examples of which all labels are right."""

    threshold: float = 0.5

    def count(self, outputs: Any, targets: Any) -> tuple[Any, Any]:
        """How many examples are right, and how many there are."""
        found, known = labels(self.name, outputs, targets, self.threshold, None)
        count = len(host(targets, self.name))
        right = (found == known).reshape(count, known.size // max(count, 1))
        return right.all(axis=1).sum(), count

    def result(self, totals: Array) -> Any:
        """The share of those that are right."""
        return ratio(*totals)


@dataclass
class TopK(Totals):
    """The share of examples whose class is among the `k` with the highest scores.

    Of equal scores, those of the other classes count as higher, and so does what is NaN.
    """

    k: int = 5
    ignore: int | None = None

    def __post_init__(self) -> None:
        expect_whole(self, 1, k=self.k)
        super().__post_init__()

    def count(self, outputs: Any, targets: Any) -> tuple[Any, Any]:
        """How many are right, and how many there are."""
        scores, known = host(outputs, self.name), host(targets, self.name).astype(np.int64)
        if scores.ndim != 2 or known.shape != scores.shape[:1]:
            fail(ShapeError, self.name, "outputs are [N, classes] and targets [N]", scores, known)
        if self.ignore is not None:
            kept = known != self.ignore
            scores, known = scores[kept], known[kept]
        own = np.take_along_axis(scores, known[:, None], axis=1)
        above = (~(scores < own)).sum(axis=1)  # the class itself too
        return ((above <= self.k) & ~np.isnan(own[:, 0])).sum(), known.size

    def result(self, totals: Array) -> Any:
        """The share of those that are right."""
        return ratio(*totals)
