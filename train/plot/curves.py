"""The curves of a run: for each metric, how it went in training and in validation.

Comes in: the rows of a log. Goes out: `Curve`s, by metric.
Never: a value that is no number, or is infinite: a curve has no place for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite

from ..events import Split
from ..log.row import Row


@dataclass(frozen=True)
class Curve:
    """Values at steps; those of a training run are of single batches where its log has these."""

    split: Split
    steps: list[float]
    values: list[float]


def curves_of(rows: Iterable[Row]) -> dict[str, list[Curve]]:
    """The curves of each metric, training first."""
    places: dict[tuple[str, str, str], Curve] = {}
    for row in rows:
        for name, value in row.values.items():
            key = (name, row.split, row.scope)
            curve = places.setdefault(key, Curve(row.split, [], []))
            if isfinite(value):
                curve.steps.append(row.step)
                curve.values.append(value)
    found: dict[str, list[Curve]] = {}
    for (name, split, scope), curve in places.items():
        if curve.steps and not (scope == "epoch" and (name, split, "batch") in places):
            found.setdefault(name, []).append(curve)
    return {name: sorted(curves, key=lambda curve: curve.split) for name, curves in found.items()}
