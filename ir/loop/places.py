"""Which lane of which program this is.

Comes in: nothing. Goes out: numbers that stay the same for as long as the lane runs.
"""

from typing import Any

import numpy as np

from ..declare import Attr, Result
from ..errors import require
from ..payloads import Array
from ..types import INDEX, Scalar
from .base import LoopOp
from .lanes import Scope, place_of

GRID_AXES = 3
"""As many axes as the grid of every target has."""


class LaneId(LoopOp, name="loop.lane_id"):
    """The number of this lane among those of its program, or of its subgroup."""

    scope: Attr[Scope] = Scope.GROUP
    result: Result[Scalar]

    @staticmethod
    def infer() -> Scalar:
        return INDEX

    def run(self, frame: Any) -> Array:
        place = place_of(frame)
        within = self.scope is Scope.SUBGROUP
        return np.asarray(place.lane % place.subgroup if within else place.lane, np.int64)


class LaneCount(LoopOp, name="loop.lane_count"):
    """How many lanes a program, or a subgroup, has."""

    scope: Attr[Scope] = Scope.GROUP
    result: Result[Scalar]

    @staticmethod
    def infer() -> Scalar:
        return INDEX

    def run(self, frame: Any) -> Array:
        place = place_of(frame)
        within = self.scope is Scope.SUBGROUP
        return np.asarray(place.subgroup if within else place.lanes, np.int64)


class ProgramId(LoopOp, name="loop.program_id"):
    """The place of this program along an axis of the grid."""

    axis: Attr[int]
    result: Result[Scalar]

    @staticmethod
    def infer(axis: int) -> Scalar:
        return _along(axis)

    def run(self, frame: Any) -> Array:
        return _number(place_of(frame).program, self.axis)


class ProgramCount(LoopOp, name="loop.program_count"):
    """How many programs the grid has along an axis."""

    axis: Attr[int]
    result: Result[Scalar]

    @staticmethod
    def infer(axis: int) -> Scalar:
        return _along(axis)

    def run(self, frame: Any) -> Array:
        return _number(place_of(frame).programs, self.axis)


def _along(axis: int) -> Scalar:
    require(0 <= axis < GRID_AXES, f"a grid has at most {GRID_AXES} axes", axis)
    return INDEX


def _number(numbers: tuple[int, ...], axis: int) -> Array:
    require(axis < len(numbers), f"the grid has {len(numbers)} axes, no axis {axis}")
    return np.asarray(numbers[axis], np.int64)


__all__ = ["LaneCount", "LaneId", "ProgramCount", "ProgramId"]
