"""Dtypes and numbers as Triton writes them.

Comes in: dtypes, payloads. Goes out: text.
Never: an operation. Bools are `int1` in registers, and bytes in memory.
"""

import numpy as np

from ...ir.dtypes import DType, Kind, bf16, boolean, f8e4m3, f8e5m2, f16, f32, f64, i64, u64
from ...ir.payloads import Payload

FLOATS = {
    f8e4m3: "float8e4nv",
    f8e5m2: "float8e5",
    f16: "float16",
    bf16: "bfloat16",
    f32: "float32",
    f64: "float64",
}
SHORT = {f16: "fp16", bf16: "bf16", f32: "fp32", f64: "fp64", f8e4m3: "fp8e4nv", f8e5m2: "fp8e5"}
WORDS = {Kind.SIGNED: "int", Kind.UNSIGNED: "uint", Kind.BOOL: "int"}


def dtype_text(dtype: DType) -> str:
    """`tl.float32`"""
    return f"tl.{FLOATS.get(dtype) or f'{WORDS[dtype.kind]}{dtype.bits}'}"


def short_text(dtype: DType) -> str:
    """The dtype of a scalar in a signature: `fp32`, `i64`, `u8`."""
    if dtype.kind is Kind.FLOAT:
        return SHORT[dtype]
    return f"{'u' if dtype.kind is Kind.UNSIGNED else 'i'}{dtype.bits}"


def memory_text(dtype: DType) -> str:
    """The dtype of memory in a signature; bools lie there as bytes."""
    return "u8" if dtype is boolean else short_text(dtype)


def is_narrow(dtype: DType) -> bool:
    """Whether numbers of this dtype are computed as f32 and rounded."""
    return dtype.kind is Kind.FLOAT and dtype.bits < 32


def number_text(payload: Payload) -> str:
    """A constant in Python; where its type or its sign would be lost, what makes it."""
    value, dtype = payload.array.item(), payload.dtype
    text = _float_text(value, payload) if isinstance(value, float) else str(value)
    if text == "-0.0" or (dtype in (f8e4m3, f8e5m2) and value != 0):
        # Triton 3.6 has no constants of 8 bits; before 3.9 it takes -0.0 for 0.0.
        bits = int(payload.array.view(f"u{dtype.itemsize}"))
        made = f"tl.full([], {bits:#x}, tl.uint{dtype.bits})"
        return f"{made}.to({dtype_text(dtype)}, bitcast=True)"
    if dtype is f64 or (dtype in (i64, u64) and not -(1 << 31) <= value < 1 << 31):
        return f"tl.full([], {text}, {dtype_text(dtype)})"
    return text


def _float_text(value: float, payload: Payload) -> str:
    if not np.isfinite(value):
        return f'float("{value}")'
    short = str(payload.array[()])
    exact = payload.dtype is f32 and np.float32(float(short)) == payload.array
    digits = repr(float(short)) if exact else repr(value)
    return digits
