"""Adafactor: average squares kept as one row and one column of a matrix."""

from dataclasses import dataclass
from math import sqrt as root
from typing import Any

from ... import Tensor, finfo, maximum, minimum, rsqrt, sqrt, zeros, zeros_like
from ...frontend.errors import ArgumentError, fail
from ..checks import expect_at_least
from ..schedules.schedule import Rate, expect_rate
from .optimiser import Now, Optimiser, Slots, norm


@dataclass(frozen=True)
class Adafactor(Optimiser):
    """Adam's division in the memory of rows and columns, without a mean (Shazeer and Stern, 2018).

    The rate is relative to the root mean square of a leaf, which counts as `eps[1]` at least, and
    is at most one over the root of the steps; moves are clipped to a root mean square of `d`.
    `eps[0]`, the least average square of rows, is by default the precision of the dtype.
    """

    lr: Rate = 1e-2
    beta2_decay: float = -0.8
    eps: tuple[float | None, float] = (None, 1e-3)
    d: float = 1.0
    weight_decay: float = 0.0
    maximize: bool = False

    def __post_init__(self) -> None:
        expect_rate(self, lr=self.lr)
        expect_at_least(self, 0, weight_decay=self.weight_decay)
        expect_at_least(self, 1, d=self.d)
        if not self.beta2_decay <= 0:
            fail(ArgumentError, "Adafactor", "beta2_decay is at most 0", self.beta2_decay)
        if not isinstance(self.eps, tuple) or len(self.eps) != 2:
            fail(ArgumentError, "Adafactor", "eps is a tuple of 2 numbers", self.eps)
        expect_at_least(self, 0, **{"eps[0]": self.eps[0] or 0.0, "eps[1]": self.eps[1]})

    def first(self, parameter: Tensor) -> Slots:
        """The average squares: of rows and columns, or of a vector's elements."""
        if parameter.ndim < 2:
            return {"square": zeros_like(parameter)}
        *stack, rows, columns = parameter.shape
        place: dict[str, Any] = {"dtype": parameter.dtype, "device": parameter.device}
        return {
            "rows": zeros((*stack, rows, 1), **place),
            "columns": zeros((*stack, 1, columns), **place),
        }

    def leaf(
        self, parameter: Tensor, gradient: Tensor, slots: Slots, now: Now
    ) -> tuple[Tensor, Slots]:
        """The next value of a leaf, and its average squares."""
        least = finfo(parameter.dtype).eps if self.eps[0] is None else self.eps[0]
        length = root(parameter.size)
        rate = minimum(1.0 / sqrt(now.step), now.rate)
        rate = rate * maximum(norm(parameter) / length, self.eps[1])
        if self.weight_decay:
            parameter = parameter * (1.0 - now.rate * self.weight_decay)
        kept = _averages(gradient * gradient, slots, now.step**self.beta2_decay)
        square = kept["square"] if "square" in kept else _outer(kept, least)
        move = gradient * rsqrt(maximum(square, least * least))
        return parameter - rate / maximum(norm(move) / (length * self.d), 1.0) * move, kept


def _averages(squares: Tensor, slots: Slots, share: Any) -> Slots:
    """The average squares, with a share of the new ones."""
    means = {
        "square": lambda: squares,
        "rows": lambda: squares.mean(-1, keepdims=True),
        "columns": lambda: squares.mean(-2, keepdims=True),
    }
    return {name: old + share * (means[name]() - old) for name, old in slots.items()}


def _outer(kept: Slots, least: float) -> Tensor:
    """The squares of a matrix, of which rows and columns are the averages."""
    mean = kept["rows"].mean(-2, keepdims=True)
    return kept["rows"] * kept["columns"] / maximum(mean, least)
