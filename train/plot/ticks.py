"""Where an axis has ticks, and what stands beside them.

Comes in: the ends of an interval. Goes out: round numbers inside it, and their texts.
Never: two ticks with one text.
"""

from __future__ import annotations

from math import ceil, floor, isclose, log10

ROUND = (1.0, 2.0, 2.5, 5.0, 10.0)
"""Ticks are these far apart, times a power of ten."""
PREFIXES = ((1e9, 1e9, "G"), (1e6, 1e6, "M"), (1e4, 1e3, "k"))
"""From which number on, what is counted, and how that is written."""


def spaced(low: float, high: float, at_most: int, whole: bool = False) -> list[float]:
    """At most so many round numbers from `low` to `high`, equally far apart; perhaps whole ones."""
    if high <= low or at_most < 1:
        return [low]
    power = 10.0 ** floor(log10((high - low) / at_most))
    sizes = [power * each for each in (*ROUND, 20.0, 50.0)]
    if whole:
        sizes = [size for size in sizes if size == int(size)] or [1.0]
    for size in sizes:
        first, last = ceil(low / size - 1e-9), floor(high / size + 1e-9)
        if last - first < at_most:
            return [number * size for number in range(first, last + 1)]
    return [low]


def texts(ticks: list[float]) -> list[str]:
    """What stands beside ticks: as few digits as tell them apart, the same number for all."""
    largest = max(map(abs, ticks), default=0.0)
    if largest and (largest >= 1e12 or largest < 1e-4):
        return [f"{tick:.4g}" for tick in ticks]
    unit, prefix = next((each[1:] for each in PREFIXES if largest >= each[0]), (1.0, ""))
    scaled = [tick / unit for tick in ticks]
    digits = next((d for d in range(8) if all(_told(each, d) for each in scaled)), 8)
    return [f"{each:.{digits}f}{prefix}" if each or not prefix else "0" for each in scaled]


def padded(low: float, high: float, part: float = 0.05) -> tuple[float, float]:
    """A slightly larger interval; one number is amid a small one."""
    room = (high - low) * part or abs(high) * 0.1 or 1.0
    return low - room, high + room


def _told(number: float, digits: int) -> bool:
    return isclose(round(number, digits), number, rel_tol=1e-6, abs_tol=1e-9)
