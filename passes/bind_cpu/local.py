"""Tiles in the local memory of a program, where a lane is found by a number known at run time.

Comes in: a tile in registers. Goes out: a view of row-major memory with its numbers; and tiles
loaded from such memory.
Never: a check; whoever asks knows that the numbers are there.
"""

from collections.abc import Sequence
from math import prod

import numpy as np

from ...ir.dtypes import DType
from .access import Access
from .binding import Binding, Memory
from .emitter import Index
from .parts import load_part, store_part
from .registers import Registers, Shape, registers


def local_memory(binding: Binding, shape: Shape, dtype: DType) -> Memory:
    """Memory for a tile of this shape."""
    buffer = binding.emitter.allocate(prod(shape), dtype)
    strides = tuple([prod(shape[axis + 1 :]) for axis in range(len(shape))])
    return Memory(buffer, 0, shape, strides)


def spilled(binding: Binding, tile: Registers) -> Memory:
    """Memory with the numbers of a tile, which has some."""
    memory = local_memory(binding, tile.shape, tile.parts.flat[0].dtype)
    store_whole(binding, memory, tile)
    return memory


def store_whole(binding: Binding, memory: Memory, tile: Registers) -> None:
    """Put a tile into local memory, from its first number on."""
    access = Access(binding, memory, [0] * len(tile.shape), [], tile.shape)
    for place, part in zip(access.places, tile.values, strict=True):
        store_part(access, place, part)


def load_whole(
    binding: Binding, memory: Memory, offsets: Sequence[Index], shape: Shape
) -> Registers:
    """A block of local memory."""
    access = Access(binding, memory, offsets, [], shape)
    dtype = memory.buffer.dtype
    padding = np.zeros((), dtype.storage)
    parts = [load_part(access, place, padding, dtype) for place in access.places]
    return registers(shape, binding.lanes, parts)
