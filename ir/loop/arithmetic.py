"""Arithmetic on scalars and, lane by lane, on vectors: each family is one op, its kind says which.

Comes in: scalars, or vectors, of one type. Goes out: a scalar, or a vector of as many lanes.
Narrow floats are computed in f32 and rounded once; integers wrap.
Never: a scalar beside a vector (`loop.splat` makes one a vector), promotion, or a complex number.
"""

from typing import Any

import numpy as np

from ..declare import Attr, Operand, Result, among, same_as
from ..dtypes import FLOATS, DType, boolean
from ..errors import require
from ..interpreter.arrays import convert, elementwise
from ..payloads import Array
from .base import VALUES, Computation, Register, with_dtype
from .fused import fused_multiply_add
from .kinds import BinaryKind, CompareKind, UnaryKind, check_kind, evaluate


class Unary(Computation, name="loop.unary"):
    """kind(x)."""

    x: Operand[Register] = among(VALUES)
    kind: Attr[UnaryKind]
    result: Result[Register] = same_as("x")

    def check(self) -> None:
        check_kind(self.kind, self.x.type)

    def run(self, frame: Any, x: Array) -> Array:
        return evaluate(self.kind, self.x.dtype, self.x.dtype, x)


class Binary(Computation, name="loop.binary"):
    """kind(left, right)."""

    left: Operand[Register] = among(VALUES)
    right: Operand[Register] = same_as("left")
    kind: Attr[BinaryKind]
    result: Result[Register] = same_as("left")

    def check(self) -> None:
        check_kind(self.kind, self.left.type)

    def run(self, frame: Any, left: Array, right: Array) -> Array:
        return evaluate(self.kind, self.left.dtype, self.left.dtype, left, right)


class FusedMultiplyAdd(Computation, name="loop.fma"):
    """left * right + addend, rounded once; narrow floats to f32 and then to their dtype."""

    left: Operand[Register] = among(FLOATS)
    right: Operand[Register] = same_as("left")
    addend: Operand[Register] = same_as("left")
    result: Result[Register] = same_as("left")

    def run(self, frame: Any, left: Array, right: Array, addend: Array) -> Array:
        dtype = self.left.dtype
        return elementwise(fused_multiply_add, dtype, dtype, left, right, addend)


class Compare(Computation, name="loop.compare"):
    """Whether kind(left, right); NaN is unequal to all, and unordered."""

    left: Operand[Register] = among(VALUES)
    right: Operand[Register] = same_as("left")
    kind: Attr[CompareKind]
    result: Result[Register]

    @staticmethod
    def infer(left: Register) -> Register:
        return with_dtype(left, boolean)

    def check(self) -> None:
        check_kind(self.kind, self.left.type)

    def run(self, frame: Any, left: Array, right: Array) -> Array:
        return evaluate(self.kind, self.left.dtype, boolean, left, right)


class Select(Computation, name="loop.select"):
    """on_true where the predicate holds, on_false elsewhere."""

    predicate: Operand[Register] = among({boolean})
    on_true: Operand[Register] = among(VALUES)
    on_false: Operand[Register] = same_as("on_true")
    result: Result[Register] = same_as("on_true")

    def check(self) -> None:
        wanted = with_dtype(self.on_true.type, boolean)
        found = self.predicate.type
        require(found is wanted, f"the predicate has type {found}, expected {wanted}")

    def run(self, frame: Any, predicate: Array, on_true: Array, on_false: Array) -> Array:
        return np.where(predicate, on_true, on_false)


class Cast(Computation, name="loop.cast"):
    """x as `dtype`: floats round once, or saturate to integers (NaN is 0); integers wrap."""

    x: Operand[Register] = among(VALUES)
    dtype: Attr[DType]
    result: Result[Register]

    @staticmethod
    def infer(x: Register, dtype: DType) -> Register:
        require(dtype in VALUES, "complex numbers live on the tensor floor", dtype)
        return with_dtype(x, dtype)

    def run(self, frame: Any, x: Array) -> Array:
        return np.asarray(convert(x, self.x.dtype, self.dtype))


class Bitcast(Computation, name="loop.bitcast"):
    """The bits of x, read as `dtype`, which has as many."""

    x: Operand[Register] = among(VALUES)
    dtype: Attr[DType]
    result: Result[Register]

    @staticmethod
    def infer(x: Register, dtype: DType) -> Register:
        differ = f"{x.dtype.bits} bits are read as {dtype}, which has {dtype.bits}"
        require(dtype in VALUES and x.dtype.bits == dtype.bits, differ)
        return with_dtype(x, dtype)

    def run(self, frame: Any, x: Array) -> Array:
        return x.view(self.dtype.storage)


__all__ = [
    "Binary", "Bitcast", "Cast", "Compare", "FusedMultiplyAdd", "Select", "Unary",
]  # fmt: skip
