"""Numbers of an epoch from those of its batches: averages, and metrics that gather outputs.

Comes in: what each batch measured, and how many items it had. Goes out: the values so far.
Never: a value that the device still computes; the Learner hands over numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ..frontend.errors import ArgumentError, fail
from ..frontend.tree import leaves_of


@runtime_checkable
class Metric(Protocol):
    """Gathers the outputs of batches, and makes a number of all of them."""

    def update(self, outputs: Any, targets: Any, /) -> Any: ...

    def value(self) -> Any: ...

    def reset(self) -> Any: ...


Targets = Callable[[Any], Any]


def second_of(batch: Any) -> Any:
    """The targets of a batch, where it is a pair of inputs and targets."""
    if isinstance(batch, tuple | list) and len(batch) == 2:
        return batch[1]
    problem = "metrics need targets, and the batch is no pair of inputs and targets"
    hint = "say where they are: `Learner(..., targets=lambda batch: batch['label'])`"
    fail(ArgumentError, "Learner", problem, hint=hint)


def items_of(batch: Any) -> int:
    """How many items a batch has: the first axis of its first tensor."""
    shapes = [leaf.shape for leaf in leaves_of(batch) if getattr(leaf, "shape", ())]
    return int(shapes[0][0]) if shapes else 1


@dataclass(frozen=True)
class Seen:
    """What a metric may look at after a batch: its numbers, how many items it had, and outputs and
    targets, which are there if the loss function and the batch have them."""

    values: Mapping[str, float]
    items: int
    given: Any
    batch: Any
    targets_of: Targets

    @property
    def outputs(self) -> Any:
        """What the loss function returned beside the loss."""
        if self.given is not None:
            return self.given
        problem = "metrics need outputs, and the loss function returns the loss alone"
        fail(ArgumentError, "Learner", problem, hint="return both: `return loss, outputs`")

    @property
    def targets(self) -> Any:
        """The targets in the batch."""
        return self.targets_of(self.batch)


class Tally:
    """The values of an epoch so far, or of the rest of one that began with `sums`."""

    def __init__(
        self, metrics: Mapping[str, Metric], targets: Targets,
        sums: Mapping[str, Sequence[float]] | None = None,
    ) -> None:  # fmt: skip
        self._metrics, self._targets = metrics, targets
        self._sums = {name: (total, count) for name, (total, count) in (sums or {}).items()}
        self._latest: dict[str, float] = {}
        for metric in metrics.values():
            metric.reset()

    def add(self, values: Mapping[str, float], items: int, outputs: Any, batch: Any) -> None:
        """One batch more."""
        for name, value in values.items():
            if is_rate(name):
                self._latest[name] = value
                continue
            total, count = self._sums.get(name, (0.0, 0.0))
            self._sums[name] = total + value * items, count + items
        seen = Seen(values, items, outputs, batch, self._targets)
        for metric in self._metrics.values():
            if hasattr(metric, "observe"):
                metric.observe(seen)  # pyright: ignore[reportAttributeAccessIssue]
            else:
                metric.update(seen.outputs, seen.targets)

    def leave_out(self, values: Mapping[str, float]) -> None:
        """One batch more, of which nothing counts."""
        for name in values:
            if not is_rate(name):
                self._sums.setdefault(name, (0.0, 0.0))

    @property
    def sums(self) -> dict[str, tuple[float, float]]:
        """For each average its sum, and over how many items."""
        return dict(self._sums)

    def averages(self) -> dict[str, float]:
        """The averages so far, cheap enough to ask after each batch."""
        sums = self._sums.items()
        means = {name: total / count if count else nan for name, (total, count) in sums}
        return means | self._latest

    def values(self) -> dict[str, float]:
        """The averages, and what the metrics make of all that they gathered."""
        found = self.averages()
        for name, metric in self._metrics.items():
            found |= numbers_of(name, metric.value())
        return found


def is_rate(name: str) -> bool:
    """Whether a value is a rate of learning, of which the latest counts."""
    return name.partition("[")[0] == "lr"


def numbers_of(name: str, value: Any) -> dict[str, float]:
    """A value as numbers: `name` of one, `name[0]` and so on of several, NaN of None."""
    array = np.asarray(float("nan") if value is None else value, np.float64)
    if not array.ndim:
        return {name: float(array)}
    return {
        f"{name}[{','.join(map(str, place))}]": float(each) for place, each in np.ndenumerate(array)
    }
