"""Which values a plot shows.

Comes in: values. Goes out: an interval.
Never: an interval so wide, for the sake of a few values, that the rest is a flat line.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

NOISY_FROM = 60
"""So many values are a noisy curve; fewer are all worth seeing."""
FEW_LOW, FEW_HIGH = 0.005, 0.98


def extent(values: Sequence[float]) -> tuple[float, float]:
    """From the lowest value to the highest; of noisy ones, few that lie far off are left out."""
    low, high = min(values), max(values)
    if len(values) < NOISY_FROM:
        return low, high
    inner_low, inner_high = map(float, np.quantile(values, (FEW_LOW, FEW_HIGH)))
    room = 2 * (inner_high - inner_low) or high - low
    return max(low, inner_low - room), min(high, inner_high + room)
