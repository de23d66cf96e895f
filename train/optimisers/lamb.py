"""Lamb: the steps of Adam, each leaf's as long as the leaf is large."""

from dataclasses import dataclass

from ... import Tensor, rsqrt, sqrt, where
from .moments import Moments
from .optimiser import Now, Slots, norm


@dataclass(frozen=True)
class Lamb(Moments):
    """Adam's step, scaled to the norm of the leaf, for large batches (You et al., 2019).

    `weight_decay` is a part of the step; a leaf or a step of norm 0 is not scaled.
    """

    eps: float = 1e-6
    maximize: bool = False

    def leaf(
        self, parameter: Tensor, gradient: Tensor, slots: Slots, now: Now
    ) -> tuple[Tensor, Slots]:
        """The next value of a leaf, and its averages."""
        kept = self.averages(gradient, slots)
        one, two = self.betas
        root = sqrt(kept["square"]) * rsqrt(now.corrected(two)) + self.eps
        move = kept["mean"] / now.corrected(one) / root + self.weight_decay * parameter
        return parameter - now.rate * _trust(parameter, move) * move, kept


def _trust(parameter: Tensor, move: Tensor) -> Tensor:
    """The norm of the leaf over that of its step; 1 where either is 0."""
    size, length = norm(parameter), norm(move)
    is_scaled = (size > 0) & (length > 0)
    return where(is_scaled, size / where(is_scaled, length, 1.0), 1.0)
