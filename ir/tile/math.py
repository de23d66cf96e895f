"""Arithmetic, element by element: each family is one op, and its kind says which function.

Comes in: tiles of one type, or scalars of one type. Goes out: a tile of that shape, or a scalar.
Narrow floats are computed in f32 and rounded once; integers wrap.
Never: broadcasting, promotion, or a tile beside a scalar (`tile.full` makes one a tile).
"""

from typing import Any

import numpy as np

from ..declare import Attr, Operand, Result, among, same_as
from ..dtypes import DType, boolean
from ..errors import Unmet, require
from ..interpreter.arrays import convert
from ..payloads import Array, Payload, payload
from ..shared.kinds import BinaryKind, CompareKind, UnaryKind, check_kind, evaluate
from ..types import Scalar, Tile
from .base import VALUES, TileOp, retyped
from .shape import Constant


class MathOp(TileOp):
    """An op that is folded where its operands are constants, which are scalars."""

    constant_class = Constant

    def fold(self) -> tuple[Payload, ...] | None:
        operands = [operand.owner.value.array for operand in self.operands]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]
        try:
            with np.errstate(all="ignore"):
                made = self.run(None, *operands)
        except (Unmet, ValueError, ArithmeticError):
            return None  # it fails when it runs, with its own error
        return (payload(made, self.results[0].dtype),)


class Unary(MathOp, name="tile.unary"):
    """kind(x)."""

    x: Operand[Scalar | Tile] = among(VALUES)
    kind: Attr[UnaryKind]
    result: Result[Scalar | Tile] = same_as("x")

    def check(self) -> None:
        check_kind(self.kind, self.x.type)

    def run(self, frame: Any, x: Array) -> Array:
        return evaluate(self.kind, self.x.dtype, self.x.dtype, x)


class Binary(MathOp, name="tile.binary"):
    """kind(left, right)."""

    left: Operand[Scalar | Tile] = among(VALUES)
    right: Operand[Scalar | Tile] = same_as("left")
    kind: Attr[BinaryKind]
    result: Result[Scalar | Tile] = same_as("left")

    def check(self) -> None:
        check_kind(self.kind, self.left.type)

    def run(self, frame: Any, left: Array, right: Array) -> Array:
        return evaluate(self.kind, self.left.dtype, self.left.dtype, left, right)


class Compare(MathOp, name="tile.compare"):
    """Whether kind(left, right); NaN is unequal to all, and unordered."""

    left: Operand[Scalar | Tile] = among(VALUES)
    right: Operand[Scalar | Tile] = same_as("left")
    kind: Attr[CompareKind]
    result: Result[Scalar | Tile]

    @staticmethod
    def infer(left: Scalar | Tile) -> Scalar | Tile:
        return retyped(left, boolean)

    def check(self) -> None:
        check_kind(self.kind, self.left.type)

    def run(self, frame: Any, left: Array, right: Array) -> Array:
        return evaluate(self.kind, self.left.dtype, boolean, left, right)


class Select(MathOp, name="tile.select"):
    """on_true where the predicate holds, on_false elsewhere."""

    predicate: Operand[Scalar | Tile] = among({boolean})
    on_true: Operand[Scalar | Tile] = among(VALUES)
    on_false: Operand[Scalar | Tile] = same_as("on_true")
    result: Result[Scalar | Tile] = same_as("on_true")

    def check(self) -> None:
        wanted = retyped(self.on_true.type, boolean)
        require(self.predicate.type is wanted, f"expected a predicate of type {wanted}")

    def run(self, frame: Any, predicate: Array, on_true: Array, on_false: Array) -> Array:
        return np.where(predicate, on_true, on_false)


class Cast(MathOp, name="tile.cast"):
    """x as `dtype`: floats round once, or saturate to integers (NaN is 0); integers wrap."""

    x: Operand[Scalar | Tile] = among(VALUES)
    dtype: Attr[DType]
    result: Result[Scalar | Tile]

    @staticmethod
    def infer(x: Scalar | Tile, dtype: DType) -> Scalar | Tile:
        require(dtype in VALUES, "complex numbers live on the tensor floor only", dtype)
        return retyped(x, dtype)

    def run(self, frame: Any, x: Array) -> Array:
        return convert(x, self.x.dtype, self.dtype)


class Bitcast(MathOp, name="tile.bitcast"):
    """The bits of x, read as `dtype`, which has as many."""

    x: Operand[Scalar | Tile] = among(VALUES)
    dtype: Attr[DType]
    result: Result[Scalar | Tile]

    @staticmethod
    def infer(x: Scalar | Tile, dtype: DType) -> Scalar | Tile:
        wanted = f"{x.dtype.bits} bits are read as {dtype}, which has {dtype.bits}"
        require(dtype in VALUES and x.dtype.bits == dtype.bits, wanted)
        return retyped(x, dtype)

    def run(self, frame: Any, x: Array) -> Array:
        return x.view(self.dtype.storage)
