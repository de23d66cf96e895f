"""NAdam: Adam with Nesterov's momentum."""

from dataclasses import dataclass
from math import log
from typing import Any

from ... import Tensor, exp, ones, rsqrt, sqrt
from ..checks import expect_at_least
from ..schedules.schedule import Rate
from .moments import Moments
from .optimiser import Now, Slots


@dataclass(frozen=True)
class NAdam(Moments):
    """Adam that looks a step ahead, by a momentum that grows with the steps (Dozat, 2016)."""

    lr: Rate = 2e-3
    momentum_decay: float = 4e-3
    decoupled_weight_decay: bool = False
    maximize: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        expect_at_least(self, 0, momentum_decay=self.momentum_decay)

    def first(self, parameter: Tensor) -> Slots:
        """The averages of gradients and of their squares, and the product of all momenta."""
        product = ones((), dtype=parameter.dtype, device=parameter.device)
        return {**super().first(parameter), "product": product}

    def leaf(
        self, parameter: Tensor, gradient: Tensor, slots: Slots, now: Now
    ) -> tuple[Tensor, Slots]:
        """The next value of a leaf, and what is remembered of it."""
        shrinking = now.rate if self.decoupled_weight_decay else None
        parameter, gradient = self.decayed(parameter, gradient, shrinking)
        kept = self.averages(gradient, slots)
        here, ahead = self._momentum(now.step), self._momentum(now.step + 1)
        product = kept["product"] = slots["product"] * here
        root = sqrt(kept["square"]) * rsqrt(now.corrected(self.betas[1])) + self.eps
        slope = (1.0 - here) / (1.0 - product) * gradient
        move = slope + ahead / (1.0 - product * ahead) * kept["mean"]
        return parameter - now.rate * move / root, kept

    def _momentum(self, step: Any) -> Any:
        """The momentum at a step: half of betas[0] at first, all of it in the end."""
        return self.betas[0] * (1.0 - 0.5 * exp(step * (self.momentum_decay * log(0.96))))
