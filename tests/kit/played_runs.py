"""A training run as its listeners hear of it.

Comes in: how many epochs and batches. Goes out: events.
Never: a model, or chance.
"""

from collections.abc import Iterator
from math import exp
from pathlib import Path

from brimstone.train import Ended, EpochEnded, Event, Progress, Saved, Started


def told(epochs: int = 2, batches: int = 3, seconds: float = 0.5) -> Iterator[Event]:
    """All events of a run whose loss falls; each batch has eight items."""
    yield Started("spirals", epochs, epochs * batches, parameters=1234, device="cpu")
    for epoch in range(1, epochs + 1):
        yield from epoch_told(epoch, batches, seconds)
    yield Ended(epochs * batches, "all epochs are done", 12.0)


def epoch_told(epoch: int, batches: int, seconds: float = 0.5) -> Iterator[Event]:
    """The events of one epoch: batches, their ends, validation, a checkpoint."""
    step = (epoch - 1) * batches
    for place in range(1, batches + 1):
        step += 1
        values = {"loss": loss_at(step), "learning rate": 1e-3 / step}
        yield Progress("train", epoch, step, place, batches, values, 8, seconds)
    yield EpochEnded("train", epoch, step, {"loss": loss_at(step)}, batches * seconds)
    yield Progress("valid", epoch, step, 1, 1, {"loss": 0.5}, 8, seconds)
    values = {"loss": loss_at(step) + 0.25, "accuracy": 1 - loss_at(step)}
    yield EpochEnded("valid", epoch, step, values, seconds)
    yield Saved(step, Path(f"runs/spirals/step-{step}"))


def loss_at(step: int) -> float:
    """The loss of a batch."""
    return exp(-step / 8)
