"""The rate of the first transformers."""

from dataclasses import dataclass
from typing import Any

from ... import Tensor, minimum, rsqrt
from ..checks import expect_at_least, expect_positive, expect_whole
from .schedule import Schedule


@dataclass(frozen=True)
class Noam(Schedule):
    """Rises for `warmup` steps, then falls as the root of the steps (Vaswani et al., 2017).

    It is largest after `warmup - 1` steps: `lr * (width * warmup) ** -0.5`.
    """

    lr: float
    warmup: int
    width: float

    def __post_init__(self) -> None:
        expect_at_least(self, 0, lr=self.lr)
        expect_whole(self, 1, warmup=self.warmup)
        expect_positive(self, width=self.width)

    def at(self, step: Tensor) -> Any:
        """The rate after so many steps."""
        number = step + 1.0
        rising, falling = number * self.warmup**-1.5, rsqrt(number)
        return self.lr * self.width**-0.5 * minimum(rising, falling)
