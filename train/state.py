"""All that training changes, as one tree: a step takes it and returns another.

Comes in: a model, an optimiser, a seed. Goes out: a `State`, which is all that a checkpoint needs
of the device.
Never: what stays the same; that is the `Learner`'s.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from ..frontend.errors import ArgumentError, fail
from ..frontend.functions.creation import asarray, zeros_like
from ..frontend.functions.keys import key
from ..frontend.functions.logic import where
from ..frontend.paths import paths_of
from ..frontend.tensor import Tensor
from ..frontend.tree import flatten, tree_map
from .optimisers.optimiser import trained_places, widened
from .scaling import Scale


@runtime_checkable
class Optimiser(Protocol):
    """Makes better parameters of gradients: pure functions of trees, `initial` of the model gives
    what is remembered, `update` the next model and what is remembered then."""

    def initial(self, model: Any, /) -> Any: ...

    def update(self, model: Any, gradients: Any, state: Any, /) -> tuple[Any, Any]: ...


@dataclass(frozen=True)
class State:
    """A model on its way: what the optimiser remembers, the key of randomness, what is counted.

    `step` counts batches, `failed` says whether a loss was not finite, `gathered` is the sum of the
    gradients of `good` batches since the last update, `scale` is what losses are multiplied by, and
    `rate` what the optimiser's rate is.
    """

    model: Any
    optimiser: Any
    key: Tensor
    step: Tensor
    failed: Tensor
    gathered: Any
    scale: Scale | None
    rate: Tensor | None = None
    good: Tensor | None = None


def check_state(operation: str, state: Any) -> None:
    """Refuse a model, or anything else, in the place of a state."""
    if not isinstance(state, State):
        hint = "`state = learner.begin(model)`, then `state, report = learner.step(state, batch)`"
        fail(ArgumentError, operation, "the state of a run is needed", state, hint=hint)


def begin(
    model: Any, optimiser: Optimiser, seed: int = 0, gathers: bool = False, scaled: bool = False,
    falls: bool = False,
) -> State:  # fmt: skip
    """The state before the first step; the model that is given stays readable."""
    leaves, structure = flatten(model)
    for path, leaf in zip(paths_of(structure), leaves, strict=True):
        if not isinstance(leaf, Tensor):
            problem = f"{path or 'the model'} is no tensor, and cannot be trained or saved"
            fail(ArgumentError, "Learner", problem, leaf, hint="make it one: `bs.asarray(…)`")
    own = tree_map(lambda tensor: tensor.detach(), model)
    place = leaves[0].device if leaves else None
    return State(
        model=own,
        optimiser=optimiser.initial(own),
        key=key(seed, device=place),
        step=asarray(0, device=place),
        failed=asarray(False, device=place),
        gathered=zero_gradients(model) if gathers else None,
        scale=Scale.initial(place) if scaled else None,
        rate=asarray(1.0, dtype="float32", device=place) if falls else None,
        good=asarray(0, device=place) if gathers else None,
    )


def zero_gradients(model: Any) -> Any:
    """A tree like the model's gradients, of zeros in f32 at least."""
    leaves, structure = flatten(model)
    zeros: list[Any] = [None] * len(leaves)
    for at in trained_places(leaves, structure):
        zeros[at] = zeros_like(widened(leaves[at]))
    return structure.build(zeros)


def chosen(condition: Any, new: Any, old: Any) -> Any:
    """The new tree where the condition holds, else the old one, leaf by leaf."""
    return tree_map(lambda one, other: where(condition, one, other), new, old)
