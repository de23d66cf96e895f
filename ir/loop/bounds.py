"""Reading and writing the lanes of a buffer, with every index checked.

Comes in: the op that asks, a buffer's array, indices. Goes out: numbers, or a changed buffer.
Never: a wrapped or clamped index, or a touch where the mask is off.
"""

from typing import Any

import numpy as np

from ..errors import ExecutionError
from ..payloads import Array
from ..values import Op


def checked(op: Op, buffer: Array, indices: Any) -> Array:
    """The indices as numpy takes them; the first that is outside the buffer is an error."""
    places = np.asarray(indices, np.int64)
    outside = (places < 0) | (places >= len(buffer))
    if outside.any():
        raise ExecutionError(
            f"{op.name}: index {places[outside][0]} is outside a buffer of length {len(buffer)}",
            op.location,
        )
    return places


def contiguous(index: Array, count: int) -> Array:
    """`index`, `index + 1`, … for `count` lanes."""
    return index.astype(np.int64) + np.arange(count)


def read_lanes(op: Op, buffer: Array, indices: Array, mask: Array, padding: Array) -> Array:
    """The numbers at `indices`; where the mask is off, those of `padding`."""
    result = padding.copy()
    result[mask] = buffer[checked(op, buffer, indices[mask])]
    return result


def write_lanes(op: Op, buffer: Array, indices: Array, values: Array, mask: Array) -> None:
    """Write where the mask is on, lane by lane: of two lanes with one index the later one wins."""
    places = checked(op, buffer, indices[mask])
    for place, value in zip(places, values[mask], strict=True):
        buffer[place] = value
