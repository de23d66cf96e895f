"""How far a sample is from what it is said to be a sample of."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def farthest(sample: Array, distribution: Callable[[Array], Array]) -> float:
    """√n times the farthest that the sample's distribution is from the one given."""
    ordered = np.sort(sample.astype(np.float64).ravel())
    expected, count = distribution(ordered), len(ordered)
    steps = np.arange(count + 1) / count
    return float(np.sqrt(count) * max((steps[1:] - expected).max(), (expected - steps[:-1]).max()))


def chi_square(counts: Array, probabilities: Array) -> float:
    """How far counts are from what is expected, in standard deviations of χ²."""
    expected = probabilities * counts.sum()
    degrees = len(counts) - 1
    statistic = ((counts - expected) ** 2 / expected).sum()
    return float((statistic - degrees) / math.sqrt(2 * degrees))
