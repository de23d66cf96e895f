"""A schedule: a rate that changes from step to step.

Comes in: the number of steps made so far, a tensor inside a compiled step, an int outside. Goes
out: the rate of the next one, a tensor or a float. What is recorded depends on the settings alone,
so a rate that changes compiles nothing.
Never: a state; whatever depends on more than the step is no schedule (`plateau.py`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from ... import Tensor, asarray, float32, float64, isdtype
from ...frontend.errors import ArgumentError, fail
from ...frontend.tree import register
from ..checks import expect_at_least


class Schedule(ABC):
    """A rate that changes from step to step; a class of settings adds `at`."""

    @abstractmethod
    def at(self, step: Tensor) -> Any:
        """The rate after so many steps, which are counted in floats."""

    def __call__(self, step: Any) -> Any:
        """The rate after so many steps: a tensor for a tensor, a float for a number."""
        if isinstance(step, Tensor):
            is_float = isdtype(step.dtype, "real floating")
            return self.at(step if is_float else step.astype(float32))
        expect_at_least(self, 0, step=step)
        # The interpreter computes one number at once, where a target would compile.
        found = self.at(asarray(float(step), dtype=float64, device="reference"))
        return float(found)


# Settings are a part of a tree's structure: to a compiled function they are no arguments.
register(Schedule, lambda schedule: ((), schedule), lambda schedule, _: schedule)

Rate = float | Schedule | Callable[[Any], Any]


def rate_at(rate: Rate, step: Any) -> Any:
    """A rate after so many steps."""
    return rate(step) if callable(rate) else rate


def expect_rate(owner: Any, **rates: Any) -> None:
    """Refuse what is neither a schedule nor a number of at least 0."""
    for name, rate in rates.items():
        if isinstance(rate, Tensor):
            fail(
                ArgumentError, type(owner).__name__, f"{name} is a number or a schedule", rate,
                hint="`update(..., scale=tensor)` multiplies the rate by a tensor",
            )  # fmt: skip
        if not callable(rate):
            expect_at_least(owner, 0, **{name: rate})
