"""The values that constants carry: one number, or a whole array.

Comes in: Python numbers and numpy arrays. Goes out: `Number`s and `Dense` arrays, interned by
dtype and *bits*: -0.0 is not 0.0, and NaNs with different payloads are different.
Never: arithmetic; that is the interpreter's.
"""

import math
import struct
from typing import Any

import numpy as np

from .dtypes import DType, Kind, boolean, f16, f32, f64
from .errors import Unmet
from .shared.rounding import odd_float, rounded

PythonNumber = bool | int | float | complex
Array = np.ndarray[Any, np.dtype[Any]]

_pack_doubles = struct.Struct("<dd").pack


class Number:
    """One number of one dtype; two of the same dtype and bits are one object."""

    __slots__ = ("bits", "dtype", "text", "value")
    bits: bytes
    dtype: DType
    value: PythonNumber
    text: str

    def __new__(cls, value: PythonNumber, dtype: DType) -> "Number":
        exact: object = value
        if isinstance(value, float | complex):  # Python calls -0.0 and 0.0 equal
            exact = _pack_doubles(value.real, value.imag)
        key = (dtype, value.__class__, exact)
        found = _SPELLED.get(key)
        if found is None:
            found = _SPELLED.setdefault(key, cls.of_array(_rounded(value, dtype), dtype))
        return found

    @classmethod
    def of_array(cls, array: Array, dtype: DType) -> "Number":
        """The only element of `array`, which is stored as `dtype` is."""
        bits = array.tobytes()
        found = _NUMBERS.get((dtype, bits))
        if found is None:
            made = object.__new__(cls)
            made.bits, made.dtype = bits, dtype
            made.value = float(array) if dtype.kind is Kind.FLOAT else array.item()
            made.text = number_text(array, dtype)
            found = _NUMBERS.setdefault((dtype, bits), made)
        return found

    @property
    def shape(self) -> tuple[int, ...]:
        """A number has rank 0."""
        return ()

    @property
    def array(self) -> Array:
        """The number as a rank-0 array."""
        return np.frombuffer(self.bits, self.dtype.storage).reshape(())

    def __repr__(self) -> str:
        return f"Number({self.text}, {self.dtype})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Number.of_array, (self.array, self.dtype)


class Dense:
    """A read-only array; two of the same dtype, shape and bits are one object."""

    __slots__ = ("array", "dtype", "shape", "text")
    array: Array
    dtype: DType
    shape: tuple[int, ...]
    text: str

    def __new__(cls, array: Array, dtype: DType) -> "Dense":
        bits = np.ascontiguousarray(array, dtype.storage).tobytes()
        key = (dtype, array.shape, bits)
        found = _DENSE.get(key)
        if found is None:
            made = object.__new__(cls)
            made.dtype, made.shape = dtype, array.shape
            made.array = np.frombuffer(bits, dtype.storage).reshape(array.shape)
            made.text = _dense_text(made.array, dtype)
            found = _DENSE.setdefault(key, made)
        return found

    def __repr__(self) -> str:
        return f"Dense({list(self.shape)}, {self.dtype})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Dense, (self.array, self.dtype)


Payload = Number | Dense

_ACCEPTED: dict[Kind, Any] = {
    Kind.BOOL: bool, Kind.SIGNED: int, Kind.UNSIGNED: int, Kind.FLOAT: int | float,
    Kind.COMPLEX: int | float | complex,
}  # fmt: skip
_SPELLED: dict[tuple[DType, type, object], Number] = {}
_NUMBERS: dict[tuple[DType, bytes], Number] = {}
_DENSE: dict[tuple[DType, tuple[int, ...], bytes], Dense] = {}


def payload(array: Array, dtype: DType) -> Payload:
    """`array` as a constant's value: a `Number` at rank 0, else `Dense`."""
    stored = rounded(np.asarray(array), dtype)
    return Number.of_array(stored, dtype) if stored.ndim == 0 else Dense(stored, dtype)


def number_text(element: Array, dtype: DType) -> str:
    """The shortest text that reads back as the same bits."""
    if dtype is boolean:
        return "true" if bool(element) else "false"
    if dtype.kind in (Kind.SIGNED, Kind.UNSIGNED):
        return str(int(element))
    if dtype.kind is Kind.COMPLEX:
        real, imaginary = (number_text(part(element), dtype.real) for part in (np.real, np.imag))
        return f"({real}, {imaginary})"
    return _float_text(element, dtype)


def parse_number(text: str, dtype: DType) -> Array:
    """The rank-0 array that `text`, made by `number_text` or typed by a person, stands for."""
    if text.startswith("("):
        if dtype.kind is not Kind.COMPLEX:
            raise Unmet(f"{text} is not a value of {dtype}")
        real, imaginary = text[1:-1].split(",")
        parts = [parse_number(part.strip(), dtype.real) for part in (real, imaginary)]
        return np.stack(parts).view(dtype.storage).reshape(())
    if text.startswith("0x"):
        return _from_bits(int(text, 16), dtype)
    if text in ("true", "false"):
        return _rounded(text == "true", dtype)
    if not text.lstrip("-").isdigit() or text.startswith("-0"):
        return _rounded(float(text), dtype)
    return _rounded(int(text), dtype)


def _rounded(value: PythonNumber, dtype: DType) -> Array:
    """`value` as `dtype` holds it; a number that the dtype cannot mean is refused."""
    kind = dtype.kind
    if not isinstance(value, _ACCEPTED[kind]) or (
        isinstance(value, bool) and kind is not Kind.BOOL
    ):
        raise Unmet(f"{value!r} is not a value of {dtype}")
    try:
        with np.errstate(all="ignore"):
            if kind not in (Kind.FLOAT, Kind.COMPLEX):
                return np.array(value, dtype.storage)
            if isinstance(value, int) and dtype.real is not f64:
                value = odd_float(value)
            return rounded(
                np.array(complex(value) if kind is Kind.COMPLEX else float(value.real)), dtype
            )
    except OverflowError:
        raise Unmet(f"{value} does not fit {dtype}") from None


def _float_text(element: Array, dtype: DType) -> str:
    value = float(element)
    if math.isnan(value):
        quiet = np.asarray(np.nan, dtype.storage)
        same = element.tobytes() == quiet.tobytes()
        return "nan" if same else f"0x{int.from_bytes(element.tobytes(), 'little'):x}"
    if value in (float("inf"), float("-inf")):
        return "inf" if value > 0 else "-inf"
    short = str(element) if dtype in (f16, f32) else repr(value)
    return short if "." in short or "e" in short else f"{short}.0"


def _from_bits(bits: int, dtype: DType) -> Array:
    if bits >= 1 << dtype.bits:
        raise Unmet(f"0x{bits:x} has more bits than {dtype}")
    return np.frombuffer(bits.to_bytes(dtype.itemsize, "little"), dtype.storage).reshape(())


def _dense_text(array: Array, dtype: DType) -> str:
    """Nested lists of elements; arrays with an empty axis say their shape: `empty<[0, 3]>`."""
    if array.size == 0:
        return f"empty<{list(array.shape)}>"
    if array.ndim == 0:
        return number_text(array, dtype)
    return "[" + ", ".join(_dense_text(row, dtype) for row in array) + "]"
