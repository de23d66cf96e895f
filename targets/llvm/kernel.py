"""Machine code of one kernel, and how it is launched.

Comes in: the kernel as a tile func, the count of its scratch buffers' elements, and the address of
its code. Goes out: a `Kernel`, which says of each launch how much memory and work it is.
Never: a size in the code; sizes and strides are handed over in slots of eight bytes each, in the
order in which `passes/bind_cpu` lists a kernel's arguments.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ...ir.dims import Size, Symbol, evaluate
from ...ir.dtypes import DType
from ...ir.func import Func
from ...ir.payloads import Array
from ...ir.tile.ids import MAX_GRID_RANK
from ...ir.types import View
from ..script import ALIGNMENT, Launch
from .load import FFI
from .sharing import cut

Shape = tuple[int, ...]


class Kernel(NamedTuple):
    """One kernel: its tile func, what scratch memory it wants, its code, and how much work a byte
    of its arrays is."""

    func: Func
    scratch: tuple[tuple[Size, DType], ...]
    code: Any
    effort: int

    def symbols(self, shapes: Sequence[Shape | None], given: Mapping[Symbol, int]) -> Any:
        """What the kernel's own sizes are, from the shapes that its views are on."""
        sizes = {symbol: given[symbol] for symbol in self.func.symbols if symbol in given}
        for argument, shape in zip(self.func.arguments, shapes, strict=True):
            if shape is None or not isinstance(argument.type, View):
                continue
            for size, found in zip(argument.type.facts.get("size", ()), shape, strict=False):
                if isinstance(size, Symbol):
                    sizes[size] = found
        return sizes

    def room(self, sizes: Mapping[Symbol, int]) -> tuple[tuple[int, ...], int]:
        """Where in its scratch memory each part begins, and how much it is."""
        offsets, room = list[int](), 0
        for count, dtype in self.scratch:
            elements = count if isinstance(count, int) else evaluate(count, sizes)
            offsets.append(room)
            room += -(-elements * dtype.storage.itemsize // ALIGNMENT) * ALIGNMENT
        return tuple(offsets), room

    def launch(
        self,
        shapes: Sequence[Shape | None],
        grid: Sequence[int],
        given: Mapping[Symbol, int],
        threads: int,
    ) -> Launch:
        """A launch, but for its slots."""
        first, second, third = (*grid, *[1] * (MAX_GRID_RANK - len(grid)))
        counts = first, second, third
        axis, chunks = cut(self.size(shapes) * self.effort, counts, threads)
        scratch, room = self.room(self.symbols(shapes, given))
        return Launch(address_of(self.code), 0, 0, counts, axis, chunks, scratch, room)

    def size(self, shapes: Sequence[Shape | None]) -> int:
        """How many bytes the arrays of a launch have."""
        return sum(
            prod(shape) * argument.type.dtype.storage.itemsize
            for shape, argument in zip(shapes, self.func.arguments, strict=True)
            if shape is not None
        )


def address_of(pointer: Any) -> int:
    """Where something is."""
    return int(FFI.cast("uintptr_t", pointer))


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


def strides_of(shape: Shape) -> list[int]:
    """Row-major strides, in elements."""
    return [prod(shape[axis + 1 :]) for axis in range(len(shape))]
