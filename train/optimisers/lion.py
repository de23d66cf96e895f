"""Lion: steps of one length, in the direction of the sign of a momentum."""

from dataclasses import dataclass

from ... import Tensor, sign, zeros_like
from ..checks import expect_at_least, expect_betas
from ..schedules.schedule import Rate, expect_rate
from .optimiser import Now, Optimiser, Slots


@dataclass(frozen=True)
class Lion(Optimiser):
    """Steps by the sign of the average gradient, which it alone remembers (Chen et al., 2023).

    `weight_decay` shrinks the parameter.
    """

    lr: Rate = 1e-4
    betas: tuple[float, float] = (0.9, 0.99)
    weight_decay: float = 0.0
    maximize: bool = False

    def __post_init__(self) -> None:
        expect_rate(self, lr=self.lr)
        expect_betas(self, self.betas)
        expect_at_least(self, 0, weight_decay=self.weight_decay)

    def first(self, parameter: Tensor) -> Slots:
        """The average gradient."""
        return {"mean": zeros_like(parameter)}

    def leaf(
        self, parameter: Tensor, gradient: Tensor, slots: Slots, now: Now
    ) -> tuple[Tensor, Slots]:
        """The next value of a leaf, and its average gradient."""
        one, two = self.betas
        move = sign(one * slots["mean"] + (1.0 - one) * gradient)
        if self.weight_decay:
            parameter = parameter * (1.0 - now.rate * self.weight_decay)
        mean = two * slots["mean"] + (1.0 - two) * gradient
        return parameter - now.rate * move, {"mean": mean}
