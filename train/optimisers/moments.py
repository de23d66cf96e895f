"""What Adam and its kin share: running averages of gradients and of their squares.

Comes in: settings, gradients. Goes out: averages of them, and parameters that decay.
Never: a step; each optimiser makes its own of the averages.
"""

from dataclasses import dataclass
from typing import Any

from ... import Tensor, zeros_like
from ..checks import expect_at_least, expect_betas
from ..schedules.schedule import Rate, expect_rate
from .optimiser import Optimiser, Slots


@dataclass(frozen=True)
class Moments(Optimiser):
    """An optimiser that remembers the average gradient and the average square of each element."""

    lr: Rate = 1e-3
    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8
    weight_decay: float = 0.0

    def __post_init__(self) -> None:
        expect_rate(self, lr=self.lr)
        expect_betas(self, self.betas)
        expect_at_least(self, 0, eps=self.eps, weight_decay=self.weight_decay)

    def first(self, parameter: Tensor) -> Slots:
        """The averages of gradients and of their squares."""
        return {name: zeros_like(parameter) for name in ("mean", "square")}

    def averages(self, gradient: Tensor, slots: Slots) -> Slots:
        """The averages with one more gradient."""
        one, two = self.betas
        mean = one * slots["mean"] + (1.0 - one) * gradient
        square = two * slots["square"] + (1.0 - two) * gradient * gradient
        return {"mean": mean, "square": square}

    def decayed(
        self, parameter: Tensor, gradient: Tensor, rate: Any | None
    ) -> tuple[Tensor, Tensor]:
        """A parameter that weight decay shrinks at a rate, or without one a gradient that has
        it."""
        if not self.weight_decay:
            return parameter, gradient
        if rate is not None:
            return parameter * (1.0 - rate * self.weight_decay), gradient
        return parameter, gradient + self.weight_decay * parameter
