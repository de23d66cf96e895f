"""Machine code of one kernel, and how it is launched.

Comes in: what is known of a kernel, and the address of its code. Goes out: a `Kernel`, which says
of each launch how much memory and work it is.
Never: a size in the code; sizes and strides are handed over in slots of eight bytes each, in the
order in which `passes/bind_cpu` lists a kernel's arguments.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ...ir.dims import Symbol
from ...ir.payloads import Array
from ..script import ALIGNMENT, Launch
from ..sizes import Numbers
from .heads import NO_ARGUMENT, Asked, Head
from .layouts import Layout
from .load import FFI


class Kernel(NamedTuple):
    """One kernel: what is known of it, its code, and where that begins."""

    head: Head
    code: Any
    address: int

    @classmethod
    def of(cls, head: Head, code: Any) -> "Kernel":
        """The kernel of which this is known, by its code."""
        return cls(head, code, int(FFI.cast("uintptr_t", code)))

    def room(
        self, handed: Sequence[Layout], given: Mapping[Symbol, int]
    ) -> tuple[tuple[int, ...], int]:
        """Where in its scratch memory each part begins, and how much it is."""
        sizes = Numbers({each.symbol: _size(each, handed, given) for each in self.head.asked})
        offsets, room = list[int](), 0
        for count, dtype in self.head.scratch:
            offsets.append(room)
            room += -(-sizes[count] * dtype.itemsize // ALIGNMENT) * ALIGNMENT
        return tuple(offsets), room

    def launch(
        self,
        slots: tuple[int, int],
        handed: Sequence[Layout],
        grid: tuple[int, int, int],
        given: Mapping[Symbol, int],
    ) -> tuple[Launch, int]:
        """A launch in one chunk that is handed these arrays and numbers in slots, from the first
        one on and so many; and how many bytes the arrays have."""
        size = sum([each.bytes for each in handed])
        scratch, room = self.room(handed, given) if self.head.scratch else ((), 0)
        return Launch(self.address, *slots, grid, 0, 1, scratch, room), size


def _size(asked: Asked, handed: Sequence[Layout], given: Mapping[Symbol, int]) -> int:
    symbol, argument, axis = asked
    if argument == NO_ARGUMENT:
        return given[symbol]
    return handed[argument].shape[axis]


@cache
def is_buffer(storage: Any) -> bool:
    """Whether arrays of a dtype show their memory as a buffer; numpy's own do, and it is quick."""
    empty: Any = np.empty(0, storage)
    try:
        memoryview(empty)
    except ValueError:
        return False
    return True


def bits_of(number: Array) -> int:
    """A number of the host as the low bytes of a slot."""
    return int.from_bytes(np.asarray(number).tobytes().ljust(8, b"\0"), "little")
