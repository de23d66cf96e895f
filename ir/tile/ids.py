"""Which program this is, and in how large a grid.

Comes in: nothing. Goes out: scalars that differ only between programs.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..declare import Attr, Result
from ..errors import require
from ..payloads import Array
from ..types import INDEX, Scalar
from .base import TileOp

MAX_GRID_RANK = 3
"""As many axes as every target's grid has."""


@dataclass(frozen=True, slots=True)
class Program:
    """The place of a program in its grid, which the interpreter keeps in the frame."""

    place: tuple[int, ...]
    grid: tuple[int, ...]


PROGRAM = "program"
"""Under which name it keeps it."""


def program_of(frame: Any) -> Program:
    """The program that is running."""
    require(PROGRAM in frame.extra, "there is no grid; `run_kernel` runs kernels")
    return frame.extra[PROGRAM]


class Identity(TileOp):
    """A number for each axis of the grid."""

    axis: Attr[int]
    result: Result[Scalar]

    @staticmethod
    def infer(axis: int) -> Scalar:
        require(0 <= axis < MAX_GRID_RANK, f"a grid has at most {MAX_GRID_RANK} axes", axis)
        return INDEX

    def of(self, numbers: tuple[int, ...]) -> Array:
        require(self.axis < len(numbers), f"the grid has {len(numbers)} axes, no axis {self.axis}")
        return np.asarray(numbers[self.axis], np.int64)


class ProgramId(Identity, name="tile.program_id"):
    """The place of this program along an axis of the grid."""

    def run(self, frame: Any) -> Array:
        return self.of(program_of(frame).place)


class ProgramCount(Identity, name="tile.program_count"):
    """The number of programs along an axis of the grid."""

    def run(self, frame: Any) -> Array:
        return self.of(program_of(frame).grid)
