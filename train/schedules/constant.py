"""A rate that stays."""

from dataclasses import dataclass
from typing import Any

from ... import Tensor, full_like
from ..checks import expect_at_least
from .schedule import Schedule


@dataclass(frozen=True)
class Constant(Schedule):
    """`lr`, at every step."""

    lr: float

    def __post_init__(self) -> None:
        expect_at_least(self, 0, lr=self.lr)

    def at(self, step: Tensor) -> Any:
        """The rate after so many steps."""
        return full_like(step, self.lr)
