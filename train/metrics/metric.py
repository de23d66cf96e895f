"""What metrics have in common: they gather over batches, tell, and begin again.

Comes in: outputs and targets, tensors or arrays, batch by batch. Goes out: a number, or one for
each class; NaN before anything came. What was gathered in parts can be merged.
Never: a warning or an error for what is merely undefined, or a sum in less than float64.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import Tensor
from ...frontend.errors import ArgumentError, DTypeError, ShapeError, fail

if TYPE_CHECKING:
    from ..measures import Seen

Array = np.ndarray[Any, np.dtype[Any]]


class Metric(ABC):
    """Gathers over batches. A dataclass of settings, whose `reset` makes what it gathers into."""

    def __post_init__(self) -> None:
        self.reset()

    @property
    def name(self) -> str:
        """What the metric is called where it is shown."""
        return type(self).__name__

    @abstractmethod
    def reset(self) -> None:
        """Forget all that was gathered."""

    @abstractmethod
    def update(self, outputs: Any, targets: Any) -> None:
        """Gather one more batch."""

    def observe(self, seen: Seen) -> None:
        """Gather what the Learner has seen of one more batch."""
        self.update(seen.outputs, seen.targets)

    @abstractmethod
    def value(self) -> Any:
        """The metric of all that was gathered."""

    def merge(self, other: Any) -> None:
        """Add what another metric of the same settings has gathered."""
        if repr(self) != repr(other):  # as numbers, settings that are NaN would differ
            fail(ArgumentError, f"{self.name}.merge", "the metrics differ", self, other)
        self.add(other)

    def add(self, other: Any) -> None:
        """Add what an equal metric has gathered."""
        problem = "this metric does not say what two of them have gathered together"
        fail(ArgumentError, f"{self.name}.merge", problem, hint="define the method `add`")


class Totals(Metric):
    """A metric of sums: `count` gives those of a batch, `result` the metric of all."""

    totals: Array | None

    def reset(self) -> None:
        """Forget all that was gathered."""
        self.totals = None

    @abstractmethod
    def count(self, outputs: Any, targets: Any) -> Any:
        """The sums of one batch."""

    @abstractmethod
    def result(self, totals: Array) -> Any:
        """The metric, of sums over all batches."""

    def update(self, outputs: Any, targets: Any) -> None:
        """Gather one more batch."""
        self.gather(self.count(outputs, targets))

    def gather(self, counts: Any) -> None:
        """Add sums to those so far."""
        counts = np.asarray(counts, np.float64)
        self.totals = counts if self.totals is None else self.totals + counts

    def value(self) -> Any:
        """The metric of all that was gathered; NaN of nothing."""
        return float("nan") if self.totals is None else plain(self.result(self.totals))

    def add(self, other: Any) -> None:
        """Add what an equal metric has gathered."""
        if other.totals is not None:
            self.gather(other.totals)


class Collected(Metric):
    """A metric that needs all outputs at once: `read` checks a batch, `result` is of all."""

    batches: list[tuple[Array, ...]]

    def reset(self) -> None:
        """Forget all that was gathered."""
        self.batches = []

    @abstractmethod
    def read(self, outputs: Any, targets: Any) -> tuple[Array, ...]:
        """Arrays of one batch, whose first axis counts examples."""

    @abstractmethod
    def result(self, *arrays: Array) -> Any:
        """The metric, of the arrays of all batches."""

    def update(self, outputs: Any, targets: Any) -> None:
        """Gather one more batch."""
        self.batches.append(self.read(outputs, targets))

    def value(self) -> Any:
        """The metric of all that was gathered; NaN of nothing."""
        if not self.batches:
            return float("nan")
        columns = zip(*self.batches, strict=True)
        return plain(self.result(*[np.concatenate(column) for column in columns]))

    def add(self, other: Any) -> None:
        """Add what an equal metric has gathered."""
        self.batches += other.batches


def host(value: Any, operation: str) -> Array:
    """A tensor, array, number or list as an array, of float64 where it has floats."""
    try:
        found = value.numpy() if isinstance(value, Tensor) else np.asarray(value)
        return found if found.dtype.kind in "biu" else found.astype(np.float64)
    except (TypeError, ValueError):
        problem = f"expected numbers, got {type(value).__name__}"
        fail(DTypeError, operation, problem, value)


def alike(operation: str, outputs: Any, targets: Any) -> tuple[Array, Array]:
    """Outputs and targets of one shape, as floats."""
    pair = host(outputs, operation), host(targets, operation)
    if pair[0].shape != pair[1].shape:
        fail(ShapeError, operation, "outputs and targets have one shape", *pair)
    return pair[0].astype(np.float64), pair[1].astype(np.float64)


def ratio(above: Any, below: Any, undefined: float = float("nan")) -> Any:
    """A quotient, or what stands for it where the divisor is 0."""
    above, below = np.asarray(above, np.float64), np.asarray(below, np.float64)
    shape = np.broadcast_shapes(above.shape, below.shape)
    found = np.full(shape, undefined)
    np.divide(above, below, out=found, where=below != 0)
    return found[()]


def mean(values: Sequence[Any] | Array) -> float:
    """The mean of values that are not NaN; NaN of none."""
    known = np.asarray(values, np.float64)
    known = known[~np.isnan(known)]
    return float(ratio(known.sum(), known.size))


def plain(value: Any) -> Any:
    """A number of Python in the place of an array of one."""
    return float(value) if np.ndim(value) == 0 else value
