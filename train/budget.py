"""Steps of training that fit into so much memory.

Comes in: how a step is made, and how many bytes it may take. Goes out: the step, compiled, in which
as few parts of the model as possible are computed again on the way back.
Never: something measured, or run to find out: memory is planned before anything runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from threading import Lock
from typing import Any, NamedTuple, Protocol

from ..frontend.errors import ArgumentError, fail
from ..frontend.explanation import Explanation
from ..frontend.explanation.kernels import readable
from ..frontend.jit import jit
from ..frontend.tensor import Tensor
from ..frontend.tree import leaves_of
from ..nn.recomputing import Call, Recomputing
from ..targets import Memory
from .state import State
from .step import Recipe, Report


class Step(Protocol):
    """From a state and a batch to the next state, and what the batch gave."""

    def __call__(self, state: State, batch: Any, /) -> tuple[State, Report]: ...

    def explain(self, state: State, batch: Any, /) -> Explanation: ...

    def memory(self, state: State, batch: Any, /) -> Memory | None: ...


class Steps(NamedTuple):
    """A step that updates the parameters, and one that only gathers gradients."""

    train: Step
    gather: Step


def compiled(recipe: Recipe) -> Steps:
    """The steps of a recipe; they take the memory of the state that they are given."""
    return Steps(jit(recipe.train, donate="state"), jit(recipe.gather, donate="state"))


class Budget:
    """Finds the steps for the largest batch so far."""

    def __init__(self, recipe: Recipe, memory: int) -> None:
        self.recipe, self.memory = recipe, memory
        self.chosen: Sequence[Call] = ()
        self._steps: Steps | None = None
        self._largest = 0
        self._lock = Lock()

    def steps(self, state: State, batch: Any) -> Steps:
        """Steps that fit on this batch; `ArgumentError` if there are none."""
        size = sum([each.nbytes for each in leaves_of(batch) if isinstance(each, Tensor)])
        with self._lock:
            if self._steps is None or size > self._largest:
                self._steps = self._found(state, batch)
                self._largest = size
            return self._steps

    def _found(self, state: State, batch: Any) -> Steps:
        all_kept = Recomputing()
        steps, taken = self._made(all_kept, state, batch)
        if taken <= self.memory:
            self.chosen = ()
            return steps
        least = taken
        for level in all_kept.levels():
            steps, taken = self._made(Recomputing(level), state, batch)
            if taken <= self.memory:
                return self._fewest(level, steps, state, batch)
            least = min(least, taken)
        problem = f"a step takes {readable(least)} at least, and may take {readable(self.memory)}"
        hint = "smaller batches, or `bs.checkpoint` around larger parts of the model"
        return fail(ArgumentError, "Learner", problem, hint=hint)

    def _fewest(self, level: Sequence[Call], steps: Steps, state: State, batch: Any) -> Steps:
        """The steps in which the first few calls of a level are computed again, which are kept
        longest; those in which all are fit."""
        few, enough = 0, len(level)
        while enough - few > 1:
            middle = (few + enough) // 2
            tried, taken = self._made(Recomputing(level[:middle]), state, batch)
            if taken <= self.memory:
                steps, enough = tried, middle
            else:
                few = middle
        self.chosen = tuple(level[:enough])
        return steps

    def _made(self, recomputing: Recomputing, state: State, batch: Any) -> tuple[Steps, int]:
        steps = compiled(replace(self.recipe, recomputing=recomputing))
        memory = steps.train.memory(state, batch)
        if memory is None:
            problem = "nothing plans the memory of a step, so it can have no budget"
            hint = "train on the device `cpu`, with sizes that are known before a step runs"
            fail(ArgumentError, "Learner", problem, hint=hint)
        return steps, memory.total
