"""A run as plain lines: for pipes, files, and terminals that can do nothing else.

Comes in: events. Goes out: a line for each that matters; of batches, one every few seconds.
Never: a colour, or a line that is written over.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import monotonic
from typing import TextIO

from ..events import Ended, EpochEnded, Event, Note, Progress, Saved, Started
from . import words
from .renderer import Renderer
from .watched import Watched

SECONDS_BETWEEN = 10.0


class Lines(Renderer):
    """Writes lines to a file, standard output by default; of batches one every `seconds`."""

    def __init__(
        self,
        file: TextIO | None = None,
        seconds: float = SECONDS_BETWEEN,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        super().__init__()
        self._file, self._seconds, self._clock = file, seconds, clock
        self._last = clock()
        self._watched = Watched()

    def show(self, event: Event) -> None:
        self._watched.take(event)
        if isinstance(event, Progress):
            now = self._clock()
            if now - self._last < self._seconds:
                return
            self._last = now
        print(line(event, self._watched), file=self._file or sys.stdout, flush=True)


def line(event: Event, watched: Watched) -> str:
    """An event in words; `watched` has taken it."""
    match event:
        case Started():
            return _beginning(event)
        case Progress():
            return _progress(event, watched)
        case EpochEnded():
            place = f"epoch {words.place(event.epoch, watched.started.epochs)}"
            took = f"({words.duration(event.seconds)})"
            return "  ".join([place, event.split, words.values(event.values), took])
        case Saved(step=step, path=path):
            return f"saved step {step:,}: {path}"
        case Note(text=text):
            return text
        case Ended(step=step, reason=reason, seconds=seconds, values=values):
            ending = f"ended after {words.many(step, 'step')} in {words.duration(seconds)}"
            return "  ".join(filter(None, [f"{ending}: {reason}", words.values(values)]))


def _beginning(event: Started) -> str:
    facts = [words.many(event.epochs, "epoch")]
    if event.steps is not None:
        facts.append(words.many(event.steps, "step"))
    if event.step:
        facts.append(f"from step {event.step:,} on")
    if event.parameters:
        facts.append(words.many(event.parameters, "parameter"))
    if event.device:
        facts.append(f"on {event.device}")
    return f"{event.name}: {', '.join(facts)}"


def _progress(event: Progress, watched: Watched) -> str:
    epoch = words.place(event.epoch, watched.started.epochs)
    parts = [
        f"epoch {epoch}",
        event.split,
        f"batch {words.place(event.place, event.steps)}",
        words.values(event.values),
    ]
    if watched.rate is not None:
        parts.append(f"{words.count(watched.rate)} items/s")
    if watched.left is not None:
        parts.append(f"{words.duration(watched.left)} left")
    return "  ".join(filter(None, parts))
