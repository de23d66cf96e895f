"""Machine code of one kernel, and its launch on arrays.

Comes in: the kernel as a tile func, the count of its scratch buffers' elements, and the address of
its code. Goes out: a `Launcher`, for one tuple of sizes, which is called with arrays.
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
from ...ir.types import View
from .load import FFI
from .memory import ALIGNMENT, SCRATCH_KEPT, Pool, Scratch

Shape = tuple[int, ...]
GRID_AXES = 3
BYTES = np.dtype(np.uint8)
FROM_BUFFER: Any = FFI.from_buffer
SCRATCH = Scratch()


class Kernel(NamedTuple):
    """One kernel: its tile func, what scratch memory it wants, and its code."""

    func: Func
    scratch: tuple[tuple[Size, DType], ...]
    code: Any

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


class Launcher:
    """A kernel with the sizes of one launch; called with the arrays and scalars it works on.

    Slots are filled once with all that sizes decide, and used again by later calls.
    """

    __slots__ = (
        "_addresses", "_buffers", "_code", "_free", "_grid", "_pool", "_room", "_scalars",
        "_scratch", "_slots",
    )  # fmt: skip

    def __init__(
        self,
        kernel: Kernel,
        shapes: Sequence[Shape | None],
        grid: Sequence[int],
        given: Mapping[Symbol, int],
        pool: Pool,
    ) -> None:
        slots, scalars = list[int](), list[tuple[int, int]]()
        buffers, addresses = list[tuple[int, int]](), list[tuple[int, int]]()
        arguments = kernel.func.arguments
        for place, (shape, argument) in enumerate(zip(shapes, arguments, strict=True)):
            if shape is None:
                scalars.append((len(slots), place))
                slots.append(0)
            else:
                known = buffers if is_buffer(argument.type.dtype.storage) else addresses
                known.append((len(slots), place))
                slots += [0, *shape, *strides_of(shape)]
        sizes = kernel.symbols(shapes, given)
        self._scratch: list[tuple[int, int]] = []
        self._room = 0
        for count, dtype in kernel.scratch:
            elements = count if isinstance(count, int) else evaluate(count, sizes)
            self._scratch.append((len(slots), self._room))
            self._room += -(-elements * dtype.storage.itemsize // ALIGNMENT) * ALIGNMENT
            slots.append(0)
        self._slots, self._scalars = slots, scalars
        self._buffers, self._addresses = buffers, addresses
        self._free: list[Any] = []
        counts = (*grid, *[1] * (GRID_AXES - len(grid)))
        self._grid: Any = FFI.new("int64_t[]", counts) if all(counts) else None
        self._code, self._pool = kernel.code, pool

    def __call__(self, arrays: Sequence[Array]) -> None:
        """Run all programs of the grid."""
        if self._grid is None:
            return
        # Taken from the list and put back, so that no two threads have the same slots.
        both = self._free.pop() if self._free else self._new_slots()
        slots, pointers = both
        for slot, place in self._buffers:
            pointers[slot] = FROM_BUFFER(arrays[place])
        for slot, place in self._addresses:
            slots[slot] = arrays[place].__array_interface__["data"][0]
        for slot, place in self._scalars:
            slots[slot] = _bits(arrays[place])
        if self._room:
            self._run_with_scratch(slots)
        else:
            self._code(slots, self._grid, 0, self._grid[0])
        self._free.append(both)

    def _new_slots(self) -> tuple[Any, Any]:
        """The slots, and the same memory as pointers."""
        slots = FFI.new("uint64_t[]", self._slots)
        return slots, FFI.cast("void **", slots)

    def _run_with_scratch(self, slots: Any) -> None:
        """Run all programs with memory that is theirs alone."""
        kept = None
        if self._room <= SCRATCH_KEPT:
            start = SCRATCH.at_least(self._room)
        else:
            kept = self._pool.empty((self._room,), BYTES)
            start = kept.__array_interface__["data"][0]
        for slot, offset in self._scratch:
            slots[slot] = start + offset
        self._code(slots, self._grid, 0, self._grid[0])
        del kept  # not before


@cache
def is_buffer(storage: Any) -> bool:
    """Whether arrays of a dtype show their memory as a buffer; numpy's own do, and it is quick."""
    empty: Any = np.empty(0, storage)
    try:
        memoryview(empty)
    except ValueError:
        return False
    return True


def _bits(number: Array) -> int:
    """A number of the host as the low bytes of a slot."""
    return int.from_bytes(np.asarray(number).tobytes().ljust(8, b"\0"), "little")


def strides_of(shape: Shape) -> list[int]:
    """Row-major strides, in elements."""
    return [prod(shape[axis + 1 :]) for axis in range(len(shape))]
