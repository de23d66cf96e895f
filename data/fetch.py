"""A batch of a dataset: what each worker of a loader does.

Comes in: jobs, which name the items of a batch, or hold them. Goes out: batches of numpy arrays.
Never: a tensor or a device, of which workers know nothing; an error without the item that it is
about.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .collate import stack
from .draws import bits
from .selected import at_once

Says = str | Callable[[], str]
"""What is being done, in words; found only where they are needed, if that takes time."""


class Job(NamedTuple):
    """A batch to be made: the places of its items, of which the first is the item `start` of the
    epoch; of a stream, also the items."""

    epoch: int
    start: int
    places: Sequence[int]
    items: Sequence[Any] | None = None


class Unmade(Exception):
    """A batch that could not be made: what failed, how, and where in the program."""

    def __init__(self, what: str, problem: str, trace: str) -> None:
        super().__init__(what, problem, trace)
        self.what, self.problem, self.trace = what, problem, trace


@dataclass(frozen=True)
class Fetch:
    """How batches are made of jobs."""

    dataset: Any
    collate: Callable[[Sequence[Any]], Any] = stack
    augment: Callable[[Any, np.random.Generator], Any] | None = None
    augment_batch: Callable[[Any, np.random.Generator], Any] | None = None
    seed: int = 0

    def __call__(self, job: Job) -> Any:
        batch = self._batch(job)
        if self.augment_batch is None:
            return batch
        seeds = self.seed, job.epoch, job.start, int(job.places[0]), len(job.places)
        generator = np.random.Generator(bits(*seeds))
        return attempt(lambda: f"augmenting {shown(job)}", self.augment_batch, batch, generator)

    def _batch(self, job: Job) -> Any:
        if job.items is None and self.augment is None and self.collate is stack:
            batch = at_once(self.dataset, job.places)
            if batch is not None:
                return attempt(partial(shown, job), batch)
        items = [self._item(job, number) for number in range(len(job.places))]
        return attempt(partial(shown, job), self.collate, items)

    def _item(self, job: Job, number: int) -> Any:
        place = int(job.places[number])

        def what() -> str:
            return f"item {place} of {self._name}"

        if job.items is None:
            item = attempt(what, self.dataset.__getitem__, place)
        else:
            item = job.items[number]
        if self.augment is None:
            return item
        # A place may come twice in an epoch, and processes that share an epoch have other places.
        generator = np.random.Generator(bits(self.seed, job.epoch, job.start + number, place))
        return attempt(lambda: f"augmenting {what()}", self.augment, item, generator)

    @property
    def _name(self) -> str:
        return "the stream" if self.dataset is None else type(self.dataset).__name__


def attempt(what: Says, function: Callable[..., Any], *given: Any) -> Any:
    """What a function of the user gives, or `Unmade`, which tells of its error."""
    try:
        return function(*given)
    except Exception as error:
        first, _, _ = str(error).partition("\n")
        problem = f"{type(error).__name__}: {first}"
        said = what if isinstance(what, str) else what()
        raise Unmade(said, problem, "".join(traceback.format_exception(error))) from error


def shown(job: Job) -> str:
    """The batch of a job in words."""
    named = ", ".join(str(int(place)) for place in job.places[:4])
    return f"the batch of items {named}{', …' if len(job.places) > 4 else ''}"
