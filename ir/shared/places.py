"""Indices that must name places of a tensor.

Comes in: indices, and the sizes of the axes along which they name places. Goes out: nothing, or the
error that says which index is outside of what.
Never: an index that counts from the end.
"""

from collections.abc import Sequence

import numpy as np

from ..errors import Unmet
from ..payloads import Array


def require_inside(indices: Array, axes: Sequence[int], sizes: Sequence[int]) -> None:
    """Refuse the first index that names no place; the last axis has an index for each of `axes`."""
    places = as_i64(indices)
    found = np.argwhere((places < 0) | (places >= np.array(sizes, np.int64)))
    if not len(found):
        return
    first: list[int] = found[0].tolist()
    *place, column = first
    index: int = indices[(*place, column)].item()
    raise Unmet(outside(index, place, axes[column], sizes[column]))


def outside(index: int, place: Sequence[int], axis: int, size: int) -> str:
    """What is wrong with an index, which is the one at this place of all."""
    at = f" at {[*place]}" if place else ""
    return f"index {index}{at} is outside axis {axis} of size {size}"


def as_i64(indices: Array) -> Array:
    """Indices of one dtype; those too large for it stay larger than any size."""
    if indices.dtype == np.uint64:
        indices = np.minimum(indices, np.uint64(np.iinfo(np.int64).max))
    return indices.astype(np.int64, copy=False)
