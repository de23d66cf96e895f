"""Element types as users see them: `bs.float32`, equal to "float32" and to numpy's own.

Comes in: whatever a person calls a dtype. Goes out: one object each, which numpy takes for its own
dtype, and the dtype that two meet in.
Never: a kind of value beyond those of `ir.dtypes`.
"""

import builtins
from functools import cache
from typing import Any

import numpy as np

from ..ir import dtypes as ir
from ..ir.dtypes import DType as Inner
from .errors import DTypeError, fail, shown

_KINDS = {
    ir.Kind.BOOL: "b",
    ir.Kind.SIGNED: "i",
    ir.Kind.UNSIGNED: "u",
    ir.Kind.FLOAT: "f",
    ir.Kind.COMPLEX: "c",
}


class DType:
    """One element type; `ir` is the compiler's own, `dtype` numpy's, `kind` a letter as numpy's."""

    __slots__ = ("dtype", "ir", "itemsize", "kind", "name")

    def __init__(self, name: str, inner: Inner) -> None:
        self.name, self.ir = name, inner
        self.kind, self.itemsize = _KINDS[inner.kind], inner.itemsize
        self.dtype = inner.storage

    def __repr__(self) -> str:
        return f"brimstone.{self.name}"

    def __str__(self) -> str:
        return self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __eq__(self, other: object) -> bool:
        return self is other or _NAMES.get(_key(other)) is self

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self.name,)


def _key(given: Any) -> Any:
    """What a dtype is looked up by: numpy's scalar types and dtypes go by their numpy dtype."""
    if isinstance(given, type) and issubclass(given, np.generic):
        return np.dtype(given)
    return given if isinstance(given, str | np.dtype | ir.DType | type) else None


bool = DType("bool", ir.boolean)
int8, int16 = DType("int8", ir.i8), DType("int16", ir.i16)
int32, int64 = DType("int32", ir.i32), DType("int64", ir.i64)
uint8, uint16 = DType("uint8", ir.u8), DType("uint16", ir.u16)
uint32, uint64 = DType("uint32", ir.u32), DType("uint64", ir.u64)
float8_e4m3, float8_e5m2 = DType("float8_e4m3", ir.f8e4m3), DType("float8_e5m2", ir.f8e5m2)
float16, bfloat16 = DType("float16", ir.f16), DType("bfloat16", ir.bf16)
float32, float64 = DType("float32", ir.f32), DType("float64", ir.f64)
complex64, complex128 = DType("complex64", ir.c64), DType("complex128", ir.c128)

ALL = (
    bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float8_e4m3, float8_e5m2,
    float16, bfloat16, float32, float64, complex64, complex128,
)  # fmt: skip
OF_IR = {each.ir: each for each in ALL}
# What Python's own numbers become where no tensor says otherwise.
DEFAULTS = {builtins.bool: bool, int: int64, float: float32, complex: complex64}
_NAMES: dict[Any, DType] = {
    **{each.name: each for each in ALL},
    **{each.ir.name: each for each in ALL},
    **{each.ir: each for each in ALL},
    **{each.dtype: each for each in ALL},
    **DEFAULTS,
}


def as_dtype(given: Any) -> DType:
    """The dtype that a person means: ours, numpy's, a name, or a type of Python's numbers."""
    if given.__class__ is DType:
        return given
    found = _NAMES.get(_key(given))
    if found is None:
        hint = f"the dtypes are {', '.join(each.name for each in ALL)}"
        if isinstance(given, int):
            hint = f"sizes are one shape, a tuple, as in `bs.zeros((3, 4))`; {hint}"
        fail(DTypeError, "dtype", f"{shown(given)} is not a dtype", hint=hint)
    return found


@cache
def promoted(left: ir.DType, right: ir.DType) -> ir.DType | None:
    """The least dtype that holds both kinds of value; None for uint64 with a signed integer."""
    if left is right or right is ir.boolean:
        return left
    if left is ir.boolean:
        return right
    order = (ir.INTEGERS, ir.FLOATS, ir.COMPLEXES)
    ranks = [next(at for at, kinds in enumerate(order) if each in kinds) for each in (left, right)]
    if ranks[0] > ranks[1]:
        left, right = right, left
    if 2 in ranks:
        return ir.c128 if ir.f64 in (left.real, right.real) else ir.c64
    if ranks[0] != ranks[1]:
        return right
    return _wider_float(left, right) if ranks[0] == 1 else _wider_integer(left, right)


def _wider_float(left: ir.DType, right: ir.DType) -> ir.DType:
    """The one with more bits; two different ones of equal width meet in the next width up."""
    if left.bits == right.bits:
        return ir.f16 if left.bits == 8 else ir.f32
    return max(left, right, key=lambda each: each.bits)


def _wider_integer(left: ir.DType, right: ir.DType) -> ir.DType | None:
    """A signed dtype that holds both, or the wider of two of one kind."""
    if left.kind is right.kind:
        return max(left, right, key=lambda each: each.bits)
    signed, unsigned = (left, right) if left.kind is ir.Kind.SIGNED else (right, left)
    if signed.bits > unsigned.bits:
        return signed
    return {8: ir.i16, 16: ir.i32, 32: ir.i64}.get(unsigned.bits)
