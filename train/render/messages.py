"""What the process that trains tells the one that draws.

Comes in: events, and how the process is. Goes out: what can be pickled, and cheaply: of batches
there may be thousands a second.
Never: a tensor, or a table of values that somebody may still change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from ..events import Ended, EpochEnded, Event, Progress, Split
from .health import Health


@dataclass(frozen=True, slots=True)
class Batches:
    """Batches of an epoch, one behind the other, in columns: lists are taken as a whole.

    `place` is that of the last one among the `of` batches of the epoch.
    """

    split: Split
    epoch: int
    place: int
    of: int | None
    steps: Sequence[int]
    values: Mapping[str, Sequence[float]]
    items: Sequence[int]
    seconds: Sequence[float]

    @property
    def latest(self) -> dict[str, float]:
        """The values of the last batch."""
        return {name: column[-1] for name, column in self.values.items()}


Message = Event | Batches | Health


def packed(events: Iterable[Event]) -> list[Message]:
    """What is sent. Batches of one kind go together: that costs a tenth of as many objects."""
    found: list[Message] = []
    for kind, group in groupby(events, _kind):
        alike = [*group]
        found += map(_copied, alike) if kind is None else [batches(alike)]
    return found


def batches(alike: Sequence[Any]) -> Batches:
    """Batches of one kind, one behind the other."""
    last: Progress = alike[-1]
    return Batches(
        last.split, last.epoch, last.place, last.steps,
        [each.step for each in alike],
        {name: [each.values[name] for each in alike] for name in last.values},
        [each.items for each in alike],
        [each.seconds for each in alike],
    )  # fmt: skip


def _kind(event: Event) -> tuple[Any, ...] | None:
    """What batches have in common that are told of together; None of what is no batch."""
    if isinstance(event, Progress):
        return event.split, event.epoch, event.steps, *event.values
    return None


def _copied(event: Event) -> Event:
    if isinstance(event, EpochEnded | Ended):
        return replace(event, values=dict(event.values))
    return event
