"""Vectors: made from scalars, taken apart, put together, and reduced.

Comes in: scalars and vectors; lanes are counted from 0. Goes out: the same.
Never: a lane number known only at run time; memory is for that.
"""

from typing import Any

import numpy as np

from ..declare import Attr, Operand, Operands, Result, among, same_as
from ..dtypes import REALS, DType
from ..errors import require
from ..interpreter.arrays import stored
from ..payloads import Array
from ..types import Scalar, Vec
from .base import VALUES, Computation
from .kinds import ReduceKind, binary_of, check_kind
from .tree import reduce_tree


class Splat(Computation, name="loop.splat"):
    """A vector with the same number in every lane."""

    x: Operand[Scalar] = among(VALUES)
    lanes: Attr[int]
    result: Result[Vec]

    @staticmethod
    def infer(x: Scalar, lanes: int) -> Vec:
        return Vec(lanes, x.dtype)

    def run(self, frame: Any, x: Array) -> Array:
        return np.full(self.lanes, x, x.dtype)


class Iota(Computation, name="loop.iota"):
    """0, 1, 2, …"""

    lanes: Attr[int]
    dtype: Attr[DType]
    result: Result[Vec]

    @staticmethod
    def infer(lanes: int, dtype: DType) -> Vec:
        require(dtype in REALS, "cannot count in this dtype", dtype)
        return Vec(lanes, dtype)

    def run(self, frame: Any) -> Array:
        return stored(np.arange(self.lanes), self.dtype)


class Extract(Computation, name="loop.extract"):
    """The number in one lane."""

    x: Operand[Vec] = among(VALUES)
    lane: Attr[int]
    result: Result[Scalar]

    @staticmethod
    def infer(x: Vec, lane: int) -> Scalar:
        _require_lane(lane, x)
        return Scalar(x.dtype)

    def run(self, frame: Any, x: Array) -> Array:
        return np.asarray(x[self.lane])


class Insert(Computation, name="loop.insert"):
    """The vector with another number in one lane."""

    x: Operand[Vec] = among(VALUES)
    value: Operand[Scalar] = among(VALUES)
    lane: Attr[int]
    result: Result[Vec] = same_as("x")

    def check(self) -> None:
        _require_lane(self.lane, self.x.type)
        require(self.value.dtype is self.x.dtype, "dtypes differ", self.x.type, self.value.type)

    def run(self, frame: Any, x: Array, value: Array) -> Array:
        changed = x.copy()
        changed[self.lane] = value
        return changed


class Shuffle(Computation, name="loop.shuffle"):
    """Lane i of the result is lane `lanes[i]` of x; lanes may repeat and be left out."""

    x: Operand[Vec] = among(VALUES)
    lanes: Attr[tuple[int, ...]]
    result: Result[Vec]

    @staticmethod
    def infer(x: Vec, lanes: tuple[int, ...]) -> Vec:
        for lane in lanes:
            _require_lane(lane, x)
        return Vec(len(lanes), x.dtype)

    def run(self, frame: Any, x: Array) -> Array:
        return x[list(self.lanes)]


class Concat(Computation, name="loop.concat"):
    """The lanes of all parts, one part after the other."""

    parts: Operands[Vec] = among(VALUES)
    result: Result[Vec]

    @staticmethod
    def infer(parts: tuple[Vec, ...]) -> Vec:
        require(parts, "there is nothing to put together")
        require(len({part.dtype for part in parts}) == 1, "dtypes differ", *parts)
        return Vec(sum(part.lanes for part in parts), parts[0].dtype)

    def run(self, frame: Any, *parts: Array) -> Array:
        return np.concatenate(parts)


class Reduce(Computation, name="loop.reduce"):
    """All lanes combined into one number, in the order of `tree`, rounded once."""

    x: Operand[Vec] = among(VALUES)
    kind: Attr[ReduceKind]
    result: Result[Scalar]

    @staticmethod
    def infer(x: Vec, kind: ReduceKind) -> Scalar:
        check_kind(binary_of(kind), x)
        return Scalar(x.dtype)

    def run(self, frame: Any, x: Array) -> Array:
        return reduce_tree(self.kind, self.x.dtype, x)


def _require_lane(lane: int, vector: Vec) -> None:
    require(0 <= lane < vector.lanes, f"there is no lane {lane}", vector)


__all__ = ["Concat", "Extract", "Insert", "Iota", "Reduce", "Shuffle", "Splat"]
