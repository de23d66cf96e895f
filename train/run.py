"""A run: epochs of steps, what is told of them, and when it ends.

Comes in: a Learner, a state, batches. Goes out: a `Run`; on the way, events and checkpoints.
Never: a wait for the device: the numbers of a step are read while the next one runs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from math import isfinite
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..frontend.errors import BrimstoneError
from ..frontend.functions.creation import asarray
from ..nn.display import count_of
from .events import Ended, EpochEnded, Event, Listener, Progress, Split, Started, Stop
from .interrupt import Interrupted, finishing_steps
from .measures import items_of
from .saving import Position, Saver, Saving
from .source import Restorable, Source, batches_left, length_of, state_of
from .state import State
from .step import Report

if TYPE_CHECKING:
    from .learner import Learner

BEHIND = 1
"""How many steps the numbers that are read lie behind those that are started."""


class LossNotFinite(BrimstoneError, ArithmeticError):
    """A loss or a gradient is NaN or infinite, and the Learner was told to raise an error then."""


@dataclass(frozen=True)
class Run:
    """What training gave: the last state, why it ended, and the values of each epoch."""

    state: State
    reason: str
    history: Sequence[EpochEnded] = field(default_factory=list[EpochEnded])

    @property
    def model(self) -> Any:
        """The trained model."""
        return self.state.model


@dataclass(frozen=True)
class _Pending:
    """A step that was started: its number in the run and in the epoch, and its report."""

    step: int
    place: int
    batch: Any
    report: Report


@dataclass(frozen=True)
class Plan:
    """What a run is to do: how often it goes through which batches, and who is told."""

    name: str
    epochs: int
    data: Source
    valid: Source | None
    listeners: Sequence[Listener]


class Running:
    """A run on its way."""

    def __init__(self, learner: Learner, plan: Plan, state: State) -> None:
        self.learner, self.plan, self.state = learner, plan, state
        self.position = Position()
        self.history: list[EpochEnded] = []
        self.saver: Saver | None = None
        self.pending = deque[_Pending]()
        self.tally = learner.tally()
        self.plateau = None if learner.plateau is None else learner.plateau.initial()
        self.stopped, self.hurried = "", False
        self.interrupted = Interrupted()
        self.valid_begin = None if plan.valid is None else state_of(plan.valid)
        self.began = self.resumed = monotonic()

    def run(self, saving: Saving | None) -> Run:
        """All epochs, or as many as there are before somebody stops the run."""
        with ExitStack() as opened:
            if saving is not None:
                self.saver = opened.enter_context(Saver(saving))
                if saving.resume:
                    self._resume(self.saver)
            for listener in self.plan.listeners:
                if hasattr(listener, "__enter__") and not getattr(listener, "is_open", False):
                    opened.enter_context(listener)  # pyright: ignore[reportArgumentType]
            # After those who show a run, as Ctrl-C is theirs if they are there.
            self.interrupted = opened.enter_context(finishing_steps())
            self._tell(self._started())
            while self.position.epoch < self.plan.epochs and not self._ending:
                self._epoch()
            reason = self._ending or "all epochs are done"
            if self._ending:
                self._save()
            for event in self.saver.written() if self.saver is not None else ():
                self._tell(event)
            values = self.history[-1].values if self.history else {}
            self._tell(Ended(self.position.step, reason, monotonic() - self.began, values))
        return Run(self.state, reason, self.history)

    def _resume(self, saver: Saver) -> None:
        """Go on from the last checkpoint that is whole."""
        found = saver.latest(self.state)
        if found is not None:
            self.state, self.position = found
            self.history = list(self.position.history)
            for event in self.history:
                self._judge(event)

    @property
    def _ending(self) -> str:
        """Why the run ends before all epochs are done, if it does."""
        return self.stopped or ("interrupted" if self.interrupted.asked else "")

    def _epoch(self) -> None:
        """The steps of an epoch that are left, and the validation after them."""
        if not self._is_trained and not self._train():
            return
        if self.plan.valid is not None and not self._validate(self.plan.valid):
            return
        self.position = self.position.next_epoch(self.position.data)
        self.tally = self.learner.tally()
        if self.saver is not None and self.saver.wants(self.position, at_end=True):
            self._save()

    @property
    def _is_trained(self) -> bool:
        """Whether a run goes on in the validation of an epoch, all steps of which are done."""
        last = self.history[-1] if self.history else None
        return last is not None and (last.split, last.epoch) == ("train", self.position.epoch + 1)

    def _train(self) -> bool:
        """The steps that are left; whether they all are done."""
        began = monotonic()
        self.tally = self.learner.tally(self.position.sums)
        steps = length_of(self.plan.data)
        for batch in batches_left(self.plan.data, self.position):
            self._step(batch)
            if self._ending and self.position.place != steps:
                self._catch_up(0)
                return False
        self._catch_up(0)
        self.position = replace(self.position, data=state_of(self.plan.data))
        self._epoch_ended("train", self.tally.values(), began)
        return True

    def _step(self, batch: Any) -> None:
        position = self.position
        self.state, report = self.learner.step(self.state, batch, position.step)
        self.position = position.next_step(state_of(self.plan.data))
        self.pending.append(_Pending(self.position.step, self.position.place, batch, report))
        self._catch_up(BEHIND)
        if self.saver is not None and self.saver.wants(self.position, at_end=False):
            self._save()

    def _catch_up(self, behind: int) -> None:
        """Read the numbers of all started steps but the last `behind`."""
        steps, tally = length_of(self.plan.data), self.tally
        while len(self.pending) > behind:
            each = self.pending.popleft()
            policy, items = self.learner.recipe.nan, items_of(each.batch)
            if policy == "raise" and not each.report.finite.item():
                self._refuse(each)
            values = {"loss": each.report.loss.item()}
            values |= {name: value.item() for name, value in each.report.values.items()}
            if policy == "skip" and not isfinite(values["loss"]):
                tally.leave_out(values)
            else:
                tally.add(values, items, each.report.outputs, each.batch)
            shown = tally.averages() | {"loss": values["loss"]}
            self._progress("train", each.step, each.place, steps, shown, items)

    def _refuse(self, failed: _Pending) -> None:
        """Say what made a loss or a gradient NaN. Since then only the count of steps changed."""
        state = replace(self.state, step=self.state.step - (self.position.step - failed.step))
        why = self.learner.explain_failure(state, failed.batch)
        value = failed.report.loss.item()
        told = f"the loss of step {failed.step} is {value}"
        if isfinite(value):
            told = f"the gradients of step {failed.step} are not finite, and its loss is {value:g}"
        raise LossNotFinite(
            f'fit: {told}\n  {why}\n  hint: `Learner(..., nan="skip")` leaves such steps out'
        )

    def _validate(self, source: Source) -> bool:
        """The batches that nothing is learned from; whether they all are done. A loader gives the
        same ones each time."""
        tally, began = self.learner.tally(), monotonic()
        steps = length_of(source)
        begin = Position(epoch=self.position.epoch, data=self.valid_begin)
        for place, batch in enumerate(batches_left(source, begin), 1):
            if self.hurried or self.interrupted.asked:
                if isinstance(source, Restorable):
                    source.restore(self.valid_begin)
                return False
            self.learner.measure(self.state.model, batch, tally)
            self._progress(
                "valid", self.position.step, place, steps, tally.averages(), items_of(batch)
            )
        self._epoch_ended("valid", tally.values(), began)
        return True

    def _progress(
        self, split: Split, step: int, place: int, steps: int | None, values: Any, items: int
    ) -> None:
        before, self.resumed = self.resumed, monotonic()
        seconds = self.resumed - before
        epoch = self.position.epoch + 1
        self._tell(Progress(split, epoch, step, place, steps, values, items, seconds))

    def _epoch_ended(self, split: Split, values: dict[str, float], began: float) -> None:
        epoch = self.position.epoch + 1
        event = EpochEnded(split, epoch, self.position.step, values, monotonic() - began)
        self.history.append(event)
        self._judge(event)
        self._tell(event)

    def _judge(self, event: EpochEnded) -> None:
        """Let the rate of learning fall, where an epoch says so."""
        plateau, before = self.learner.plateau, self.plateau
        if plateau is None or before is None:
            return
        value = event.measured(plateau.value, "Plateau")
        if value is not None:
            self.plateau = plateau.update(value, before)
            rate = asarray(self.plateau.scale, dtype="float32", device=self.state.step.device)
            self.state = replace(self.state, rate=rate)

    def _save(self) -> None:
        if self.saver is None:
            return
        self._catch_up(0)
        position = self.position.told(self.history, self.tally.sums)
        for event in self.saver.save(self.state, position):
            self._tell(event)

    def _tell(self, event: Event) -> None:
        for listener in self.plan.listeners:
            answer = listener(event)
            if isinstance(answer, Stop):
                self.stopped = self.stopped or answer.reason
                self.hurried = self.hurried or isinstance(event, Progress)

    def _started(self) -> Started:
        model, position = self.state.model, self.position
        length, device = length_of(self.plan.data), str(self.state.step.device)
        steps = None if length is None else length * self.plan.epochs
        return Started(
            self.plan.name, self.plan.epochs, steps, position.step, position.epoch, count_of(model),
            device, repr(model), tuple(self.history),
        )  # fmt: skip
