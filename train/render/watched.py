"""What is known of a run, from what it has told.

Comes in: events, in order. Goes out: where the run is, how fast it goes, how long it will take,
and the history of its metrics.
Never: a clock; batches say how long they took. So a run that was told of late looks the same.
"""

from __future__ import annotations

from collections import deque
from typing import Literal

from ..events import Ended, EpochEnded, Event, Note, Progress, Saved, Split, Started
from .history import History
from .messages import Batches, batches

NOTES = 200
MEMORY_OF_RATE = 0.95
"""How much of the rate is what it was before the last batch."""
State = Literal["starting", "training", "validating", "done"]


class Watched:
    """A run, as far as it is known."""

    def __init__(self) -> None:
        self._begin(Started("", 0, None))

    def _begin(self, event: Started) -> None:
        """Forget what was known of another run."""
        self.started, self.epoch, self.step = event, event.epoch, event.step
        self.state: State = "starting"
        self.ended: Ended | None = None
        self.batch: Batches | None = None
        self.values: dict[tuple[str, Split], float] = {}
        self.histories: dict[str, dict[Split, History]] = {}
        self.notes = deque[str](maxlen=NOTES)
        self._of_batches = set[str]()
        self._items = self._seconds = self._spent = 0.0
        self._first_step: int | None = None

    def take(self, event: Event | Batches) -> None:
        """Learn what an event says."""
        match event:
            case Started():
                self._begin(event)
            case Batches():
                self._batches(event)
            case Progress():
                self._batches(batches([event]))
            case EpochEnded():
                self._epoch(event)
            case Saved(step=step, path=path):
                self.notes.append(f"step {step:,} is saved: {path}")
            case Note(text=text):
                self.notes.append(text)
            case Ended():
                self.ended, self.state = event, "done"
                self.notes.append(event.reason)

    @property
    def rate(self) -> float | None:
        """Items a second, of late."""
        return self._items / self._seconds if self._seconds else None

    @property
    def done(self) -> float | None:
        """Which part of the run is done."""
        total = self.started.steps
        return min(1.0, self.step / total) if total else None

    @property
    def left(self) -> float | None:
        """Seconds that the rest will take, if it goes on as it went; the first batch, in which
        everything is compiled, does not count."""
        total, first = self.started.steps, self._first_step
        if total is None or first is None or self.step <= first:
            return None
        return self._spent / (self.step - first) * max(0, total - self.step)

    def _batches(self, made: Batches) -> None:
        self.batch, self.epoch = made, made.epoch
        self.state = "training" if made.split == "train" else "validating"
        self._spent += sum(made.seconds)
        if self._first_step is None:
            self._first_step = made.steps[0]
            self._spent -= made.seconds[0]
        for items, seconds in zip(made.items, made.seconds, strict=True):
            self._items = MEMORY_OF_RATE * self._items + items
            self._seconds = MEMORY_OF_RATE * self._seconds + seconds
        if made.split == "train":
            self.step = made.steps[-1]
            for name, values in made.values.items():
                self.values[name, "train"] = values[-1]
                self._of_batches.add(name)
                self._history(name, "train").extend(made.steps, values)

    def _epoch(self, event: EpochEnded) -> None:
        """Keep values; those of training only where its batches have not had them."""
        for name, value in event.values.items():
            self.values[name, event.split] = value
            if event.split == "valid" or name not in self._of_batches:
                self._history(name, event.split).add(event.step, value)

    def _history(self, name: str, split: Split) -> History:
        of_splits = self.histories.setdefault(name, {})
        if split not in of_splits:
            of_splits[split] = History()
        return of_splits[split]
