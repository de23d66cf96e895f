"""Means of numbers: of losses, and what follows from them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...frontend.errors import ShapeError, fail
from .metric import Array, Totals, host, ratio


@dataclass
class Mean(Totals):
    """The mean of numbers, each weighted by how many examples it stands for."""

    def update(self, values: Any, weights: Any = 1) -> None:
        """Gather one more number, or a tensor of them."""
        super().update(values, weights)

    def observe(self, seen: Any) -> None:
        """The outputs of one more batch."""
        self.update(seen.outputs)

    def count(self, values: Any, weights: Any) -> tuple[Any, Any]:
        """The sum of the numbers, and of their weights."""
        numbers, shares = host(values, self.name), host(weights, self.name)
        if shares.ndim and shares.shape != numbers.shape:
            fail(ShapeError, self.name, "there is a weight for each number", numbers, shares)
        return (numbers * shares).sum(), (np.ones(numbers.shape) * shares).sum()

    def result(self, totals: Array) -> Any:
        """The mean."""
        return ratio(*totals)


@dataclass
class Loss(Mean):
    """The mean of losses: of a batch's mean loss, weighted by the number of its examples."""

    def observe(self, seen: Any) -> None:
        """The loss of one more batch."""
        self.update(seen.values["loss"], seen.items)


@dataclass
class Perplexity(Loss):
    """How many words a model of language is undecided between: e to the mean loss of a token."""

    def result(self, totals: Array) -> Any:
        """e to the mean."""
        with np.errstate(over="ignore"):  # of a loss above 709 it is infinite
            return np.exp(ratio(*totals))
