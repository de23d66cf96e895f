"""What a log keeps of an event: one row of numbers.

Comes in: events. Goes out: a `Row` of those that have numbers worth keeping.
Never: a batch of validation; its numbers are parts of what its epoch ends with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ..events import EpochEnded, Event, Progress, Split

Scope = Literal["batch", "epoch"]


@dataclass(frozen=True)
class Row:
    """The values after a step: of one batch of training, or of a whole epoch."""

    step: int
    epoch: int
    split: Split
    scope: Scope
    values: Mapping[str, float]


def row_of(event: Event, every: int = 1) -> Row | None:
    """The row of an event; of batches, one in `every` has one."""
    match event:
        case Progress(split="train", step=step, epoch=epoch, values=values) if not step % every:
            return Row(step, epoch, "train", "batch", values)
        case EpochEnded(split=split, step=step, epoch=epoch, values=values):
            return Row(step, epoch, split, "epoch", values)
        case _:
            return None
