"""Lamb: the steps of Adam, each leaf's as long as the leaf is large."""

from dataclasses import dataclass

from ... import Tensor, rsqrt, sqrt, where, zeros_like
from ..checks import expect_at_least, expect_betas
from ..schedules.schedule import Rate, expect_rate
from .adam import averages
from .optimiser import Now, Optimiser, Slots, norm


@dataclass(frozen=True)
class Lamb(Optimiser):
    """Adam's step, scaled to the norm of the leaf, for large batches (You et al., 2019).

    `weight_decay` is a part of the step; a leaf or a step of norm 0 is not scaled.
    """

    lr: Rate = 1e-3
    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-6
    weight_decay: float = 0.0
    maximize: bool = False

    def __post_init__(self) -> None:
        expect_rate(self, lr=self.lr)
        expect_betas(self, self.betas)
        expect_at_least(self, 0, eps=self.eps, weight_decay=self.weight_decay)

    def first(self, parameter: Tensor) -> Slots:
        """The averages of gradients and of their squares."""
        return {name: zeros_like(parameter) for name in ("mean", "square")}

    def leaf(
        self, parameter: Tensor, gradient: Tensor, slots: Slots, now: Now
    ) -> tuple[Tensor, Slots]:
        """The next value of a leaf, and its averages."""
        kept = averages(self.betas, gradient, slots)
        one, two = self.betas
        root = sqrt(kept["square"]) * rsqrt(now.corrected(two)) + self.eps
        move = kept["mean"] / now.corrected(one) / root + self.weight_decay * parameter
        return parameter - now.rate * _trust(parameter, move) * move, kept


def _trust(parameter: Tensor, move: Tensor) -> Tensor:
    """The norm of the leaf over that of its step; 1 where either is 0."""
    size, length = norm(parameter), norm(move)
    is_scaled = (size > 0) & (length > 0)
    return where(is_scaled, size / where(is_scaled, length, 1.0), 1.0)
