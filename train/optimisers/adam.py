"""Adam and AdamW: gradients over the root of their average square."""

from dataclasses import dataclass

from ... import Tensor, maximum, rsqrt, sqrt, zeros_like
from .moments import Moments
from .optimiser import Now, Slots


@dataclass(frozen=True)
class Adam(Moments):
    """Steps by the average gradient over the root of the average square (Kingma and Ba, 2014).

    `weight_decay` is added to the gradient, or with `decoupled_weight_decay` shrinks the parameter;
    with `amsgrad` the largest average square so far divides.
    """

    amsgrad: bool = False
    maximize: bool = False
    decoupled_weight_decay: bool = False

    def first(self, parameter: Tensor) -> Slots:
        """The averages of gradients and of their squares, and the largest of the latter."""
        largest = {"largest": zeros_like(parameter)} if self.amsgrad else {}
        return super().first(parameter) | largest

    def leaf(
        self, parameter: Tensor, gradient: Tensor, slots: Slots, now: Now
    ) -> tuple[Tensor, Slots]:
        """The next value of a leaf, and its averages."""
        shrinking = now.rate if self.decoupled_weight_decay else None
        parameter, gradient = self.decayed(parameter, gradient, shrinking)
        kept = self.averages(gradient, slots)
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
