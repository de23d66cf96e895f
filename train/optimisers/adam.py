"""Adam and AdamW: gradients over the root of their average square."""

from dataclasses import dataclass
from typing import Any

from ... import Tensor, maximum, rsqrt, sqrt, zeros_like
from ..checks import expect_at_least, expect_betas
from ..schedules.schedule import Rate, expect_rate
from .optimiser import Now, Optimiser, Slots


@dataclass(frozen=True)
class Adam(Optimiser):
    """Steps by the average gradient over the root of the average square (Kingma and Ba, 2014).

    `weight_decay` is added to the gradient, or with `decoupled_weight_decay` shrinks the parameter;
    with `amsgrad` the largest average square so far divides.
    """

    lr: Rate = 1e-3
    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8
    weight_decay: float = 0.0
    amsgrad: bool = False
    maximize: bool = False
    decoupled_weight_decay: bool = False

    def __post_init__(self) -> None:
        expect_rate(self, lr=self.lr)
        expect_betas(self, self.betas)
        expect_at_least(self, 0, eps=self.eps, weight_decay=self.weight_decay)

    def first(self, parameter: Tensor) -> Slots:
        """The averages of gradients and of their squares."""
        names = ("mean", "square", "largest") if self.amsgrad else ("mean", "square")
        return {name: zeros_like(parameter) for name in names}

    def leaf(
        self, parameter: Tensor, gradient: Tensor, slots: Slots, now: Now
    ) -> tuple[Tensor, Slots]:
        """The next value of a leaf, and its averages."""
        shrinking = now.rate if self.decoupled_weight_decay else None
        parameter, gradient = decayed(parameter, gradient, self.weight_decay, shrinking)
        kept = averages(self.betas, gradient, slots)
        square = kept["square"]
        if self.amsgrad:
            square = kept["largest"] = maximum(slots["largest"], square)
        one, two = self.betas
        root = sqrt(square) * rsqrt(now.corrected(two)) + self.eps
        return parameter - now.rate / now.corrected(one) * kept["mean"] / root, kept


@dataclass(frozen=True)
class AdamW(Adam):
    """Adam whose weight decay shrinks the parameter (Loshchilov and Hutter, 2017)."""

    weight_decay: float = 1e-2
    decoupled_weight_decay: bool = True


def averages(betas: tuple[float, float], gradient: Tensor, slots: Slots) -> Slots:
    """Running averages of gradients and of their squares."""
    one, two = betas
    mean = one * slots["mean"] + (1.0 - one) * gradient
    square = two * slots["square"] + (1.0 - two) * gradient * gradient
    return {"mean": mean, "square": square}


def decayed(
    parameter: Tensor, gradient: Tensor, weight_decay: float, rate: Any | None
) -> tuple[Tensor, Tensor]:
    """A parameter that weight decay shrinks at a rate, or without one a gradient that has it."""
    if not weight_decay:
        return parameter, gradient
    if rate is not None:
        return parameter * (1.0 - rate * weight_decay), gradient
    return parameter, gradient + weight_decay * parameter
