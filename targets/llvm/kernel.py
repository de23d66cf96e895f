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

from ...ir.dims import Size, Symbol
from ...ir.dtypes import DType
from ...ir.payloads import Array
from ..script import ALIGNMENT, Launch
from ..sizes import Numbers
from .heads import NOWHERE, Asked, Head
from .layouts import Layout
from .load import FFI


class Kernel(NamedTuple):
    """One kernel: its code, how much work a byte of its arrays is, how many chunks each thread has
    of a launch at most, what scratch memory it wants, which sizes that asks for, and where the code
    begins."""

    code: Any
    effort: int
    chunks: int
    scratch: tuple[tuple[Size, DType], ...] = ()
    asked: tuple[Asked, ...] = ()
    address: int = 0

    @classmethod
    def of(cls, head: Head, code: Any) -> "Kernel":
        """The kernel of which this is known, by the address of its code."""
        _, effort, chunks, scratch, asked = head
        return cls(code, effort, chunks, scratch, asked, int(FFI.cast("uintptr_t", code)))

    def room(
        self, handed: Sequence[Layout], given: Mapping[Symbol, int]
    ) -> tuple[tuple[int, ...], int]:
        """Where in its scratch memory each part begins, and how much it is."""
        sizes = Numbers({each.symbol: _size(each, handed, given) for each in self.asked})
        offsets, room = list[int](), 0
        for count, dtype in self.scratch:
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
        scratch, room = self.room(handed, given) if self.scratch else ((), 0)
        return Launch(self.address, *slots, grid, 0, 1, scratch, room), size


def _size(asked: Asked, handed: Sequence[Layout], given: Mapping[Symbol, int]) -> int:
    symbol, argument, axis = asked
    if argument == NOWHERE:
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
