"""Element types: one object each, compared with `is`.

Comes in: nothing. Goes out: the dtypes `f32`, `i64`, … and the sets of them that ops accept.
Never: promotion rules; which dtype two others meet in is the frontend's business.
"""

from enum import Enum
from typing import Any

import ml_dtypes
import numpy as np


class Kind(Enum):
    """What the bits of a dtype stand for."""

    BOOL = "bool"
    SIGNED = "signed"
    UNSIGNED = "unsigned"
    FLOAT = "float"
    COMPLEX = "complex"


class DType:
    """One element type; `storage` is the numpy dtype that holds it."""

    __slots__ = ("bits", "itemsize", "kind", "name", "storage")

    def __init__(self, name: str, kind: Kind, storage: Any) -> None:
        self.name = name
        self.kind = kind
        self.storage: np.dtype[Any] = np.dtype(storage)
        self.itemsize = self.storage.itemsize
        self.bits = 1 if kind is Kind.BOOL else 8 * self.itemsize

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> str:
        return self.name if self.name != "bool" else "boolean"

    @property
    def accumulator(self) -> "DType":
        """What sums of this dtype are kept in: f32 for the narrow floats, else the dtype itself."""
        return f32 if self.kind is Kind.FLOAT and self.bits < 32 else self

    @property
    def real(self) -> "DType":
        """The dtype of the real part."""
        return _REAL.get(self, self)


boolean = DType("bool", Kind.BOOL, np.bool_)
i8 = DType("i8", Kind.SIGNED, np.int8)
i16 = DType("i16", Kind.SIGNED, np.int16)
i32 = DType("i32", Kind.SIGNED, np.int32)
i64 = DType("i64", Kind.SIGNED, np.int64)
u8 = DType("u8", Kind.UNSIGNED, np.uint8)
u16 = DType("u16", Kind.UNSIGNED, np.uint16)
u32 = DType("u32", Kind.UNSIGNED, np.uint32)
u64 = DType("u64", Kind.UNSIGNED, np.uint64)
f8e4m3 = DType("f8e4m3", Kind.FLOAT, ml_dtypes.float8_e4m3fn)
f8e5m2 = DType("f8e5m2", Kind.FLOAT, ml_dtypes.float8_e5m2)
f16 = DType("f16", Kind.FLOAT, np.float16)
bf16 = DType("bf16", Kind.FLOAT, ml_dtypes.bfloat16)
f32 = DType("f32", Kind.FLOAT, np.float32)
f64 = DType("f64", Kind.FLOAT, np.float64)
c64 = DType("c64", Kind.COMPLEX, np.complex64)
c128 = DType("c128", Kind.COMPLEX, np.complex128)

_REAL = {c64: f32, c128: f64}

SIGNED = frozenset({i8, i16, i32, i64})
UNSIGNED = frozenset({u8, u16, u32, u64})
INTEGERS = SIGNED | UNSIGNED
FLOATS = frozenset({f8e4m3, f8e5m2, f16, bf16, f32, f64})
COMPLEXES = frozenset({c64, c128})
BITS = INTEGERS | {boolean}
REALS = INTEGERS | FLOATS
ORDERED = REALS | {boolean}
NUMBERS = REALS | COMPLEXES
INEXACT = FLOATS | COMPLEXES
ALL = NUMBERS | {boolean}

_BY_STORAGE = {dtype.storage: dtype for dtype in ALL}
BY_NAME = {dtype.name: dtype for dtype in sorted(ALL, key=lambda dtype: dtype.name)}


def of_numpy(storage: Any) -> DType:
    """The dtype that numpy dtype `storage` holds."""
    return _BY_STORAGE[np.dtype(storage)]
