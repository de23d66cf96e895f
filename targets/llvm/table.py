"""One launch of a kernel on many groups of arrays.

Comes in: a kernel that needs no scratch memory, and for each group the shapes and the grid. Goes
out: a `Table`, for these sizes, which is called with the arrays of all groups, each once.
Never: a scalar of the host, or an order that the groups depend on.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...ir.payloads import Array
from .kernel import FROM_BUFFER, GRID_AXES, Kernel, Shape, is_buffer, strides_of
from .load import FFI


class Handed(NamedTuple):
    """What one run of a kernel gets: the places in memory of arrays and scalars, the shapes of
    arrays, and the grid."""

    places: list[int]
    shapes: list[Shape | None]
    grid: list[int]


class Room(NamedTuple):
    """Memory of one launch: the addresses of the arrays, as numbers and as pointers, the slots of
    all groups, and where those of each begin."""

    addresses: Array
    pointers: Any
    slots: Array
    starts: list[Any]


class Table:
    """The slots of all groups side by side, most of which stay what they are: only `slots[where] =
    addresses[which]` is new in each launch.

        address of x │ shape │ strides │ address of y │ shape │ strides │ address of x │ …
        where[0]                         where[1]                         where[2]
        which[0] = 0                     which[1] = 1                     which[2] = 0

    An array that several groups read, such as a learning rate, is asked for its address once.
    """

    __slots__ = (
        "_addresses", "_buffers", "_code", "_free", "_grids", "_slots", "_starts", "_where",
        "_which", "places",
    )  # fmt: skip

    def __init__(self, kernel: Kernel, groups: Sequence[Handed]) -> None:
        slots, where, which = list[int](), list[int](), list[int]()
        known: dict[int, int] = {}
        dtypes: list[Any] = []
        self._starts: list[int] = []
        for group in groups:
            self._starts.append(len(slots))
            handed = zip(group.places, group.shapes, kernel.func.arguments, strict=True)
            for place, shape, argument in handed:
                assert shape is not None, "a scalar has no place in a table"
                if place not in known:
                    dtypes.append(argument.type.dtype.storage)
                where.append(len(slots))
                which.append(known.setdefault(place, len(known)))
                slots += [0, *shape, *strides_of(shape)]
        self._where, self._which = np.array(where, np.intp), np.array(which, np.intp)
        self._slots = np.array(slots, np.uint64)
        self.places = [*known]
        self._buffers = [number for number, dtype in enumerate(dtypes) if is_buffer(dtype)]
        self._addresses = [number for number, dtype in enumerate(dtypes) if not is_buffer(dtype)]
        self._grids: list[Any] = [
            FFI.new("int64_t[]", (*group.grid, *[1] * (GRID_AXES - len(group.grid))))
            for group in groups
        ]
        self._free: list[Room] = []
        self._code = kernel.code

    def __call__(self, arrays: Sequence[Array]) -> None:
        """Run all programs of all groups on the arrays at `places`."""
        # Taken from the list and put back, so that no two threads have the same slots.
        room = self._free.pop() if self._free else self._new_room()
        addresses, pointers, slots, starts = room
        for number in self._buffers:
            pointers[number] = FROM_BUFFER(arrays[number])
        for number in self._addresses:
            addresses[number] = arrays[number].__array_interface__["data"][0]
        slots[self._where] = addresses[self._which]
        for start, grid in zip(starts, self._grids, strict=True):
            if grid[1] and grid[2]:
                self._code(start, grid, 0, grid[0])
        self._free.append(room)

    def _new_room(self) -> Room:
        addresses, slots = np.zeros(len(self.places), np.uint64), self._slots.copy()
        pointers: Any = FFI.cast("void **", FROM_BUFFER(addresses))
        first: Any = FFI.cast("uint64_t *", FROM_BUFFER(slots))
        return Room(addresses, pointers, slots, [first + start for start in self._starts])
