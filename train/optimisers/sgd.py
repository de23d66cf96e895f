"""Stochastic gradient descent, with momentum."""

from dataclasses import dataclass

from ... import Tensor, where, zeros_like
from ...frontend.errors import ArgumentError, fail
from ..checks import expect_at_least
from ..schedules.schedule import Rate, expect_rate
from .optimiser import Now, Optimiser, Slots


@dataclass(frozen=True)
class SGD(Optimiser):
    """Steps against the gradient, or against a running sum of gradients, its momentum."""

    lr: Rate = 1e-3
    momentum: float = 0.0
    dampening: float = 0.0
    weight_decay: float = 0.0
    nesterov: bool = False
    maximize: bool = False

    def __post_init__(self) -> None:
        expect_rate(self, lr=self.lr)
        expect_at_least(self, 0, momentum=self.momentum, weight_decay=self.weight_decay)
        expect_at_least(self, -float("inf"), dampening=self.dampening)
        if self.nesterov and (not self.momentum or self.dampening):
            fail(ArgumentError, "SGD", "nesterov needs a momentum, and no dampening")

    def first(self, parameter: Tensor) -> Slots:
        """The momentum, where there is one."""
        return {"momentum": zeros_like(parameter)} if self.momentum else {}

    def leaf(
        self, parameter: Tensor, gradient: Tensor, slots: Slots, now: Now
    ) -> tuple[Tensor, Slots]:
        """The next value of a leaf, and its momentum."""
        if self.weight_decay:
            gradient = gradient + self.weight_decay * parameter
        if not self.momentum:
            return parameter - now.rate * gradient, {}
        added = gradient
        if self.dampening:  # the first gradient counts in full
            added = where(now.step == 1, gradient, (1.0 - self.dampening) * gradient)
        momentum = self.momentum * slots["momentum"] + added
        move = gradient + self.momentum * momentum if self.nesterov else momentum
        return parameter - now.rate * move, {"momentum": momentum}
