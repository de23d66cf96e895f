"""Early stopping: a run ends when a value has not become better for a while.

Comes in: the events of a run. Goes out: a `Stop`, once.
Never: a look at a checkpoint; `KeepBest` keeps the best one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isnan
from typing import Literal

from ..frontend.errors import ArgumentError, fail
from .events import EpochEnded, Event, Started, Stop


@dataclass
class EarlyStopping:
    """Stops after `patience` epochs in which `value` was not better by more than `least`."""

    value: str = "valid.loss"
    patience: int = 5
    mode: Literal["min", "max"] = "min"
    least: float = 0.0
    best: float = field(default=float("nan"), init=False)
    waited: int = field(default=0, init=False)
    missed: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        if self.patience < 1:
            fail(ArgumentError, "EarlyStopping", "patience is one epoch at least", self.patience)
        if self.mode not in ("min", "max"):
            fail(ArgumentError, "EarlyStopping", 'mode is "min" or "max"', self.mode)

    def __call__(self, event: Event) -> Stop | None:
        if isinstance(event, Started):
            self.best, self.waited, self.missed = float("nan"), 0, 0
            for before in event.history:
                self._judge(before)
        if isinstance(event, EpochEnded):
            self._judge(event)
        if self.waited < self.patience:
            return None
        return Stop(f"{self.value} was not better than {self.best:.6g} for {self.waited} epochs")

    def _judge(self, event: EpochEnded) -> None:
        value = event.measured(self.value, "EarlyStopping")
        self.missed = self.missed + 1 if value is None else 0
        if value is None:
            if self.missed > 1:
                problem = f"an epoch ended, and nothing gave {self.value}"
                fail(ArgumentError, "EarlyStopping", problem, hint="`fit(..., valid=batches)`")
            return
        sign = 1.0 if self.mode == "min" else -1.0
        is_first = isnan(self.best) and not isnan(value)
        if is_first or sign * value < sign * self.best - self.least:
            self.best, self.waited = value, 0
        else:
            self.waited += 1
