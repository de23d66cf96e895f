"""The values of one metric over a run, in little memory however long it is.

Comes in: a value for each step. Goes out: at most some hundred points for all of it, and the last
values as they were.
Never: a number that is none; it would have no place in a plot.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

POINTS = 512
RECENT = 256


class Point(NamedTuple):
    """The mean of the values of some steps in a row, the lowest, and the highest."""

    step: float
    mean: float
    low: float
    high: float


class History:
    """All values, more and more of them in one point, and the recent ones."""

    def __init__(self, points: int = POINTS, recent: int = RECENT) -> None:
        self._recent = deque[Point](maxlen=recent)
        self._points: list[Point] = []
        self._open: list[Point] = []
        self._limit, self._each = points, 1

    def add(self, step: float, value: float) -> None:
        """The value after a step."""
        if not isfinite(value):
            return
        point = Point(step, value, value, value)
        self._recent.append(point)
        self._open.append(point)
        if len(self._open) == self._each:
            self._points.append(_one(self._open))
            self._open.clear()
        if len(self._points) == self._limit:
            pairs = zip(self._points[::2], self._points[1::2], strict=True)
            self._points = [_one(pair) for pair in pairs]
            self._each *= 2

    def all(self) -> list[Point]:
        """The whole history."""
        return [*self._points, *([_one(self._open)] if self._open else [])]

    def recent(self) -> list[Point]:
        """The last values."""
        return list(self._recent)


def _one(points: Sequence[Point]) -> Point:
    """Points as one."""
    steps, means, lows, highs = zip(*points, strict=True)
    return Point(sum(steps) / len(steps), sum(means) / len(means), min(lows), max(highs))
