"""RMSProp: gradients over the root of a running average of their squares."""

from dataclasses import dataclass

from ... import Tensor, maximum, sqrt, zeros_like
from ..checks import expect_at_least, expect_shares
from ..schedules.schedule import Rate, expect_rate
from .optimiser import Now, Optimiser, Slots


@dataclass(frozen=True)
class RMSProp(Optimiser):
    """Steps by the gradient over the root of the average square (Hinton, 2012).

    With `centered` the variance divides; with `momentum` steps are summed.
    """

    lr: Rate = 1e-2
    alpha: float = 0.99
    eps: float = 1e-8
    weight_decay: float = 0.0
    momentum: float = 0.0
    centered: bool = False
    maximize: bool = False

    def __post_init__(self) -> None:
        expect_rate(self, lr=self.lr)
        expect_shares(self, alpha=self.alpha)
        expect_at_least(self, 0, eps=self.eps, weight_decay=self.weight_decay)
        expect_at_least(self, 0, momentum=self.momentum)

    def first(self, parameter: Tensor) -> Slots:
        """The average square, and what the options need."""
        asked = {"square": True, "mean": self.centered, "momentum": self.momentum}
        return {name: zeros_like(parameter) for name, wanted in asked.items() if wanted}

    def leaf(
        self, parameter: Tensor, gradient: Tensor, slots: Slots, now: Now
    ) -> tuple[Tensor, Slots]:
        """The next value of a leaf, and its averages."""
        if self.weight_decay:
            gradient = gradient + self.weight_decay * parameter
        old, new = self.alpha, 1.0 - self.alpha
        square = spread = old * slots["square"] + new * gradient * gradient
        kept = {"square": square}
        if self.centered:
            mean = kept["mean"] = old * slots["mean"] + new * gradient
            spread = maximum(square - mean * mean, 0.0)  # which rounding may make negative
        move = gradient / (sqrt(spread) + self.eps)
        if self.momentum:
            move = kept["momentum"] = self.momentum * slots["momentum"] + move
        return parameter - now.rate * move, kept
