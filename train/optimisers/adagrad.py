"""AdaGrad: gradients over the root of the sum of their squares."""

from dataclasses import dataclass

from ... import Tensor, full_like, sqrt
from ..checks import expect_at_least
from ..schedules.schedule import Rate, expect_rate
from .optimiser import Now, Optimiser, Slots


@dataclass(frozen=True)
class AdaGrad(Optimiser):
    """Steps by the gradient over the root of the sum of all squares so far (Duchi, 2011)."""

    lr: Rate = 1e-2
    lr_decay: float = 0.0
    weight_decay: float = 0.0
    initial_accumulator_value: float = 0.0
    eps: float = 1e-10
    maximize: bool = False

    def __post_init__(self) -> None:
        expect_rate(self, lr=self.lr)
        expect_at_least(self, 0, lr_decay=self.lr_decay, weight_decay=self.weight_decay)
        start = self.initial_accumulator_value
        expect_at_least(self, 0, initial_accumulator_value=start, eps=self.eps)

    def first(self, parameter: Tensor) -> Slots:
        """The sum of squares."""
        return {"sum": full_like(parameter, self.initial_accumulator_value)}

    def leaf(
        self, parameter: Tensor, gradient: Tensor, slots: Slots, now: Now
    ) -> tuple[Tensor, Slots]:
        """The next value of a leaf, and its sum of squares."""
        if self.weight_decay:
            gradient = gradient + self.weight_decay * parameter
        rate = now.rate
        if self.lr_decay:
            rate = rate / (1.0 + (now.step - 1.0) * self.lr_decay)
        total = slots["sum"] + gradient * gradient
        return parameter - rate * gradient / (sqrt(total) + self.eps), {"sum": total}
