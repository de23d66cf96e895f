"""Machine code of one kernel, and its launch on arrays.

Comes in: the kernel as a tile func, the count of its scratch buffers' elements, and the address of
its code. Goes out: a `Launcher`, for one tuple of sizes, which is called with arrays.
Never: a size in the code; sizes and strides are handed over in slots of eight bytes each, in the
order in which `passes/bind_cpu` lists a kernel's arguments.
"""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ...ir.dims import Size, Symbol, evaluate
from ...ir.dtypes import DType
from ...ir.func import Func
from ...ir.payloads import Array
from ...ir.types import View
from .load import FFI
from .memory import Pool

Shape = tuple[int, ...]
GRID_AXES = 3


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

    __slots__ = ("_code", "_free", "_grid", "_pointers", "_pool", "_scalars", "_scratch", "_slots")

    def __init__(
        self,
        kernel: Kernel,
        shapes: Sequence[Shape | None],
        grid: Sequence[int],
        given: Mapping[Symbol, int],
        pool: Pool,
    ) -> None:
        slots, pointers, scalars = list[int](), list[tuple[int, int]](), list[tuple[int, int]]()
        for place, shape in enumerate(shapes):
            if shape is None:
                scalars.append((len(slots), place))
                slots.append(0)
            else:
                pointers.append((len(slots), place))
                slots += [0, *shape, *_strides(shape)]
        sizes = kernel.symbols(shapes, given)
        self._scratch: list[tuple[int, tuple[int], Any]] = []
        for count, dtype in kernel.scratch:
            elements = count if isinstance(count, int) else evaluate(count, sizes)
            self._scratch.append((len(slots), (elements,), dtype.storage))
            slots.append(0)
        self._slots, self._pointers, self._scalars = slots, pointers, scalars
        self._free: list[Any] = []
        counts = (*grid, *[1] * (GRID_AXES - len(grid)))
        self._grid = FFI.new("int64_t[]", counts) if all(counts) else None
        self._code, self._pool = kernel.code, pool

    def __call__(self, arrays: Sequence[Array]) -> None:
        """Run all programs of the grid."""
        if self._grid is None:
            return
        # Taken from the list and put back, so that no two threads have the same slots.
        slots = self._free.pop() if self._free else FFI.new("uint64_t[]", self._slots)
        for slot, place in self._pointers:
            slots[slot] = arrays[place].__array_interface__["data"][0]
        for slot, place in self._scalars:
            slots[slot] = _bits(arrays[place])
        kept: list[Array] = []
        for slot, shape, storage in self._scratch:
            memory = self._pool.empty(shape, storage)
            slots[slot] = memory.__array_interface__["data"][0]
            kept.append(memory)
        self._code(slots, self._grid, 0, self._grid[0])
        self._free.append(slots)


def _bits(number: Array) -> int:
    """A number of the host as the low bytes of a slot."""
    return int.from_bytes(np.asarray(number).tobytes().ljust(8, b"\0"), "little")


def _strides(shape: Shape) -> list[int]:
    """Row-major strides, in elements."""
    return [prod(shape[axis + 1 :]) for axis in range(len(shape))]
