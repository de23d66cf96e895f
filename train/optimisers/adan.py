"""Adan: Nesterov momentum of gradients and of their differences."""

from dataclasses import dataclass

from ... import Tensor, rsqrt, sqrt, where, zeros_like
from ..checks import expect_at_least, expect_betas
from ..schedules.schedule import Rate, expect_rate
from .optimiser import Now, Optimiser, Slots


@dataclass(frozen=True)
class Adan(Optimiser):
    """Steps by averages of gradients, of their differences and of both squared (Xie et al., 2022).

    `weight_decay` shrinks the parameter by a division after the step, or with `no_prox` by a factor
    before it.
    """

    lr: Rate = 1e-3
    betas: tuple[float, float, float] = (0.98, 0.92, 0.99)
    eps: float = 1e-8
    weight_decay: float = 0.0
    no_prox: bool = False
    maximize: bool = False

    def __post_init__(self) -> None:
        expect_rate(self, lr=self.lr)
        expect_betas(self, self.betas, 3)
        expect_at_least(self, 0, eps=self.eps, weight_decay=self.weight_decay)

    def first(self, parameter: Tensor) -> Slots:
        """The averages, and the gradient before."""
        return {name: zeros_like(parameter) for name in ("mean", "change", "square", "previous")}

    def leaf(
        self, parameter: Tensor, gradient: Tensor, slots: Slots, now: Now
    ) -> tuple[Tensor, Slots]:
        """The next value of a leaf, and its averages."""
        one, two, three = self.betas
        difference = where(now.step == 1, 0.0, gradient - slots["previous"])
        ahead = gradient + two * difference
        mean = one * slots["mean"] + (1.0 - one) * gradient
        change = two * slots["change"] + (1.0 - two) * difference
        square = three * slots["square"] + (1.0 - three) * ahead * ahead
        root = sqrt(square) * rsqrt(now.corrected(three)) + self.eps
        move = (mean / now.corrected(one) + two * change / now.corrected(two)) / root
        kept = {"mean": mean, "change": change, "square": square, "previous": gradient}
        shrunk = now.rate * self.weight_decay
        if self.no_prox:
            return parameter * (1.0 - shrunk) - now.rate * move, kept
        return (parameter - now.rate * move) / (1.0 + shrunk), kept
