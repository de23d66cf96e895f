"""What the copy engine of a GPU must know of memory, in the driver's own encoding.

Comes in: an address, sizes and strides, and what Triton chose for a descriptor. Goes out: the 128
bytes that a kernel takes by value.
Never: a layout that the engine does not know; the driver refuses it.
"""

from collections.abc import Sequence
from typing import Any

from .compile import Descriptor
from .driver import DriverError, check, driver, ffi

ELEMENTS = {8: 10, 9: 8, 10: 9}
"""Triton's numbers of dtypes that the driver counts otherwise."""
NO_INTERLEAVE, PROMOTE_128, FILL_ZEROS = 0, 2, 0
ENGINE_BYTES = 16
MAP_ALIGNMENT, ROOM = 64, 128 + 64
"""How a map lies in memory, and how much room it so needs."""


def room_for_map() -> Any:
    """Memory for one map."""
    return ffi.new("char[]", ROOM)


def encoded(
    room: Any,
    address: int,
    sizes: Sequence[int],
    strides: Sequence[int],
    itemsize: int,
    chosen: Descriptor,
) -> Any:
    """A tensor map inside of `room`, which must live as long; the engine counts axes from the last
    one on."""
    rank = len(sizes)
    if not all(sizes):
        raise DriverError(f"memory of sizes {list(sizes)} has no tensor map")
    steps = [strides[axis] * itemsize for axis in reversed(range(rank - 1))]
    if address % ENGINE_BYTES or any(step % ENGINE_BYTES for step in steps) or strides[-1] != 1:
        raise DriverError(f"memory at {address:#x} with strides {list(strides)} is not aligned")
    made = ffi.cast("CUtensorMap *", _round_up(int(ffi.cast("uintptr_t", room))))
    check(
        driver().cuTensorMapEncodeTiled(
            made,
            ELEMENTS.get(chosen.element, chosen.element),
            rank,
            ffi.cast("void *", address),
            ffi.new("uint64_t[]", [*reversed(sizes)]),
            ffi.new("uint64_t[]", steps or [0]),
            ffi.new("unsigned int[]", [*reversed(chosen.box)]),
            ffi.new("unsigned int[]", [1] * rank),
            NO_INTERLEAVE,
            chosen.swizzle,
            PROMOTE_128,
            FILL_ZEROS,
        )
    )
    return made


def _round_up(address: int) -> int:
    """The engine wants its map at a multiple of 64 bytes."""
    return -(-address // MAP_ALIGNMENT) * MAP_ALIGNMENT
