"""The values that constants carry: one number, or a whole array.

Comes in: numbers, numpy arrays, texts. Goes out: `Payload`s, those of rank 0 `Number`s, interned by
dtype, shape and *bits*: -0.0 is not 0.0, nor a NaN one with other bits. Never: arithmetic.
"""

from dataclasses import dataclass
from math import isnan
from struct import Struct
from typing import Any

import numpy as np

from .dtypes import BITS, DType, Kind, f16, f32, f64
from .errors import Unmet
from .shared.cache import Cache
from .shared.interned import Interned
from .shared.properties import cached_property
from .shared.rounding import odd_float, rounded

PythonNumber = bool | int | float | complex
Array = np.ndarray[Any, np.dtype[Any]]

_ACCEPTED: dict[Kind, Any] = {Kind.BOOL: bool, Kind.FLOAT: int | float, Kind.COMPLEX: PythonNumber}
_INTERNED = Interned["Payload"](latest=0)
_SPELLED: Cache[Any, "Number"] = Cache(4096)
_pack = Struct("<dd").pack  # for Python calls -0.0 and 0.0 equal


class Payload:
    """A read-only array; two of the same dtype, shape and bits are one object."""

    array: Array
    dtype: DType
    shape: tuple[int, ...]

    @cached_property
    def text(self) -> str:
        """As the IR writes it."""
        return number_text(self.array, self.dtype)

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}({list(self.shape) or self.text}, {self.dtype})"

    def __reduce__(self) -> tuple[Any, ...]:
        return payload, (self.array, self.dtype)


class Number(Payload):
    """A payload of rank 0."""

    def __new__(cls, value: PythonNumber, dtype: DType) -> Any:
        exact = _pack(value.real, value.imag) if isinstance(value, (float, complex)) else value
        key = (dtype, value.__class__, exact)
        return _SPELLED.get(key) or _SPELLED.put(key, payload(_stored(value, dtype), dtype))

    @cached_property
    def value(self) -> PythonNumber:
        """The number in Python."""
        return self.array.item()


@dataclass(eq=False)
class Pending:
    """Numbers read from text, before their dtype is known from the op's result."""

    elements: list[str]
    shape: tuple[int, ...]

    def resolve(self, dtype: DType) -> Any:
        """The payload, stored as `dtype`."""
        bits = b"".join([parse_number(each, dtype).tobytes() for each in self.elements])
        return payload(np.frombuffer(bits, dtype.storage).reshape(self.shape), dtype)


def payload(array: Array, dtype: DType) -> Any:
    """`array`, rounded to `dtype`; a `Number` if its rank is 0."""
    stored = rounded(np.asarray(array), dtype)
    bits = stored.tobytes()
    if (found := _INTERNED.get((dtype, stored.shape, bits))) is None:
        made = object.__new__(Payload if stored.shape else Number)
        made.array = np.frombuffer(bits, dtype.storage).reshape(stored.shape)
        made.dtype, made.shape = dtype, stored.shape
        found = _INTERNED.keep((dtype, made.shape, bits), made)
    return found


def number_text(number: Array, dtype: DType) -> str:
    """The shortest text that reads back as the same bits; of an array, rows to any depth."""
    if number.size == 0:
        return f"empty<{list(number.shape)}>"
    if number.ndim:
        return f"[{', '.join([number_text(row, dtype) for row in number])}]"
    if dtype.kind is Kind.COMPLEX:
        real, imaginary = (number_text(part(number), dtype.real) for part in (np.real, np.imag))
        return f"({real}, {imaginary})"
    if dtype.kind is not Kind.FLOAT:
        return str(number.item()).lower()
    bits = number.tobytes()
    if isnan(number) and bits != np.asarray(np.nan, dtype.storage).tobytes():
        return f"0x{int.from_bytes(bits, 'little'):x}"
    # numpy knows the shortest digits; where they have an exponent, its versions disagree.
    return repr(float(str(number) if dtype in (f16, f32) else number))


def parse_number(text: str, dtype: DType) -> Array:
    """The rank-0 array that `text`, made by `number_text` or typed by a person, stands for."""
    if text.startswith("("):
        if dtype.kind is not Kind.COMPLEX:
            raise Unmet(f"{text} is not a value of {dtype}")
        parts = [parse_number(part.strip(), dtype.real) for part in text[1:-1].split(",")]
        return np.stack(parts).view(dtype.storage).reshape(())
    if text.startswith("0x"):
        bits = int(text, 16)
        if bits >= 1 << dtype.bits:
            raise Unmet(f"0x{bits:x} has more bits than {dtype}")
        return np.frombuffer(bits.to_bytes(dtype.itemsize, "little"), dtype.storage).reshape(())
    if text in ("true", "false"):
        return _stored(text == "true", dtype)
    whole = text.lstrip("-").isdigit() and not text.startswith("-0")
    return _stored(int(text) if whole else float(text), dtype)


def _stored(value: PythonNumber, dtype: DType) -> Array:
    """`value` as `dtype` holds it; a number that the dtype cannot mean is refused."""
    kind = dtype.kind
    stray = isinstance(value, bool) and kind is not Kind.BOOL  # to Python, True is an integer
    if stray or not isinstance(value, _ACCEPTED.get(kind, int)):
        raise Unmet(f"{value!r} is not a value of {dtype}")
    try:
        if dtype in BITS:
            return np.array(value, dtype.storage)
        if isinstance(value, int) and dtype.real is not f64:
            value = odd_float(value)
        with np.errstate(all="ignore"):
            return rounded(np.array(value, complex if kind is Kind.COMPLEX else float), dtype)
    except OverflowError:
        raise Unmet(f"{value} does not fit {dtype}") from None
