"""Types and constants of the loop floor as LLVM writes them.

Comes in: types, payloads. Goes out: text.
Never: an instruction. Bools are `i1` in registers and `i8` in memory. Narrow floats are integers of
as many bits: their arithmetic is not LLVM's.
"""

from functools import cache, lru_cache
from struct import unpack
from typing import Any

import numpy as np

from ...ir.dtypes import DType, Kind, boolean, f32, f64
from ...ir.payloads import Payload
from ...ir.types import Scalar, Type, Vec

NATIVE_FLOATS = {f32: "float", f64: "double"}
SUFFIXES = {f32: "f32", f64: "f64"}


@cache
def element(dtype: DType) -> str:
    """What a register holds for a number."""
    return NATIVE_FLOATS.get(dtype) or f"i{dtype.bits}"


@cache
def element_in_memory(dtype: DType) -> str:
    """What memory holds for a number."""
    return "i8" if dtype is boolean else element(dtype)


@lru_cache(4096)
def text(type_: Type) -> str:
    """The type of a register, or of a buffer."""
    if isinstance(type_, Vec):
        return f"<{type_.lanes} x {element(type_.dtype)}>"
    return element(type_.dtype) if isinstance(type_, Scalar) else "ptr"


@lru_cache(4096)
def in_memory(type_: Scalar | Vec) -> str:
    """The type of a register's contents in memory."""
    held = element_in_memory(type_.dtype)
    return f"<{type_.lanes} x {held}>" if isinstance(type_, Vec) else held


@lru_cache(4096)
def suffix(type_: Scalar | Vec, memory: bool = False) -> str:
    """What stands behind the name of an intrinsic function for a type: `v16f32`."""
    name = (element_in_memory if memory else element)(type_.dtype)
    name = SUFFIXES.get(type_.dtype, name)
    return f"v{type_.lanes}{name}" if isinstance(type_, Vec) else name


def vector_of(element_text: str, numbers: list[str]) -> str:
    """A constant vector: all the same, all zero, or listed."""
    if len(set(numbers)) > 1:
        return f"<{', '.join([f'{element_text} {number}' for number in numbers])}>"
    zero = numbers[0] in ("0", "0.0", "false")
    return "zeroinitializer" if zero else f"splat ({element_text} {numbers[0]})"


@lru_cache(4096)
def constant(payload: Payload) -> str:
    """The constant as an operand."""
    if payload.shape:
        return vector_of(element(payload.dtype), [number(each) for each in bits(payload)])
    return number(bits(payload)[0])


def bits(payload: Payload) -> list[Any]:
    """The numbers of a payload as what a register holds: narrow floats as integers."""
    array, dtype = payload.array.reshape(-1), payload.dtype
    if dtype.kind is Kind.FLOAT and dtype not in NATIVE_FLOATS:
        array = array.view(f"u{dtype.itemsize}")
    return list(array) if array.dtype.kind == "f" else array.tolist()


def number(value: Any) -> str:
    """A number as LLVM reads it; floats that need it as the bits of the double they equal."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if not np.isfinite(value):
        return f"0x{_double_bits(value):016X}"
    digits = repr(float(value))
    mantissa, exponent, power = digits.partition("e")
    return f"{mantissa}{'' if '.' in mantissa else '.0'}{exponent}{power}"


def _double_bits(value: Any) -> int:
    """The bits of the double that an infinity or NaN becomes, which keeps the payload."""
    if isinstance(value, np.float64):
        return unpack("<Q", value.tobytes())[0]
    (single,) = unpack("<I", value.tobytes())
    return (single >> 31 << 63) | 0x7FF << 52 | (single & 0x7FFFFF) << 29
