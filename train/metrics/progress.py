"""How training goes: how fast, and at which rate."""

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from ..measures import is_rate
from .metric import Metric, host, plain


@dataclass
class IterationSpeed(Metric):
    """Iterations a second, since the first one began; `clock` tells seconds."""

    clock: Callable[[], float] = field(default=perf_counter, compare=False, repr=False)

    def reset(self) -> None:
        """Begin to count, now."""
        self.count, self.begin = 0, self.clock()
        self.end = self.begin

    def update(self, count: int = 1) -> None:
        """Some more iterations are done."""
        self.count += count
        self.end = self.clock()

    def observe(self, seen: Any) -> None:
        """One more iteration is done."""
        self.update()

    def value(self) -> float:
        """Iterations a second; NaN before the first is done."""
        elapsed = self.end - self.begin
        return self.count / elapsed if elapsed > 0 else float("nan")

    def add(self, other: Any) -> None:
        """Add iterations made beside these: the longer time counts."""
        self.count += other.count
        self.end = self.begin + max(self.end - self.begin, other.end - other.begin)


@dataclass
class LearningRate(Metric):
    """The last rate, as `optimiser.rate(state)` gives it."""

    def reset(self) -> None:
        """Forget the rate."""
        self.last: Any = float("nan")

    def update(self, rate: Any) -> None:
        """The rate of the next step; of several groups, a rate each."""
        several = isinstance(rate, tuple)
        self.last = tuple(_number(each) for each in rate) if several else _number(rate)

    def observe(self, seen: Any) -> None:
        """The rate of the step, where it changes; of several groups, that of each whose does."""
        rates = [value for name, value in seen.values.items() if is_rate(name)]
        if rates:
            self.update(tuple(rates) if len(rates) > 1 else rates[0])

    def value(self) -> Any:
        """The last rate."""
        return self.last

    def add(self, other: Any) -> None:
        """The rate of the other one, which is later."""
        self.last = other.last


def _number(rate: Any) -> Any:
    return plain(host(rate, "LearningRate"))
