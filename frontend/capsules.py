"""Arrays of bfloat16 as DLPack has them, for numpy, whose DLPack knows none.

Comes in: another library's array, or a capsule of numpy's over words of 16 bits. Goes out: a numpy
array over the same memory, or the capsule, whose elements are called bfloat16 now.
Never: a change of memory other than of the dtype that a new capsule names.
"""

from __future__ import annotations

from ctypes import PYFUNCTYPE, c_char_p, c_int, c_uint8, c_void_p, py_object, pythonapi
from typing import Any

import numpy as np

from ..ir.dtypes import bf16

UNSIGNED, BFLOAT = 1, 4
"""DLPack's codes for kinds of elements."""
BITS = 16
PLACES = {b"dltensor": 20, b"dltensor_versioned": 52}
"""Where the dtype is in what a capsule of that name points to: a code of a byte, then the bits."""

_is_valid = PYFUNCTYPE(c_int, py_object, c_char_p)(("PyCapsule_IsValid", pythonapi))
_pointer = PYFUNCTYPE(c_void_p, py_object, c_char_p)(("PyCapsule_GetPointer", pythonapi))


def imported(exporter: Any) -> np.ndarray[Any, Any]:
    """A numpy array over the memory of another library's."""
    try:
        return np.from_dlpack(exporter)
    except (BufferError, RuntimeError) as problem:
        try:
            return np.from_dlpack(_AsWords(exporter)).view(bf16.storage)
        except BufferError:
            raise problem from None


class _AsWords:
    """Exports an array of bfloat16 as words; one of any other dtype is refused."""

    def __init__(self, exporter: Any) -> None:
        self._exporter = exporter

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._exporter.__dlpack_device__()

    def __dlpack__(self, **how: Any) -> Any:
        return renamed(self._exporter.__dlpack__(**how), BFLOAT, UNSIGNED)


def renamed(capsule: Any, before: int, after: int) -> Any:
    """A new capsule over elements of 16 bits of one kind, now of another."""
    for name, place in PLACES.items():
        if _is_valid(capsule, name):
            address = _pointer(capsule, name)
            assert address is not None
            code, bits = [c_uint8.from_address(address + place + each) for each in (0, 1)]
            if (code.value, bits.value) == (before, BITS):
                code.value = after
                return capsule
    raise BufferError("the elements are of another dtype")
