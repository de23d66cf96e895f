"""The memory of a running step: what is allocated, what is freed, and which arrays overlap.

Comes in: requests of ops while a program runs in the interpreter. Goes out: numpy arrays, filled
with poison so that what is read before it is written shows, and errors for what is used after it
was freed.
Never: a reuse of memory: what is freed is kept, poisoned again, for as long as the frame lives.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..dtypes import DType, Kind
from ..errors import require
from ..locations import Location
from ..payloads import Array

ALLOCATIONS = "allocations"
"""Under which name a frame keeps them."""

POISON_BYTE = 0x7A


class Allocations:
    """What one call has allocated, known by the array that owns the memory."""

    def __init__(self) -> None:
        self._owners: dict[int, Array] = {}
        self._freed: dict[int, Location] = {}

    def allocate(self, shape: tuple[int, ...], dtype: DType) -> Array:
        """Fresh memory, poisoned."""
        array = np.full(shape, poison(dtype))
        self._owners[id(array)] = array
        return array

    def free(self, array: Array, dtype: DType, location: Location) -> None:
        """Let nobody use the memory from now on; it was freed at `location`."""
        array[...] = poison(dtype)
        self._freed[id(array)] = location

    def check_alive(self, array: Array) -> None:
        """Refuse memory, or a view of it, that has been freed."""
        freed = self._freed.get(id(_owner(array)))
        require(freed is None, f"uses memory that was freed{f' at {freed}' if freed else ''}")


def allocations_of(frame: Any) -> Allocations:
    """Those of the call that the frame runs."""
    return frame.extra.setdefault(ALLOCATIONS, Allocations())


def poison(dtype: DType) -> Array:
    """What a wrong program is most likely to stumble over: NaN, or a large number."""
    if dtype.kind is Kind.BOOL:
        return np.asarray(True)
    if dtype.kind is Kind.COMPLEX:
        return np.asarray(complex(np.nan, np.nan), dtype.storage)
    if dtype.kind is Kind.FLOAT:
        return np.asarray(np.nan, dtype.storage)
    return np.full(dtype.itemsize, POISON_BYTE, np.uint8).view(dtype.storage).reshape(())


def check_writes(reads: Sequence[Array], writes: Sequence[Array]) -> None:
    """Refuse writes that overlap each other, or a part of what is read: whole, it is in place."""
    for place, write in enumerate(writes):
        for other, later in enumerate(writes[place + 1 :], place + 1):
            require(not overlaps(write, later), f"writes {place} and {other} overlap")
        for other, read in enumerate(reads):
            apart = not overlaps(write, read)
            require(
                apart or _is_same(write, read), f"write {place} overlaps a part of read {other}"
            )


def overlaps(left: Array, right: Array) -> bool:
    """Whether two arrays share an element; those of a step are contiguous."""
    return left.size > 0 and right.size > 0 and np.may_share_memory(left, right)


def _is_same(left: Array, right: Array) -> bool:
    return left.ctypes.data == right.ctypes.data and left.nbytes == right.nbytes


def _owner(array: Array) -> Array:
    """The array that holds the memory which `array` shows."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array
