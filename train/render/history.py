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
Pair = tuple[float, float]
"""A step, and a value."""


class Point(NamedTuple):
    """The mean of the values of some steps in a row, the lowest, and the highest."""

    step: float
    mean: float
    low: float
    high: float


class History:
    """All values, more and more of them in one point, and the recent ones."""

    def __init__(self, points: int = POINTS, recent: int = RECENT) -> None:
        self._recent = deque[Pair](maxlen=recent)
        self._points: list[Point] = []
        self._open: list[Pair] = []
        self._limit, self._each = points, 1

    def add(self, step: float, value: float) -> None:
        """The value after a step."""
        self.extend([step], [value])

    def extend(self, steps: Sequence[float], values: Sequence[float]) -> None:
        """The values after some steps."""
        pairs = [*zip(steps, values, strict=True)]
        if not isfinite(sum(values)):
            pairs = [pair for pair in pairs if isfinite(pair[1])]
        self._recent.extend(pairs)
        self._open += pairs
        done = 0
        while done + self._each <= len(self._open):
            self._points.append(_point(self._open[done : done + self._each]))
            done += self._each
            if len(self._points) == self._limit:
                two = zip(self._points[::2], self._points[1::2], strict=True)
                self._points = [_one(*each) for each in two]
                self._each *= 2
        del self._open[:done]

    def all(self) -> list[Point]:
        """The whole history."""
        return [*self._points, *([_point(self._open)] if self._open else [])]

    def recent(self) -> list[Point]:
        """The last values."""
        return [Point(step, value, value, value) for step, value in self._recent]


def _point(pairs: Sequence[Pair]) -> Point:
    """Some values as one point."""
    steps, values = zip(*pairs, strict=True)
    count = len(pairs)
    return Point(sum(steps) / count, sum(values) / count, min(values), max(values))


def _one(first: Point, second: Point) -> Point:
    """Two points of as many values as one."""
    step, mean = (first.step + second.step) / 2, (first.mean + second.mean) / 2
    return Point(step, mean, min(first.low, second.low), max(first.high, second.high))
