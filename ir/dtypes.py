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

    BOOL, SIGNED, UNSIGNED, FLOAT, COMPLEX = "bool", "signed", "unsigned", "float", "complex"


class DType:
    """One element type; `storage` is the numpy dtype that holds it."""

    def __init__(self, name: str, kind: Kind, storage: Any) -> None:
        self.name, self.kind, self.storage = name, kind, np.dtype(storage)
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
        return {c64: f32, c128: f64}.get(self, self)


boolean = DType("bool", Kind.BOOL, np.bool_)
i8, i16, i32, i64 = (DType(f"i{8 * size}", Kind.SIGNED, f"i{size}") for size in (1, 2, 4, 8))
u8, u16, u32, u64 = (DType(f"u{8 * size}", Kind.UNSIGNED, f"u{size}") for size in (1, 2, 4, 8))
f8e4m3 = DType("f8e4m3", Kind.FLOAT, ml_dtypes.float8_e4m3fn)
f8e5m2 = DType("f8e5m2", Kind.FLOAT, ml_dtypes.float8_e5m2)
bf16 = DType("bf16", Kind.FLOAT, ml_dtypes.bfloat16)
f16, f32, f64 = (DType(f"f{8 * size}", Kind.FLOAT, f"f{size}") for size in (2, 4, 8))
c64, c128 = (DType(f"c{8 * size}", Kind.COMPLEX, f"c{size}") for size in (8, 16))

SIGNED, UNSIGNED = frozenset({i8, i16, i32, i64}), frozenset({u8, u16, u32, u64})
INTEGERS = SIGNED | UNSIGNED
FLOATS = frozenset({f8e4m3, f8e5m2, f16, bf16, f32, f64})
COMPLEXES = frozenset({c64, c128})
REALS = INTEGERS | FLOATS
BITS, ORDERED = INTEGERS | {boolean}, REALS | {boolean}
NUMBERS = REALS | COMPLEXES
INEXACT = FLOATS | COMPLEXES
ALL = NUMBERS | {boolean}
BY_NAME = {dtype.name: dtype for dtype in sorted(ALL, key=lambda dtype: dtype.name)}
_OF_NUMPY = {dtype.storage: dtype for dtype in ALL}


def of_numpy(storage: Any) -> DType:
    """The dtype that numpy dtype `storage` holds."""
    return _OF_NUMPY[np.dtype(storage)]
