"""One step of training, gradient and update included: what the Learner compiles.

Comes in: a `State` and a batch. Goes out: the next state, and what the batch gave: a `Report`.
Never: Python's decision by a value; what depends on one is chosen on the device.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, Literal

from ..frontend.errors import ArgumentError, fail
from ..frontend.functions.creation import asarray, zeros_like
from ..frontend.functions.elementwise import add, divide, maximum
from ..frontend.functions.keys import fold_in
from ..frontend.functions.logic import isfinite, logical_and, logical_not, logical_or
from ..frontend.functions.reductions import all as all_of
from ..frontend.grad import grad, value_and_grad
from ..frontend.tensor import Tensor
from ..frontend.tree import leaves_of, tree_map
from ..nn.context import inference, training
from ..nn.recomputing import Recomputing
from .optimisers.optimiser import widened
from .precision import batch_in, model_in
from .state import Optimiser, State, check_state, chosen

NanPolicy = Literal["raise", "skip", "ignore"]
Loss = Callable[[Any, Any], Any]
Measure = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Report:
    """What one batch gave: its loss, whether that is finite, and what was measured of its outputs.

    Where the Learner is to raise an error, and clips or averages gradients, these have to be finite
    as well; not if the loss is scaled, where those that are too large are left out.
    `outputs` are what the loss function returned beside the loss, if somebody wants them.
    """

    loss: Tensor
    finite: Tensor
    values: Mapping[str, Tensor]
    outputs: Any = None


@dataclass(frozen=True)
class Share:
    """What a batch, or a part of one, gave: its loss and the gradients of that, what was measured,
    and the outputs, if somebody wants them."""

    loss: Tensor
    gradients: Any
    values: Mapping[str, Tensor]
    outputs: Any = None


@dataclass(frozen=True)
class Recipe:
    """How a step is made: what is minimised, by which optimiser, in which precision, and which
    parts of the model are computed again rather than kept."""

    loss: Loss
    optimiser: Optimiser
    measures: Mapping[str, Measure]
    clip: Callable[[Any], Any] | None
    precision: str
    accumulate: int
    nan: NanPolicy
    returns_outputs: bool
    recomputing: Recomputing | None = None

    def train(self, state: State, batch: Any) -> tuple[State, Report]:
        """A batch, after which the parameters are updated."""
        return self.update(state, *self.share(state, batch))

    def gather(self, state: State, batch: Any) -> tuple[State, Report]:
        """A batch whose gradients are only added to those of the batches before."""
        return self.add(state, *self.share(state, batch))

    def share(self, state: State, batch: Any) -> tuple[Share, Any]:
        """What a batch, or a part of one, gives; and the model with what its modules left."""
        check_state("step", state)
        scale = state.scale

        def scaled(model: Any, batch: Any) -> Any:
            value, outputs = self._result(model, batch)
            # Ahead of scaling, so that what is reported is not too large for it.
            return value if scale is None else value * scale.value, (value, outputs)

        parts = nullcontext() if self.recomputing is None else self.recomputing.watching()
        with training(fold_in(state.key, state.step)), parts:
            both = value_and_grad(scaled, has_aux=True, updates=True)
            ((_, (value, outputs)), model), gradients = both(state.model, batch)
        if scale is not None:
            gradients = tree_map(lambda each: divide(widened(each), scale.value), gradients)
        values = self._measured(outputs, batch, value)
        return Share(value, gradients, values, outputs if self.returns_outputs else None), model

    def update(self, state: State, made: Share, model: Any) -> tuple[State, Report]:
        """The state after a batch that gave this."""
        state, report, gradients, sound = self._settled(state, made, model)
        if state.good is not None:
            gradients, sound = self._averaged(state, gradients, sound)
        if self.clip is not None:
            gradients = self._clipped(gradients)
        scale = {} if state.rate is None else {"scale": state.rate}
        model, optimiser = self.optimiser.update(state.model, gradients, state.optimiser, **scale)
        if sound is not None:
            before = state.model, state.optimiser
            model, optimiser = chosen(sound, (model, optimiser), before)
        gathered = state.gathered and tree_map(zeros_like, state.gathered)
        good = None if state.good is None else zeros_like(state.good)
        return self._next(replace(state, good=good), model, optimiser, gathered), report

    def add(self, state: State, made: Share, model: Any) -> tuple[State, Report]:
        """The state that has the gradients of a batch besides those before."""
        state, report, gradients, _ = self._settled(state, made, model)
        return self._next(state, state.model, state.optimiser, gradients), report

    def evaluate(self, model: Any, batch: Any) -> Report:
        """A batch that nothing is learned from."""
        with inference():
            value, outputs = self._result(model, batch)
        values = self._measured(outputs, batch, value)
        return Report(value, isfinite(value), values, outputs if self.returns_outputs else None)

    def loss_of(self, model: Any, batch: Any, key: Any) -> Any:
        """The loss of a training step alone, with the randomness of that step."""
        with training(key):
            return self._result(model, batch)[0]

    def gradients_of(self, model: Any, batch: Any, key: Any) -> Any:
        """The gradients of a training step alone, with the randomness of that step."""
        return grad(self.loss_of)(model, batch, key)

    def _settled(self, state: State, made: Share, model: Any) -> tuple[State, Report, Any, Any]:
        """The state with the values that modules left, the report, the sum of the gradients since
        the last update, and whether they may be used: None where nobody asks."""
        gradients, finite = made.gradients, isfinite(made.loss)
        if self.nan == "raise" and state.scale is None and self._keeps_gradients:
            finite = logical_and(finite, _all_finite(gradients))
        values = {**made.values, **_rates(self.optimiser, state)}
        report = Report(made.loss, finite, values, made.outputs)
        sound, state = self._judged(state, finite, gradients)
        model = model if sound is None else chosen(sound, model, state.model)
        if state.gathered is not None:
            pairs = zip(leaves_of(gradients), leaves_of(state.gathered), strict=True)
            sums = iter([add(widened(one), other) for one, other in pairs])
            gradients = tree_map(lambda _: next(sums), state.gathered)
            if sound is not None:
                gradients = chosen(sound, gradients, state.gathered)
            assert state.good is not None
            state = replace(state, good=state.good + (1 if sound is None else sound))
        return replace(state, model=model), report, gradients, sound

    @property
    def _keeps_gradients(self) -> bool:
        """Whether all gradients are there before the update, which else takes each as it comes:
        to look at them would cost as much memory as they need, and more time than the update."""
        return self.clip is not None or self.accumulate > 1

    def _judged(self, state: State, finite: Any, gradients: Any) -> tuple[Any, State]:
        """Whether a step's gradients may be used, and the state that remembers it."""
        sound: Any = None
        if self.nan == "skip" or state.scale is not None:
            sound = _all_finite(gradients)
        if state.scale is not None:
            state = replace(state, scale=state.scale.after(sound))
        if self.nan == "raise":
            # After what is not finite nothing changes any more, so that whoever looks later
            # finds the parameters that it was computed with.
            failed = logical_or(state.failed, logical_not(finite))
            state = replace(state, failed=failed)
            going = logical_not(failed)
            sound = going if sound is None else logical_and(sound, going)
        return sound, state

    def _averaged(self, state: State, gradients: Any, sound: Any) -> tuple[Any, Any]:
        """The mean of the gradients of good batches, and whether there is one."""
        if sound is None:
            return tree_map(lambda total: total / self.accumulate, gradients), None
        assert state.good is not None
        count = maximum(state.good, 1)
        mean = tree_map(lambda total: total / count.astype(total.dtype), gradients)
        any_good = state.good > 0
        return mean, logical_and(any_good, ~state.failed) if self.nan == "raise" else any_good

    def _clipped(self, gradients: Any) -> Any:
        """The gradients as `clip` makes them."""
        assert self.clip is not None
        made = self.clip(gradients)
        if type(made) is not type(gradients):
            problem = f"`clip` returns gradients, and got back {type(made).__name__}"
            hint = "`train.ClipGlobalNorm(1.0)` clips by the norm of all"
            fail(ArgumentError, "Learner", problem, hint=hint)
        return made

    def _next(self, state: State, model: Any, optimiser: Any, gathered: Any) -> State:
        step = state.step + 1
        return replace(state, model=model, optimiser=optimiser, gathered=gathered, step=step)

    def _result(self, model: Any, batch: Any) -> tuple[Any, Any]:
        """The loss of a batch as one f32 number, and what else the loss function returned."""
        made = self.loss(model_in(model, self.precision), batch_in(batch, self.precision))
        value, outputs = made if isinstance(made, tuple) and len(made) == 2 else (made, None)
        if not isinstance(value, Tensor) or value.shape:
            problem = "the loss function returns one number, or that and the model's outputs"
            fail(ArgumentError, "Learner", problem, value)
        return widened(value), outputs

    def _measured(self, outputs: Any, batch: Any, loss: Any) -> dict[str, Tensor]:
        """What functions measure of a batch."""
        return {
            name: _number(name, measure(outputs, batch), loss)
            for name, measure in self.measures.items()
        }


def _number(name: str, value: Any, beside: Tensor) -> Tensor:
    """What a function has measured of a batch, if that is one number, beside another tensor."""
    if not isinstance(value, Tensor | int | float) or getattr(value, "shape", ()):
        hint = "reduce it, or gather outputs by a metric that is an object"
        fail(
            ArgumentError, "Learner", f"the metric {name!r} is one number a batch", value, hint=hint
        )
    return value if isinstance(value, Tensor) else asarray(value, device=beside.device)


def _rates(optimiser: Any, state: State) -> dict[str, Tensor]:
    """The rate of the next step, or that of each group, unless it is a number for ever."""
    if not hasattr(optimiser, "rate"):
        return {}
    found = optimiser.rate(state.optimiser)
    pairs = [("lr", found)]
    if isinstance(found, tuple):
        pairs = [(f"lr[{number}]", rate) for number, rate in enumerate(found)]
    rates = {name: rate if state.rate is None else rate * state.rate for name, rate in pairs}
    return {name: rate for name, rate in rates.items() if isinstance(rate, Tensor)}


def _all_finite(tree: Any) -> Any:
    """Whether all numbers of a tree are finite."""
    found = [all_of(isfinite(leaf)) for leaf in leaves_of(tree)]
    together = found[0]
    for each in found[1:]:
        together = logical_and(together, each)
    return together
