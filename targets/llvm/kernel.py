"""Machine code of one kernel, and how it is launched.

Comes in: the kernel as a tile func, and the address of its code. Goes out: a `Kernel`, which says
of each launch how much memory and work it is.
Never: a size in the code; sizes and strides are handed over in slots of eight bytes each, in the
order in which `passes/bind_cpu` lists a kernel's arguments.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ...ir import tile
from ...ir.dims import Size, Symbol, symbols
from ...ir.dtypes import DType
from ...ir.func import Func
from ...ir.payloads import Array
from ...ir.types import View
from ..script import ALIGNMENT, Launch
from ..sizes import Numbers
from .layouts import Layout
from .load import FFI


class Asked(NamedTuple):
    """A size that scratch memory asks for, and the axis of an argument that is so long; neither
    where only the step knows it."""

    symbol: Symbol
    argument: int | None = None
    axis: int | None = None


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
    def of(cls, func: Func, code: Any, effort: int, chunks: int) -> "Kernel":
        """The kernel of a tile func, by the address of its code."""
        allocated = [op for op in func.walk() if isinstance(op, tile.Scratch)]
        scratch = tuple([(prod(op.shape), op.dtype) for op in allocated])
        wanted = dict.fromkeys([symbol for count, _ in scratch for symbol in symbols(count)])
        asked = tuple([_asked(func, symbol) for symbol in wanted])
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


def _asked(func: Func, symbol: Symbol) -> Asked:
    """Where a size is found."""
    for number, argument in enumerate(func.arguments):
        known = argument.type.facts.get("size", ()) if isinstance(argument.type, View) else ()
        if symbol in known:
            return Asked(symbol, number, known.index(symbol))
    return Asked(symbol)


def _size(asked: Asked, handed: Sequence[Layout], given: Mapping[Symbol, int]) -> int:
    symbol, argument, axis = asked
    if argument is None or axis is None:
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
