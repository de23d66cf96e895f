"""RAdam: Adam that waits until its average square is known well enough."""

from dataclasses import dataclass
from math import log
from typing import Any

from ... import Tensor, expm1, maximum, sqrt, where
from .moments import Moments
from .optimiser import Now, Slots

FEW = 5.0
"""Of how many gradients an average must consist, to divide by it."""


@dataclass(frozen=True)
class RAdam(Moments):
    """Adam whose steps are scaled by how well the average square is known (Liu et al., 2019)."""

    decoupled_weight_decay: bool = False
    maximize: bool = False

    def leaf(
        self, parameter: Tensor, gradient: Tensor, slots: Slots, now: Now
    ) -> tuple[Tensor, Slots]:
        """The next value of a leaf, and its averages."""
        shrinking = now.rate if self.decoupled_weight_decay else None
        parameter, gradient = self.decayed(parameter, gradient, shrinking)
        kept = self.averages(gradient, slots)
        one, two = self.betas
        move = now.rate / now.corrected(one) * kept["mean"]
        root = (sqrt(kept["square"]) + self.eps) / sqrt(now.corrected(two))
        most = 2.0 / (1.0 - two) - 1.0
        if most <= FEW:
            return parameter - move, kept
        count = gradients_averaged(two, now.step)
        enough = maximum(count, FEW)  # so that no root of a negative number is taken
        share = (enough - 4.0) * (enough - 2.0) / enough * (most / ((most - 4.0) * (most - 2.0)))
        scale = where(count > FEW, sqrt(share) / root, 1.0)
        return parameter - move * scale, kept


def gradients_averaged(decay: float, step: Any) -> Any:
    """Of how many gradients a corrected running average consists:
    2 / (1 - decay) - 1 - 2 * step * decay ** step / (1 - decay ** step).

    While x = -step * log(decay) is small, that is a difference of two large numbers, so 1 / x - 1/2
    is taken out of 1 / (exp(x) - 1), and what is left is the beginning of its series.
    """
    rate, most = -log(decay), 2.0 / (1.0 - decay) - 1.0
    x = step * rate
    rest = x * (1 / 12 - x * x * (1 / 720 - x * x * (1 / 30240 - x * x / 1209600)))
    early = step - 2.0 * step * rest + (most - 2.0 / rate)
    return where(x < 0.5, early, most - 2.0 * step / expm1(x))
