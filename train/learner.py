"""The Learner: says how a model is trained, and trains it.

Comes in: a loss, an optimiser, and what else is wanted of a step; then models and batches. Goes
out: states from step to step, or a whole `Run`.
Never: a parameter changed in place; each step returns another state, and takes the old one's
memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..frontend.errors import ArgumentError, described, fail
from ..frontend.explanation import Explanation
from ..frontend.functions.keys import fold_in
from ..frontend.jit import jit
from ..frontend.nonfinite import nonfinite_origin
from ..ir.shared.properties import cached_property
from ..runtime.device import Device
from ..targets import Memory
from .budget import Budget, Steps, compiled
from .devices import known_devices, moved, spread
from .events import Listener
from .given import check_fit, check_learner, check_model
from .measures import Metric, Tally, items_of, second_of
from .precision import Precision
from .run import Plan, Run, Running
from .saving import Saving
from .saving.loading import Choice, Misfit, Mode, chosen, restored
from .schedules import Plateau
from .source import Source
from .state import Optimiser, State, begin, check_state
from .step import Loss, NanPolicy, Recipe, Report


@dataclass(frozen=True)
class Learner:
    """How a model is trained.

    `loss(model, batch)` returns a number, or that and the model's outputs. `metrics` are functions
    of outputs and batch, which are averaged over an epoch, or objects that gather outputs and
    `targets(batch)`, such as `metrics.AUROC()`. `clip` changes the gradients before the update, as
    `train.ClipGlobalNorm(1.0)` does, and `accumulate` says over how many batches they are averaged;
    those of the last ones, if they are fewer, are not used. `precision` is that of the work;
    parameters stay as they are. `nan` says what happens when a loss is not finite: "raise" an error
    that names the operation, "skip" the batch, or "ignore" it. "skip" looks at gradients, too, and
    so does "raise" where they are clipped or averaged; else they pass into the update one by one,
    and what they made of a parameter is told a step later. `plateau` lets the rate of learning fall
    when epochs bring nothing. `memory` is how many bytes a step may take, as it is planned: if it
    would take more, as few of the blocks that a model has of a kind as may be are computed again on
    the way back, instead of kept. On several `devices`, each computes the gradients of a part of
    the batch, and the first one has the state.
    """

    loss: Loss
    optimiser: Optimiser
    metrics: Mapping[str, Any] = field(default_factory=dict[str, Any])
    targets: Callable[[Any], Any] = second_of
    clip: Callable[[Any], Any] | None = None
    accumulate: int = 1
    precision: Precision = "float32"
    nan: NanPolicy = "raise"
    plateau: Plateau | None = None
    seed: int = 0
    memory: int | None = None
    devices: Sequence[str | Device] = ()

    def __post_init__(self) -> None:
        check_learner(self)

    @property
    def gathering(self) -> dict[str, Metric]:
        """The metrics that gather outputs."""
        return {name: each for name, each in self.metrics.items() if isinstance(each, Metric)}

    @property
    def _measures(self) -> dict[str, Any]:
        return {name: each for name, each in self.metrics.items() if not isinstance(each, Metric)}

    @cached_property
    def recipe(self) -> Recipe:
        """How a step is made."""
        return Recipe(
            self.loss, self.optimiser, self._measures, self.clip, self.precision, self.accumulate,
            self.nan, bool(self.gathering),
        )  # fmt: skip

    @property
    def recomputed(self) -> tuple[str, ...]:
        """The parts of the model that steps compute again, so that they fit into `memory`."""
        chosen = () if self.memory is None else self._budget.chosen
        return tuple(dict.fromkeys([call.path for call in chosen]))

    def begin(self, model: Any) -> State:
        """The state before the first step."""
        check_model("begin", model)
        recipe = self.recipe
        scaled, falls = recipe.precision == "float16", self.plateau is not None
        with self._devices[0] if self._devices else nullcontext():
            own = self._here(model)
            return begin(own, recipe.optimiser, self.seed, recipe.accumulate > 1, scaled, falls)

    def step(self, state: State, batch: Any, count: int | None = None) -> tuple[State, Report]:
        """One batch, of which `count` have been before: another state, and what the batch gave.

        `count` is needed where several batches make one update. The state that is given may not be
        read again. Nothing waits: numbers of the report are computed when somebody looks at them.
        """
        if self.devices:
            batch = self._here_alone(batch)
        # Written out, since a call of Python costs as much as some kernels.
        steps = self._steps if self.memory is None else self._budget.steps(state, batch)
        if self.accumulate == 1:
            return steps.train(state, batch)
        if count is None:
            problem = "how many batches there were says when the parameters are updated"
            fail(ArgumentError, "step", problem, hint="`learner.step(state, batch, count)`")
        work = steps.gather if (count + 1) % self.accumulate else steps.train
        return work(state, batch)

    def explain(self, state: State, batch: Any) -> Explanation:
        """What a step on this batch is compiled to, in words; nothing runs."""
        check_state("explain", state)
        batch = self._here_alone(batch)
        return self._steps_on(state, batch).train.explain(state, batch)

    def planned_memory(self, state: State, batch: Any) -> Memory | None:
        """The bytes that a step on this batch takes, as they are planned; nothing runs. None where
        nothing is planned, as on the device `reference`."""
        check_state("planned_memory", state)
        batch = self._here_alone(batch)
        return self._steps_on(state, batch).train.memory(state, batch)

    def load(
        self, folder: str | Path, model: Any, *, step: int | None = None, best: str | None = None,
        mode: Mode = "min",
    ) -> State:  # fmt: skip
        """The whole state in a checkpoint: model, optimiser's memory, averages, what is counted.

        It is chosen as by `train.load`, which gives the model alone. `model` is one of the same
        layers, and `learner.step` goes on from the state.
        """
        checkpoint, tensors, _ = chosen(folder, Choice(step, best, mode))
        hint = "`train.load` takes the model alone, whatever trained it"
        misfit = Misfit("load", f"{checkpoint} is of another model or optimiser", hint)
        return restored(self.begin(model), tensors, described, misfit)

    def evaluate(self, model: Any, batches: Iterable[Any]) -> dict[str, float]:
        """The averages over some batches, and what metrics make of all of them."""
        tally = self.tally()
        for batch in batches:
            self.measure(model, batch, tally)
        return tally.values()

    def tally(self, sums: Mapping[str, Sequence[float]] | None = None) -> Tally:
        """The values of an epoch that begins, or goes on where it had these sums."""
        return Tally(self.gathering, self.targets, sums)

    def measure(self, model: Any, batch: Any, tally: Tally) -> None:
        """One batch of those that are only evaluated."""
        report = self._evaluate(model, self._here(batch))
        values = {"loss": report.loss.item()}
        values |= {name: each.item() for name, each in report.values.items()}
        tally.add(values, items_of(batch), report.outputs, batch)

    def fit(
        self, model: Any, data: Source, *, epochs: int = 1, valid: Source | None = None,
        listeners: Sequence[Listener] = (), saving: Saving | None = None, name: str = "training",
    ) -> Run:  # fmt: skip
        """Train a model: `epochs` times all batches of `data`, and after each those of `valid`.

        With `saving`, checkpoints are written, and a run that ended early goes on where it was.
        Ctrl-C finishes the step, or the batch of a validation, writes a checkpoint and returns.
        """
        told = tuple(listeners) if isinstance(listeners, Iterable) else listeners
        plan = Plan(name, epochs, data, valid, told)
        check_fit(self, model, plan, saving)
        return Running(self, plan, self.begin(model)).run(saving)

    def explain_failure(self, state: State, batch: Any) -> str:
        """Which operation made the loss of a batch NaN or infinite, or else its gradients, and at
        which line."""
        given = state.model, self._here(batch), fold_in(state.key, state.step - 1)
        origin = nonfinite_origin(self.recipe.loss_of, *given)
        origin = origin or nonfinite_origin(self.recipe.gradients_of, *given)
        if origin is None:
            return "all is finite when it is computed again"
        if origin.operation.startswith("model"):  # an argument, and no operation
            return f"{origin}, as an update before has made it, or as it was given"
        return str(origin)

    def _steps_on(self, state: State, batch: Any) -> Steps:
        return self._steps if self.memory is None else self._budget.steps(state, batch)

    @cached_property
    def _steps(self) -> Steps:
        if len(self._devices) < 2:
            return compiled(self.recipe)
        return spread(self.recipe, self._devices)

    @cached_property
    def _devices(self) -> tuple[Device, ...]:
        return known_devices(self.devices)

    def _here(self, tree: Any) -> Any:
        """A tree on the first device, if devices are named."""
        return moved(tree, self._devices[0]) if self._devices else tree

    def _here_alone(self, batch: Any) -> Any:
        """A batch on the only device that is named, if one is; several cut it themselves."""
        return self._here(batch) if len(self._devices) == 1 else batch

    @cached_property
    def _budget(self) -> Budget:
        assert self.memory is not None
        return Budget(self.recipe, self.memory)

    @cached_property
    def _evaluate(self) -> Any:
        return jit(self.recipe.evaluate)
