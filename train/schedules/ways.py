"""Rates that go from one value to another in a number of steps, and stay there."""

from dataclasses import dataclass
from math import pi
from typing import Any

from ... import Tensor, clip, cos
from ..checks import expect_at_least, expect_positive
from .schedule import Schedule


@dataclass(frozen=True)
class Linear(Schedule):
    """From `start` to `end` in `steps` steps, each as far as the others."""

    start: float
    end: float
    steps: float

    def __post_init__(self) -> None:
        expect_at_least(self, 0, start=self.start, end=self.end)
        expect_positive(self, steps=self.steps)

    def at(self, step: Tensor) -> Any:
        """The rate after so many steps."""
        return between(self.start, self.end, share(step, self.steps))


@dataclass(frozen=True)
class Cosine(Schedule):
    """From `lr` to `minimum` in `steps` steps, along half a wave."""

    lr: float
    steps: float
    minimum: float = 0.0

    def __post_init__(self) -> None:
        expect_at_least(self, 0, lr=self.lr, minimum=self.minimum)
        expect_positive(self, steps=self.steps)

    def at(self, step: Tensor) -> Any:
        """The rate after so many steps."""
        return along_cosine(self.lr, self.minimum, share(step, self.steps))


@dataclass(frozen=True)
class Polynomial(Schedule):
    """From `lr` to `minimum` in `steps` steps, as a power of what is left."""

    lr: float
    steps: float
    power: float = 1.0
    minimum: float = 0.0

    def __post_init__(self) -> None:
        expect_at_least(self, 0, lr=self.lr, minimum=self.minimum)
        expect_positive(self, steps=self.steps, power=self.power)

    def at(self, step: Tensor) -> Any:
        """The rate after so many steps."""
        left = 1.0 - share(step, self.steps)
        return between(self.minimum, self.lr, left**self.power)


def share(step: Any, steps: float) -> Any:
    """Which part of a number of steps is made: between 0 and 1."""
    return clip(step / steps, 0.0, 1.0)


def between(start: float, end: float, way: Any) -> Any:
    """What lies a part of the way from start to end."""
    return start + (end - start) * way


def along_cosine(start: float, end: float, way: Any) -> Any:
    """What lies a part of the way from start to end, where it begins and ends slowly."""
    return end + (start - end) * (0.5 + 0.5 * cos(way * pi))
