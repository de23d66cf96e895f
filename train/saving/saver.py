"""Writes checkpoints while the run goes on, and finds the last one that is whole.

Comes in: states and positions. Goes out: folders; when a run begins again, the state and position
of the latest checkpoint that can be trusted.
Never: a wait for the disk in a step, unless the write before is still going on.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...frontend.errors import ArgumentError, described, fail
from ...frontend.paths import paths_of
from ...frontend.tree import flatten
from ..events import Note, Saved
from ..state import State
from .files import checkpoints, records, remove, step_of, sweep, write
from .loading import FOLDER, CheckpointWarning, Misfit, restored, whole
from .lock import locked
from .position import Position
from .strategies import KeepLast, Strategy


@dataclass(frozen=True)
class Saving:
    """Where checkpoints are written, when, and which stay.

    They are written after each epoch, unless `epochs` is false, and `every` so many steps. A run
    goes on from the last one that is whole, unless `resume` is false. Once it has written one,
    checkpoints that it does not come from are deleted. One run at a time has the folder.
    """

    folder: str | Path
    every: int | None = None
    epochs: bool = True
    keep: Strategy = field(default_factory=KeepLast)
    resume: bool = True

    def __post_init__(self) -> None:
        if self.every is not None and self.every < 1:
            fail(ArgumentError, "Saving", "`every` counts steps", self.every)
        if not callable(self.keep):
            hint = "`train.KeepLast(3)` keeps the last three"
            problem = f"`keep` says which checkpoints stay, and is {self.keep!r}"
            fail(ArgumentError, "Saving", problem, hint=hint)


class Saver:
    """The checkpoints of one run, in a folder of its own."""

    def __init__(self, saving: Saving) -> None:
        self.folder, self.saving = Path(saving.folder) / FOLDER, saving
        self._lock = locked(self.folder)
        sweep(self.folder)
        self._writer = ThreadPoolExecutor(1, "checkpoints")
        self._running: Future[Path] | None = None
        self._past = set[int]()
        """The steps of the checkpoints that are of this run."""
        self._saved: tuple[int, int, int] | None = None
        """The step and epoch of the last of them, and how many epochs have given values."""

    def __enter__(self) -> Saver:
        return self

    def __exit__(self, *error: object) -> None:
        """Wait for what was begun, and begin nothing more."""
        self._writer.shutdown()
        os.close(self._lock)

    def wants(self, position: Position, at_end: bool) -> bool:
        """Whether a checkpoint is due: at the end of an epoch, or after a step."""
        if at_end:
            return self.saving.epochs
        return self.saving.every is not None and position.step % self.saving.every == 0

    def save(self, state: State, position: Position) -> Iterator[Saved | Note]:
        """Begin to write a checkpoint; say what became of the one before."""
        yield from self.written()
        place = position.step, position.epoch, len(position.history)
        if place == self._saved:
            return
        _expect_json(position.data)
        leaves, structure = flatten(state)
        # The arrays share the memory of the tensors, which is then not taken for what comes next.
        arrays = {
            path: leaf.numpy() for path, leaf in zip(paths_of(structure), leaves, strict=True)
        }
        self._saved, self._running = place, self._writer.submit(self._write, arrays, position)

    def written(self) -> Iterator[Saved | Note]:
        """Wait for what was begun; say what became of it."""
        running, self._running = self._running, None
        if running is None:
            return
        try:
            path = running.result()
        except OSError as problem:
            self._saved = None
            text = f"a checkpoint could not be written: {problem}"
            warnings.warn(CheckpointWarning(text), stacklevel=5)
            yield Note(text)
        else:
            yield Saved(step_of(path), path)

    def latest(self, like: State) -> tuple[State, Position] | None:
        """The state and position of the last checkpoint that is whole; None where there is none."""
        found = checkpoints(self.folder)
        for checkpoint, tensors, position in whole(reversed(found), stacklevel=6):
            problem = f"{checkpoint} is of another model or optimiser"
            misfit = Misfit("fit", problem, "give another folder, or `resume=False`")
            state = restored(like, tensors, described, misfit)
            self._past = {step_of(each) for each in found if step_of(each) <= position.step}
            self._saved = position.step, position.epoch, len(position.history)
            return state, position
        return None

    def _write(self, arrays: dict[str, Any], position: Position) -> Path:
        path = write(self.folder, arrays, position)
        self._past.add(position.step)
        found = {step_of(each): each for each in checkpoints(self.folder)}
        ours = [found[step] for step in sorted(found.keys() & self._past)]
        kept = self.saving.keep(list(records(ours))) & self._past | {position.step}
        for step in found.keys() - kept:
            remove(found[step])
        return path


def _expect_json(data: Any) -> None:
    """Refuse what a loader says of its place, where a file cannot."""
    try:
        json.dumps(data, allow_nan=False)
    except (TypeError, ValueError) as problem:
        hint = "`state()` returns dicts, lists, texts and plain numbers"
        fail(ArgumentError, "fit", f"the place of the loader is no JSON: {problem}", hint=hint)
