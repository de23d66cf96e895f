"""Which checkpoints stay when another one is written.

Comes in: what is known of each: its step, and the values of the epoch that ended with it. Goes out:
the steps of those that stay.
Never: a file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Literal, Protocol

from ...frontend.errors import ArgumentError, fail


@dataclass(frozen=True)
class Record:
    """A checkpoint: its step, and what was measured after it: `valid.accuracy`, `train.loss`."""

    step: int
    values: Mapping[str, float]


class Strategy(Protocol):
    """Chooses the steps of the checkpoints that stay; the latest stays in any case."""

    def __call__(self, records: Sequence[Record], /) -> set[int]: ...


@dataclass(frozen=True)
class KeepAll:
    """All of them."""

    def __call__(self, records: Sequence[Record]) -> set[int]:
        return {record.step for record in records}


@dataclass(frozen=True)
class KeepLast:
    """The last `count`."""

    count: int = 3

    def __post_init__(self) -> None:
        _at_least_one(self.count, "KeepLast")

    def __call__(self, records: Sequence[Record]) -> set[int]:
        return set(sorted([record.step for record in records])[-self.count :])


@dataclass(frozen=True)
class KeepBest:
    """The `count` whose value is least, or largest; the later one where values are equal.

    One that was written within an epoch has no value, and is never among them.
    """

    value: str = "valid.loss"
    count: int = 1
    mode: Literal["min", "max"] = "min"

    def __post_init__(self) -> None:
        _at_least_one(self.count, "KeepBest")
        if self.mode not in ("min", "max"):
            fail(ArgumentError, "KeepBest", 'mode is "min" or "max"', self.mode)

    def __call__(self, records: Sequence[Record]) -> set[int]:
        return {record.step for record in self.ranked(records, "KeepBest")[: self.count]}

    def ranked(self, records: Sequence[Record], asked: str) -> list[Record]:
        """Those that have the value, the best first."""
        measured = {name: None for record in records for name in record.values}
        if measured and self.value not in measured:
            problem = f"there is no {self.value}; the epochs gave {', '.join(measured)}"
            fail(ArgumentError, asked, problem)
        sign = 1.0 if self.mode == "min" else -1.0
        known = [each for each in records if not isnan(each.values.get(self.value, float("nan")))]
        return sorted(known, key=lambda each: (sign * each.values[self.value], -each.step))


@dataclass(frozen=True)
class Composed:
    """All that any of these strategies keeps."""

    strategies: tuple[Strategy, ...]

    def __call__(self, records: Sequence[Record]) -> set[int]:
        return set[int]().union(*[strategy(records) for strategy in self.strategies])


def _at_least_one(count: int, name: str) -> None:
    if count < 1:
        fail(ArgumentError, name, "at least one checkpoint stays", count)
