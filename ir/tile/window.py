"""The run-time value of a view: memory, and which of its elements the view shows.

Comes in: numpy arrays of any strides, through `view_of`. Goes out: `Window`s, which read and write
by index and never touch an element that they do not show.
Never: a copy of the memory; what a kernel stores is seen in the array.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from ..errors import require
from ..payloads import Array

Places = Sequence[Array]
"""One array of indices an axis; together they broadcast to the shape that is read or written."""


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """The elements of `memory` at `offset + Σ index * stride` for each index below `sizes`.

    The memory is flat and contiguous. Offset and strides count elements; strides may be zero, odd
    or negative.
    """

    memory: Array
    offset: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]

    def __post_init__(self) -> None:
        is_flat = self.memory.ndim == 1 and self.memory.flags.c_contiguous
        require(is_flat, "the memory of a window is flat and contiguous")
        require(len(self.sizes) == len(self.strides), "a window has one stride an axis")
        require(all(size >= 0 for size in self.sizes), "a size is negative", list(self.sizes))
        if all(self.sizes):
            low, high = span(self.offset, self.sizes, self.strides)
            inside = low >= 0 and high < self.memory.size
            require(inside, f"elements {low}..{high} in a memory of {self.memory.size}")

    def read(self, places: Places, shape: tuple[int, ...], padding: Array) -> Array:
        """The elements at `places`; outside of the window, `padding`."""
        addresses, inside = self._locate(places, shape)
        found = np.full(shape, padding, self.memory.dtype)
        found[inside] = self.memory[addresses[inside]]
        return found

    def write(self, places: Places, values: Array) -> None:
        """Store what falls inside; where places repeat, the last in row-major order stays."""
        addresses, inside = self._locate(places, values.shape)
        self.memory[addresses[inside]] = values[inside]

    def combine(
        self, places: Places, values: Array, combine: Callable[[Array, Array], Array]
    ) -> None:
        """Combine what falls inside with what is stored, one element after the other."""
        addresses, inside = self._locate(places, values.shape)
        for address, value in zip(addresses[inside], values[inside].reshape(-1, 1), strict=True):
            place = slice(address, address + 1)
            self.memory[place] = combine(self.memory[place], value)

    def read_block(self, offsets: Sequence[Any], shape: tuple[int, ...], padding: Array) -> Array:
        """The block of `shape` that begins at `offsets`; outside of the window, `padding`."""
        shown, inside = self._overlap(offsets, shape)
        if shown.shape == shape:
            return shown.copy()
        found = np.full(shape, padding, self.memory.dtype)
        found[inside] = shown
        return found

    def write_block(self, offsets: Sequence[Any], values: Array) -> None:
        """Store what falls inside of a block that begins at `offsets`."""
        if not self._is_apart():
            self.write(block_places(offsets, values.shape), values)
            return
        shown, inside = self._overlap(offsets, values.shape)
        shown[...] = values[inside]

    def array(self) -> Array:
        """A copy of all elements, as an array of this shape."""
        whole, _ = self._overlap([0] * len(self.sizes), self.sizes)
        return whole.copy()

    def _overlap(
        self, offsets: Sequence[Any], shape: tuple[int, ...]
    ) -> tuple[Array, tuple[slice, ...]]:
        """What the window shows of a block that begins at `offsets`, and where in it that lies."""
        first, inside = self.offset, list[slice]()
        for at, count, size, stride in zip(offsets, shape, self.sizes, self.strides, strict=True):
            offset = int(at)
            begin = min(max(offset, 0), size)
            end = max(min(offset + count, size), begin)
            first += begin * stride
            inside.append(slice(begin - offset, end - offset))
        sizes = [each.stop - each.start for each in inside]
        item, storage = self.memory.itemsize, self.memory.dtype
        if not all(sizes):
            return np.empty(sizes, storage), tuple(inside)
        strides = [stride * item for stride in self.strides]
        return np.ndarray(sizes, storage, self.memory, first * item, strides), tuple(inside)

    def _is_apart(self) -> bool:
        """Whether each element has an address of its own."""
        reach = 0
        pairs = zip(self.strides, self.sizes, strict=True)
        for stride, size in sorted([(abs(stride), size) for stride, size in pairs if size > 1]):
            if stride <= reach:
                return False
            reach += stride * (size - 1)
        return True

    def _locate(self, places: Places, shape: tuple[int, ...]) -> tuple[Array, Array]:
        """The address of each place, and whether it lies inside."""
        addresses = np.full(shape, self.offset, np.int64)
        inside = np.ones(shape, np.bool_)
        for place, size, stride in zip(places, self.sizes, self.strides, strict=True):
            index = place.astype(np.int64)
            addresses += index * stride
            inside &= index.view(np.uint64) < size  # where a negative one is huge
        return addresses, inside


def view_of(array: Array) -> Window:
    """A window on the memory of an array, which it shares."""
    array = np.asarray(array)
    strides = tuple([stride // array.itemsize for stride in array.strides])
    whole = all(stride % array.itemsize == 0 for stride in array.strides)
    require(whole, "the strides of the array are no multiples of its element size")
    if array.size == 0:
        return Window(np.empty(0, array.dtype), 0, array.shape, strides)
    low, high = span(0, array.shape, strides)
    forward = [slice(None, None, -1 if stride < 0 else 1) for stride in strides]
    first = array[(*forward, ...)]  # the dots keep an array of rank 0 an array
    bits = np.asarray(first).view(f"V{array.itemsize}")  # numpy has no text for f8, and wants one
    memory = np.lib.stride_tricks.as_strided(
        bits, (high - low + 1,), (array.itemsize,), writeable=array.flags.writeable
    )
    return Window(memory.view(array.dtype), -low, array.shape, strides)


def row_major(memory: Array, shape: Sequence[int]) -> Window:
    """A window of this shape on flat memory, whose elements lie there in row-major order."""
    strides = tuple([prod(shape[axis + 1 :]) for axis in range(len(shape))])
    return Window(memory, 0, tuple(shape), strides)


def span(offset: int, sizes: Sequence[int], strides: Sequence[int]) -> tuple[int, int]:
    """The least and the greatest address of a window that is not empty."""
    reaches = [(size - 1) * stride for size, stride in zip(sizes, strides, strict=True)]
    return (
        offset + sum(min(reach, 0) for reach in reaches),
        offset + sum(max(reach, 0) for reach in reaches),
    )


def block_places(offsets: Sequence[Any], shape: tuple[int, ...]) -> Places:
    """The places of a block of `shape` that begins at `offsets`."""
    rank = len(shape)
    return [
        (np.arange(size) + int(offset)).reshape([-1 if at == axis else 1 for at in range(rank)])
        for axis, (offset, size) in enumerate(zip(offsets, shape, strict=True))
    ]
