"""Memory laid out to catch a kernel that reads or writes beyond its views.

Comes in: an array, and the strides it should have. Goes out: a window on a copy, all around and
between whose elements lies poison: NaN, or numbers of which every bit is 1. Or a shape, of memory
that is all poison.
Never: what a kernel should see; whoever finds poison in a result, or none where it was, has found
an access out of bounds.
"""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from ..payloads import Array
from .window import Window, row_major, span

MARGIN = 64
"""Elements of poison before the first and after the last address."""


def poisoned(array: Array, strides: Sequence[int]) -> Window:
    """A window on a copy of `array`, with these strides, counted in elements.

    The elements along a stride of 0 are one and must be equal."""
    low, high = span(0, array.shape, strides) if array.size else (0, 0)
    memory = np.frombuffer(b"\xff" * (array.itemsize * (high - low + 1 + 2 * MARGIN)), np.uint8)
    poison = memory.copy().view(array.dtype)
    if array.dtype == np.bool_:
        poison.fill(True)  # other bits than 0 and 1 are no boolean
    window = Window(poison, MARGIN - low, array.shape, tuple(strides))
    window.write(np.ix_(*[np.arange(size) for size in array.shape]), array)
    return window


def unwritten(shape: Sequence[int], storage: np.dtype[Any]) -> Window:
    """Row-major memory of this shape that holds nothing but poison."""
    memory = np.full(prod(shape) * storage.itemsize, 0xFF, np.uint8).view(storage)
    if storage == np.bool_:
        memory.fill(True)
    return row_major(memory, shape)


def is_intact(window: Window) -> bool:
    """Whether all that the window does not show is still poison."""
    clean = poisoned(window.array(), window.strides)
    return clean.memory.tobytes() == window.memory.tobytes()
