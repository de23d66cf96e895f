"""Reductions, scans and the places of extremes, along one axis of a tile.

Comes in: a tile. Goes out: a tile without the axis, or, from a scan, one of the same type. Sums and
products of narrow floats accumulate in f32 and round once; the meanings are the tensor floor's.
Never: a value shared between programs; stages combine what programs leave in memory.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Any

import numpy as np

from .. import tensor
from ..declare import Attr, Op, Operand, Result, among, same_as
from ..dtypes import INTEGERS, ORDERED, DType
from ..errors import require
from ..interpreter.arrays import stored, widened
from ..payloads import Array
from ..tensor.arg_reduce import ArgReduction, check_places
from ..tensor.reduce import ExtremeReduction, Reduction, rows
from ..tensor.scan import Scan as TensorScan
from ..types import Tile
from .base import VALUES, TileOp, check_axis, sizes_of


class ReduceKind(Enum):
    """How all elements along an axis become one; `and` and `or` are of bits."""

    SUM = "sum"
    PRODUCT = "product"
    MAXIMUM = "maximum"
    MINIMUM = "minimum"
    AND = "and"
    OR = "or"


class ScanKind(Enum):
    """How an element is combined with those before it."""

    SUM = "sum"
    PRODUCT = "product"
    MAXIMUM = "maximum"
    MINIMUM = "minimum"


class ArgKind(Enum):
    """Which element's place is sought."""

    MAXIMUM = "maximum"
    MINIMUM = "minimum"


REDUCTIONS: Mapping[ReduceKind, type[Reduction]] = {
    ReduceKind.SUM: tensor.ReduceSum,
    ReduceKind.PRODUCT: tensor.ReduceProduct,
    ReduceKind.MAXIMUM: tensor.ReduceMaximum,
    ReduceKind.MINIMUM: tensor.ReduceMinimum,
    ReduceKind.AND: tensor.ReduceAnd,
    ReduceKind.OR: tensor.ReduceOr,
}
SCANS: Mapping[ScanKind, type[TensorScan]] = {
    ScanKind.SUM: tensor.CumulativeSum,
    ScanKind.PRODUCT: tensor.CumulativeProduct,
    ScanKind.MAXIMUM: tensor.CumulativeMaximum,
    ScanKind.MINIMUM: tensor.CumulativeMinimum,
}
SEARCHES: Mapping[ArgKind, type[ArgReduction]] = {
    ArgKind.MAXIMUM: tensor.ArgMaximum,
    ArgKind.MINIMUM: tensor.ArgMinimum,
}


class Reduce(TileOp, name="tile.reduce"):
    """All elements along an axis, combined to one; of none, the kind's neutral element."""

    x: Operand[Tile] = among(VALUES)
    axis: Attr[int]
    kind: Attr[ReduceKind]
    result: Result[Tile]

    @staticmethod
    def infer(x: Tile, axis: int, kind: ReduceKind) -> Tile:
        check_dtype(REDUCTIONS[kind], kind, x)
        return x.with_shape(without(axis, x))

    def run(self, frame: Any, x: Array) -> Array:
        op, dtype, lines = REDUCTIONS[self.kind], self.x.dtype, rows(x, (self.axis,))
        if issubclass(op, ExtremeReduction):
            return op.extreme.reduce(lines)
        return stored(op.along(widened(lines, dtype)), dtype)


class ArgReduce(TileOp, name="tile.arg_reduce"):
    """The place along an axis of the extreme: of equals the first, and of NaNs the first if there
    are any."""

    x: Operand[Tile] = among(ORDERED)
    axis: Attr[int]
    kind: Attr[ArgKind]
    dtype: Attr[DType]
    result: Result[Tile]

    @staticmethod
    def infer(x: Tile, axis: int, dtype: DType) -> Tile:
        require(dtype in INTEGERS, "places are integers, which this dtype does not hold", dtype)
        shape = without(axis, x)
        check_places(x.shape[axis], dtype)
        return Tile(shape, dtype)

    def run(self, frame: Any, x: Array) -> Array:
        places = SEARCHES[self.kind].find(widened(x, self.x.dtype), axis=self.axis)
        return np.asarray(places, self.dtype.storage)


class Scan(TileOp, name="tile.scan"):
    """Each element combined with all before it along an axis, or with `reverse` all after it."""

    x: Operand[Tile] = among(VALUES)
    axis: Attr[int]
    kind: Attr[ScanKind]
    reverse: Attr[bool] = False
    result: Result[Tile] = same_as("x")

    def check(self) -> None:
        check_axis(self.axis, self.x.type)
        check_dtype(SCANS[self.kind], self.kind, self.x.type)

    def run(self, frame: Any, x: Array) -> Array:
        dtype = self.x.dtype
        forward = np.flip(x, self.axis) if self.reverse else x
        prefixes = SCANS[self.kind].prefixes(widened(forward, dtype), self.axis)
        combined = stored(prefixes, dtype)
        return np.flip(combined, self.axis) if self.reverse else combined


def check_dtype(op: type[Op], kind: ReduceKind | ScanKind, x: Tile) -> None:
    """Refuse a dtype that the tensor op does not take."""
    accepted = op.operand_fields[0].rule.dtypes
    able = accepted is None or x.dtype in accepted
    require(able, f"there is no {kind.value} of this dtype", x)


def without(axis: int, x: Tile) -> tuple[int, ...]:
    """The shape that is left."""
    check_axis(axis, x)
    sizes = sizes_of(x)
    return sizes[:axis] + sizes[axis + 1 :]
