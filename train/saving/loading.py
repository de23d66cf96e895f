"""Trained models out of checkpoints: which of a folder is wanted, and whether it fits.

Comes in: a folder, which of its checkpoints is wanted, and a tree. Goes out: a tree of the same
containers, with the tensors of the first wanted checkpoint that is whole.
Never: a file written, a run's lock taken, or a tree that is half loaded.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from ...frontend.errors import ArgumentError, described, fail
from ...frontend.paths import paths_of
from ...frontend.tree import flatten
from .files import Damaged, checkpoints, is_checkpoint, read, records, step_of
from .position import Position
from .strategies import KeepBest

FOLDER = "checkpoints"
LISTED = 10
MODEL = "model"
"""What a state calls its model, at the beginning of the paths of its tensors."""

Mode = Literal["min", "max"]
Tree = TypeVar("Tree")
Found = tuple[Path, dict[str, Any], Position]


class CheckpointWarning(UserWarning):
    """A checkpoint cannot be trusted, and another one is taken; or it cannot be written."""


@dataclass(frozen=True)
class Choice:
    """Which checkpoint of a run is wanted: that of a step, the best by a value, or the last."""

    step: int | None = None
    best: str | None = None
    mode: Mode = "min"

    def __post_init__(self) -> None:
        if self.step is not None and self.best is not None:
            problem = "a checkpoint is chosen by its step or by a value, not by both"
            fail(ArgumentError, "load", problem, self.step, self.best)

    def among(self, found: Sequence[Path], folder: Path) -> list[Path]:
        """The checkpoints of a folder that will do, the most wanted first."""
        if self.step is not None:
            there = ", ".join([str(step_of(each)) for each in found])
            chosen = [each for each in found if step_of(each) == self.step]
            problem = f"{folder} has no checkpoint of step {self.step}, but of {there}"
        elif self.best is not None:
            ranked = KeepBest(self.best, mode=self.mode).ranked(list(records(found)), "load")
            by_step = {step_of(each): each for each in found}
            chosen = [by_step[record.step] for record in ranked]
            problem = f"no checkpoint in {folder} was written after an epoch that gave {self.best}"
        else:
            return [*reversed(found)]
        return chosen or fail(ArgumentError, "load", problem)


def load(
    folder: str | Path, model: Tree, *, step: int | None = None, best: str | None = None,
    mode: Mode = "min",
) -> Tree:  # fmt: skip
    """A trained model: `model` with the tensors of a run's last checkpoint that is whole.

    `folder` is that of the run, or one checkpoint. `step` takes the checkpoint of that step, `best`
    the one for which a value, such as "valid.loss", is least, or largest if `mode` is "max".
    Tensors are cast to the dtypes of the model, and are where it is. The optimiser's memory and all
    else that was saved is in what `learner.load` returns.
    """
    checkpoint, tensors, _ = chosen(folder, Choice(step, best, mode))
    own = {
        path.removeprefix(MODEL).removeprefix("."): tensor
        for path, tensor in tensors.items()
        if path.partition(".")[0] == MODEL
    }
    hint = "give a model of the same layers and sizes as the one that was trained"
    misfit = Misfit("load", f"{checkpoint} is of another model", hint)
    return restored(model, own, _shape, misfit)


def chosen(folder: str | Path, choice: Choice) -> Found:
    """The tensors and the position of the checkpoint that is wanted, and where it lies."""
    place = Path(folder)
    place = place / FOLDER if (place / FOLDER).is_dir() else place
    if is_checkpoint(place):
        if choice != Choice():
            problem = f"{place} is one checkpoint, of which none is to be chosen"
            fail(ArgumentError, "load", problem, hint="give the folder of the run")
        return _the_one(place)
    found = checkpoints(place)
    if not found:
        hint = "give the folder that `train.Saving` was given, or one checkpoint"
        fail(ArgumentError, "load", f"there is no checkpoint in {place}", hint=hint)
    wanted = choice.among(found, place)
    if choice.step is not None:
        return _the_one(wanted[0])
    for sound in whole(wanted, stacklevel=4):
        return sound
    if checkpoints(place) != found:  # a run that is going on has put others in their place
        return chosen(folder, choice)
    fail(ArgumentError, "load", f"no checkpoint in {place} that will do is whole")


def whole(candidates: Iterable[Path], stacklevel: int) -> Iterable[Found]:
    """Those checkpoints that can be trusted, in order, with a warning for each that cannot."""
    for checkpoint in candidates:
        try:
            yield checkpoint, *read(checkpoint)
        except Damaged as problem:
            if checkpoint.exists():
                text = f"{checkpoint} is damaged, and another one is taken: {problem}"
                warnings.warn(CheckpointWarning(text), stacklevel=stacklevel)


def _the_one(checkpoint: Path) -> Found:
    """A checkpoint in whose place no other will do."""
    try:
        return checkpoint, *read(checkpoint)
    except Damaged as problem:
        fail(ArgumentError, "load", f"{checkpoint} is damaged: {problem}")


@dataclass(frozen=True)
class Misfit:
    """What is said of tensors that do not fit: by which operation, and what would help."""

    operation: str
    problem: str
    hint: str


def restored(
    like: Tree, tensors: Mapping[str, Any], look: Callable[[Any], Any], misfit: Misfit
) -> Tree:
    """A tree with these tensors, which are of its own paths, and look as its own do."""
    leaves, structure = flatten(like)
    own = dict(zip(paths_of(structure), leaves, strict=True))
    wrong = [f"{path} is missing" for path in own if path not in tensors]
    wrong += [f"{path} is not part of it" for path in tensors if path not in own]
    wrong += [
        f"{path} is {described(tensors[path])} instead of {described(leaf)}"
        for path, leaf in own.items()
        if path in tensors and look(tensors[path]) != look(leaf)
    ]
    if wrong:
        more = [f"and {len(wrong) - LISTED} more"] if len(wrong) > LISTED else []
        problem = "\n    ".join([f"{misfit.problem}:", *wrong[:LISTED], *more])
        fail(ArgumentError, misfit.operation, problem, hint=misfit.hint)
    return structure.build(
        [tensors[path].astype(leaf.dtype).to(leaf.device) for path, leaf in own.items()]
    )


def _shape(tensor: Any) -> Any:
    return getattr(tensor, "shape", None)
