"""What happens while a model trains, as values: a run tells its listeners of each.

Comes in: the numbers of a run, as Python floats. Goes out: events, for renderers, loggers, early
stopping; a listener is a function of an event, and may return a `Stop`.
Never: a tensor. Numbers are read when the device has them, and never make it wait.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ..frontend.errors import ArgumentError, fail

Split = Literal["train", "valid"]


@dataclass(frozen=True)
class Stop:
    """What a listener returns to end a run after the step that is running; of an epoch's end, after
    the validation."""

    reason: str


@dataclass(frozen=True)
class Started:
    """A run begins, or goes on after `step` steps and `epoch` epochs, with their `history`.

    `steps` is how many the whole run has, None where nobody knows.
    """

    name: str
    epochs: int
    steps: int | None
    step: int = 0
    epoch: int = 0
    parameters: int = 0
    device: str = ""
    summary: str = ""
    history: Sequence[EpochEnded] = ()


@dataclass(frozen=True)
class Progress:
    """A batch is done. `step` counts all batches of the run from 1, `place` those of the epoch, of
    which there are `steps`; epochs count from 1, too.

    `values` are the latest of what the batch had: its loss, the learning rate, metrics so far.
    """

    split: Split
    epoch: int
    step: int
    place: int
    steps: int | None
    values: Mapping[str, float]
    items: int
    seconds: float


@dataclass(frozen=True)
class EpochEnded:
    """All batches of an epoch are done, for training or for validation, with these values."""

    split: Split
    epoch: int
    step: int
    values: Mapping[str, float]
    seconds: float

    def measured(self, value: str, asked: str) -> float | None:
        """What `valid.loss` or another value was; None if that is of the other split."""
        split, _, name = value.rpartition(".")
        if self.split != (split or "valid"):
            return None
        if name not in self.values:
            problem = f"there is no {value}; the epoch gave {', '.join(self.values)}"
            fail(ArgumentError, asked, problem)
        return self.values[name]


@dataclass(frozen=True)
class Saved:
    """A checkpoint is written."""

    step: int
    path: Path


@dataclass(frozen=True)
class Note:
    """Something that a person should know."""

    text: str


@dataclass(frozen=True)
class Ended:
    """The run is over: all epochs are done, or somebody stopped it."""

    step: int
    reason: str
    seconds: float
    values: Mapping[str, float] = field(default_factory=dict[str, float])


Event = Started | Progress | EpochEnded | Saved | Note | Ended
Listener = Callable[[Event], Stop | None]
