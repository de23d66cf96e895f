"""Averages of models: what they were over many steps, which often is better than the last one.

Comes in: a model after each step. Goes out: a tree of the same containers, in which what is
trained is averaged, in float32 at least, and other leaves are the last model's.
Never: a change of the model itself.
"""

from dataclasses import dataclass, field
from typing import Any

from .. import asarray, int32, minimum
from ..frontend.paths import aligned
from ..frontend.tree import flatten, register
from .checks import expect_decays
from .optimisers.optimiser import Optimiser, device_of, trained_places, widened
from .state import State


@dataclass(frozen=True)
class AverageState:
    """The average of so many models."""

    step: Any
    model: Any


@dataclass(frozen=True)
class EMA:
    """A running average: `decay` of the average before, the rest of the new model.

    With `warm`, the average of n models keeps (1 + n) / (10 + n) of itself while that is less, so
    that the first, random model is soon forgotten.
    """

    decay: float = 0.999
    warm: bool = False

    def __post_init__(self) -> None:
        expect_decays(self, decay=self.decay)

    def initial(self, model: Any) -> AverageState:
        """The average before the first step: the model itself, in memory of its own."""
        leaves, structure = flatten(model)
        for at in trained_places(leaves, structure):
            leaves[at] = widened(leaves[at]) + 0.0
        step = asarray(0, dtype=int32, device=device_of(leaves))
        return AverageState(step, structure.build(leaves))

    def update(self, model: Any, state: AverageState) -> AverageState:
        """The average with one more model."""
        leaves, structure = flatten(model)
        before = aligned(structure, state.model, "EMA.update")
        for at in trained_places(leaves, structure):
            leaves[at] = self._mixed(leaves[at], before[at], state.step)
        return AverageState(state.step + 1, structure.build(leaves))

    def averaged(self, model: Any, state: AverageState) -> Any:
        """The average in the dtypes of the model."""
        leaves, structure = flatten(model)
        average = aligned(structure, state.model, "EMA.averaged")
        for at in trained_places(leaves, structure):
            average[at] = average[at].astype(leaves[at].dtype)
        return structure.build(average)

    def _mixed(self, new: Any, old: Any, step: Any) -> Any:
        """The average of a leaf."""
        decay: Any = self.decay
        if self.warm:
            count = step.astype(old.dtype)
            decay = minimum((1.0 + count) / (10.0 + count), decay)
        return old + (1.0 - decay) * (new.astype(old.dtype) - old)


@dataclass(frozen=True)
class AveragedState:
    """What an optimiser remembers, and the average beside it."""

    memory: Any
    average: AverageState


@dataclass(frozen=True)
class Averaged(Optimiser):
    """An optimiser that averages the model after each update, for the Learner: `Averaged(AdamW())`.

    The model that is trained is the optimiser's; `averaged(run.state)` is the average.
    """

    optimiser: Optimiser
    average: EMA = field(default_factory=EMA)

    def initial(self, model: Any) -> AveragedState:
        """The state before the first step."""
        return AveragedState(self.optimiser.initial(model), self.average.initial(model))

    def update(
        self, model: Any, gradients: Any, state: AveragedState, *, scale: Any = 1.0
    ) -> tuple[Any, AveragedState]:
        """The next model, what the optimiser remembers then, and the next average."""
        model, memory = self.optimiser.update(model, gradients, state.memory, scale=scale)
        return model, AveragedState(memory, self.average.update(model, state.average))

    def rate(self, state: AveragedState) -> Any:
        """The rate of the next step."""
        return self.optimiser.rate(state.memory)

    def averaged(self, state: State) -> Any:
        """The average, in the dtypes of the model, of the state of a run."""
        return self.average.averaged(state.model, state.optimiser.average)


register(EMA, lambda average: ((), average), lambda average, _: average)
