"""Rates that fall by factors: at every step, after every so many, or after certain ones."""

from dataclasses import dataclass
from math import log
from typing import Any

from ... import Tensor, exp, floor, zeros_like
from ...frontend.errors import ArgumentError, fail
from ..checks import expect_at_least, expect_positive, expect_whole
from .schedule import Schedule


@dataclass(frozen=True)
class Exponential(Schedule):
    """`lr` times `gamma` for each step."""

    lr: float
    gamma: float

    def __post_init__(self) -> None:
        expect_at_least(self, 0, lr=self.lr)
        expect_positive(self, gamma=self.gamma)

    def at(self, step: Tensor) -> Any:
        """The rate after so many steps."""
        return self.lr * power(self.gamma, step)


@dataclass(frozen=True)
class Step(Schedule):
    """`lr` times `gamma` for each `size` steps."""

    lr: float
    size: int
    gamma: float = 0.1

    def __post_init__(self) -> None:
        expect_at_least(self, 0, lr=self.lr)
        expect_whole(self, 1, size=self.size)
        expect_positive(self, gamma=self.gamma)

    def at(self, step: Tensor) -> Any:
        """The rate after so many steps."""
        return self.lr * power(self.gamma, count_of(step, self.size))


@dataclass(frozen=True)
class Milestones(Schedule):
    """`lr` times `gamma` for each of the numbers of steps that is reached."""

    lr: float
    milestones: tuple[int, ...]
    gamma: float = 0.1

    def __post_init__(self) -> None:
        expect_at_least(self, 0, lr=self.lr)
        expect_milestones(self, self.milestones)
        expect_positive(self, gamma=self.gamma)

    def at(self, step: Tensor) -> Any:
        """The rate after so many steps."""
        return self.lr * power(self.gamma, passed(self.milestones, step))


def power(base: float, exponent: Any) -> Any:
    """base ** exponent, where rounding the base would count once for each step."""
    return exp(exponent * log(base))


def count_of(step: Any, size: int) -> Any:
    """How many times so many steps are made; half a step keeps away from where rounding decides."""
    return floor((step + 0.5) / size)


def passed(milestones: tuple[int, ...], step: Any) -> Any:
    """How many milestones are reached."""
    return sum([(step >= each).astype(step.dtype) for each in milestones], zeros_like(step))


def expect_milestones(owner: Any, milestones: Any) -> None:
    """Refuse what is no tuple of rising numbers of steps."""
    name = type(owner).__name__
    if not isinstance(milestones, tuple) or list(milestones) != sorted(set(milestones)):
        fail(ArgumentError, name, "milestones is a tuple of rising numbers", milestones)
    for each in milestones:
        expect_whole(owner, 0, milestones=each)
