"""How far numbers are from their targets."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .metric import Array, Totals, alike, ratio


@dataclass
class MeanSquaredError(Totals):
    """The mean of squared errors."""

    def count(self, outputs: Any, targets: Any) -> tuple[Any, Any]:
        """The sum of squared errors, and how many there are."""
        found, known = alike(self.name, outputs, targets)
        return ((found - known) ** 2).sum(), known.size

    def result(self, totals: Array) -> Any:
        """The mean."""
        return ratio(*totals)


@dataclass
class RootMeanSquaredError(MeanSquaredError):
    """The root of the mean of squared errors."""

    def result(self, totals: Array) -> Any:
        """The root of the mean."""
        return np.sqrt(ratio(*totals))


@dataclass
class MeanAbsoluteError(Totals):
    """The mean of errors, whatever their sign."""

    def count(self, outputs: Any, targets: Any) -> tuple[Any, Any]:
        """The sum of errors, and how many there are."""
        found, known = alike(self.name, outputs, targets)
        return np.abs(found - known).sum(), known.size

    def result(self, totals: Array) -> Any:
        """The mean."""
        return ratio(*totals)


@dataclass
class R2(Totals):
    """The share of the targets' variance that is explained; NaN where they are all equal."""

    # Sums about the mean of what came so far: of raw squares nothing would be left after rounding.

    def count(self, outputs: Any, targets: Any) -> Array:
        """Squared errors, how many, the mean of the targets, and their squares about it."""
        found, known = alike(self.name, outputs, targets)
        middle = known.mean() if known.size else 0.0
        squares = ((known - middle) ** 2).sum()
        return np.array([((found - known) ** 2).sum(), known.size, middle, squares])

    def gather(self, counts: Any) -> None:
        """Add sums to those so far, about the mean of both."""
        if self.totals is None:
            self.totals = counts
            return
        one, two = self.totals, counts
        count = one[1] + two[1]
        apart, share = two[2] - one[2], ratio(two[1], count, 0.0)
        squares = one[3] + two[3] + apart**2 * one[1] * share
        self.totals = np.array([one[0] + two[0], count, one[2] + apart * share, squares])

    def result(self, totals: Array) -> Any:
        """1 - squared errors / squares about the mean"""
        return 1.0 - ratio(totals[0], totals[3])
