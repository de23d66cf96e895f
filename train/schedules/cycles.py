"""Rates that rise and fall: one cycle, warm restarts, warm-up with a long plateau."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ... import Tensor, full_like, sqrt, where
from ...frontend.errors import ArgumentError, fail
from ..checks import expect_among, expect_at_least, expect_positive, expect_shares, expect_whole
from .decay import count_of
from .schedule import Schedule
from .ways import along_cosine, between, share

MOST_STEPS = 2**31
"""What a counter of steps holds."""


@dataclass(frozen=True)
class OneCycle(Schedule):
    """Up to `max_lr`, down again and far below, in `total_steps` steps (Smith and Topin, 2017).

    It begins at `max_lr / div_factor`, is largest after a part `pct_start` of the steps, and ends a
    `final_div_factor` below where it began; with `three_phase` it comes down as slowly as it rose.
    """

    max_lr: float
    total_steps: int
    pct_start: float = 0.3
    anneal_strategy: str = "cos"
    div_factor: float = 25.0
    final_div_factor: float = 1e4
    three_phase: bool = False

    def __post_init__(self) -> None:
        expect_at_least(self, 0, max_lr=self.max_lr)
        expect_whole(self, 2, total_steps=self.total_steps)
        expect_shares(self, pct_start=self.pct_start)
        expect_among(self, ("cos", "linear"), anneal_strategy=self.anneal_strategy)
        expect_positive(self, div_factor=self.div_factor, final_div_factor=self.final_div_factor)
        if self.three_phase and self.pct_start > 0.5:
            problem = "in three phases, pct_start is at most 0.5"
            fail(ArgumentError, "OneCycle", problem, self.pct_start)

    def at(self, step: Tensor) -> Any:
        """The rate after so many steps."""
        first = self.max_lr / self.div_factor
        last, end = first / self.final_div_factor, self.total_steps - 1.0
        peak = self.pct_start * self.total_steps - 1.0
        points = [(0.0, first), (peak, self.max_lr), (end, last)]
        if self.three_phase:
            points.insert(2, (2.0 * peak, first))
        line = along_cosine if self.anneal_strategy == "cos" else between
        return _through(points, step, line)


@dataclass(frozen=True)
class WarmRestarts(Schedule):
    """Half a cosine from `lr` to `minimum` in `period` steps, again and again, each `growth` times
    as long as the one before (Loshchilov and Hutter, 2016)."""

    lr: float
    period: int
    growth: int = 1
    minimum: float = 0.0

    def __post_init__(self) -> None:
        expect_at_least(self, 0, lr=self.lr, minimum=self.minimum)
        expect_whole(self, 1, period=self.period, growth=self.growth)

    def at(self, step: Tensor) -> Any:
        """The rate after so many steps."""
        if self.growth == 1:
            start, length = count_of(step, self.period) * self.period, self.period
        else:
            start, length = self._cycle(step)
        return along_cosine(self.lr, self.minimum, (step - start) / length)

    def _cycle(self, step: Any) -> tuple[Any, Any]:
        """When the cycle of a step began, and how long it is."""
        length, begin = self.period, 0
        found = full_like(step, 0.0), full_like(step, length)
        while begin + length < MOST_STEPS:
            begin, length = begin + length, length * self.growth
            is_reached = step >= begin
            found = where(is_reached, begin, found[0]), where(is_reached, length, found[1])
        return found


@dataclass(frozen=True)
class WarmupStableDecay(Schedule):
    """Rises to `lr` in `warmup` steps, stays for `stable`, and falls to `minimum` in `decay`.

    It falls "linear", by "cosine", or as one less the root of the way ("root").
    """

    lr: float
    warmup: int
    stable: int
    decay: int
    minimum: float = 0.0
    shape: str = "linear"

    def __post_init__(self) -> None:
        expect_at_least(self, 0, lr=self.lr, minimum=self.minimum)
        expect_whole(self, 0, warmup=self.warmup, stable=self.stable)
        expect_whole(self, 1, decay=self.decay)
        expect_among(self, ("linear", "cosine", "root"), shape=self.shape)

    def at(self, step: Tensor) -> Any:
        """The rate after so many steps."""
        way = share(step - float(self.warmup + self.stable), self.decay)
        if self.shape == "cosine":
            falling = along_cosine(self.lr, self.minimum, way)
        else:
            falling = between(self.lr, self.minimum, sqrt(way) if self.shape == "root" else way)
        if not self.warmup:
            return falling
        return where(step < self.warmup, self.lr / self.warmup * step, falling)


def _through(points: list[tuple[float, float]], step: Any, line: Any) -> Any:
    """The rate on lines from point to point, of steps and rates."""
    rate = full_like(step, points[0][1])
    for (before, low), (after, high) in pairwise(points):
        if after > before:
            way = share(step - before, after - before)
            rate = where(step >= before, line(low, high, way), rate)
    return rate
