"""Schedules made of schedules: several at once, or one after the other."""

from dataclasses import dataclass
from functools import reduce
from operator import add, mul
from typing import Any

from ... import Tensor, exp, full_like, log, where
from ...frontend.errors import ArgumentError, fail
from ..checks import expect_among
from .decay import expect_milestones
from .schedule import Rate, Schedule, expect_rate, rate_at

WAYS = ("product", "mean", "geometric mean")


@dataclass(frozen=True)
class Composed(Schedule):
    """Several rates at once: their product, their mean, or their geometric mean."""

    schedules: tuple[Rate, ...]
    combine: str = "product"

    def __post_init__(self) -> None:
        _expect_schedules(self, self.schedules)
        expect_among(self, WAYS, combine=self.combine)

    def at(self, step: Tensor) -> Any:
        """The rate after so many steps."""
        rates = [_rate(each, step) for each in self.schedules]
        if self.combine == "product":
            return reduce(mul, rates)
        if self.combine == "mean":
            return reduce(add, rates) / len(rates)
        return exp(reduce(add, [log(each) for each in rates]) / len(rates))


@dataclass(frozen=True)
class Sequential(Schedule):
    """One schedule after the other: the next one begins, at its step 0, at each of `milestones`."""

    schedules: tuple[Rate, ...]
    milestones: tuple[int, ...]

    def __post_init__(self) -> None:
        _expect_schedules(self, self.schedules)
        expect_milestones(self, self.milestones)
        if len(self.milestones) != len(self.schedules) - 1:
            problem = f"{len(self.schedules)} schedules have {len(self.schedules) - 1} milestones"
            fail(ArgumentError, "Sequential", problem, self.milestones)

    def at(self, step: Tensor) -> Any:
        """The rate after so many steps."""
        rate = _rate(self.schedules[0], step)
        for schedule, start in zip(self.schedules[1:], self.milestones, strict=True):
            rate = where(step >= start, _rate(schedule, step - start), rate)
        return rate


def _rate(rate: Rate, step: Tensor) -> Tensor:
    """A rate after so many steps, which a number is always."""
    return rate_at(rate, step) if callable(rate) else full_like(step, rate)


def _expect_schedules(owner: Any, schedules: Any) -> None:
    """Refuse what is no tuple of schedules or numbers."""
    if not isinstance(schedules, tuple) or not schedules:
        problem = "schedules is a tuple of schedules or numbers"
        fail(ArgumentError, type(owner).__name__, problem, schedules)
    for each in schedules:
        expect_rate(owner, schedules=each)
