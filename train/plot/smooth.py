"""Noisy values made smooth, so that a trend is seen.

Comes in: values in order. Goes out: as many, each a mean of those around it, near ones counting
most.
Never: a trend that comes late: means look both ways.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def smooth(values: Sequence[float], weight: float) -> list[float]:
    """Exponential means, of both directions; each value counts `weight` times what the one that is
    nearer by one counts."""
    forward, backward = _means(values, weight), _means(reversed(values), weight)
    return [(one + other) / 2 for one, other in zip(forward, reversed(backward), strict=True)]


def _means(values: Iterable[float], weight: float) -> list[float]:
    """Of each value and those before it; the first ones count no more than their share."""
    total = mass = 0.0
    found: list[float] = []
    for value in values:
        total = weight * total + (1 - weight) * value
        mass = weight * mass + (1 - weight)
        found.append(total / mass)
    return found
