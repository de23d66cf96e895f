"""Where a run is: how many steps and epochs are done, where its data are, what it gave so far.

Comes in: steps and epochs that end. Goes out: another `Position`, and JSON.
Never: a tensor; those are the `State`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from ..events import EpochEnded
from ..numbers import heard, told


@dataclass(frozen=True)
class Position:
    """`step` counts the batches of the run, `place` those of the running epoch.

    `data` is what a loader needs to go on, if it can; `sums` are those of the running epoch.
    """

    step: int = 0
    epoch: int = 0
    place: int = 0
    data: Any = None
    sums: Mapping[str, Sequence[float]] = field(default_factory=dict[str, Sequence[float]])
    history: Sequence[EpochEnded] = ()

    def next_step(self, data: Any) -> Position:
        """One batch later."""
        return replace(self, step=self.step + 1, place=self.place + 1, data=data)

    def next_epoch(self, data: Any) -> Position:
        """At the beginning of the next epoch."""
        return replace(self, epoch=self.epoch + 1, place=0, data=data, sums={})

    def told(
        self, history: Sequence[EpochEnded], sums: Mapping[str, Sequence[float]] | None = None
    ) -> Position:
        """The same, with all that epochs gave, and the running one so far."""
        return replace(self, history=tuple(history), sums=self.sums if sums is None else sums)

    def values(self) -> dict[str, float]:
        """What was measured after this very step: `train.loss`, `valid.accuracy`; nothing within an
        epoch, or before it is validated."""
        return {
            f"{event.split}.{name}": value
            for event in self.history
            if event.step == self.step and not self.place
            for name, value in event.values.items()
        }

    def as_json(self) -> dict[str, Any]:
        """The same for a file."""
        known = {each.name: getattr(self, each.name) for each in fields(self)}
        sums = {name: [told(each) for each in pair] for name, pair in self.sums.items()}
        history = [{**vars(event), "values": _each(told, event.values)} for event in self.history]
        return known | {"sums": sums, "history": history}

    @staticmethod
    def of_json(found: Mapping[str, Any]) -> Position:
        """What `as_json` gave."""
        known = {each.name: found[each.name] for each in fields(Position)}
        sums = {name: [heard(each) for each in pair] for name, pair in found["sums"].items()}
        history = [
            EpochEnded(**event | {"values": _each(heard, event["values"])})
            for event in found["history"]
        ]
        return Position(**known | {"sums": sums, "history": tuple(history)})


def _each(change: Callable[[Any], Any], values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: change(value) for name, value in values.items()}
