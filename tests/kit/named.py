"""Functions that programs of the tests call by name, as `tensor.custom` does."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


def reversed_rows(x: Array, settings: dict[str, Any]) -> Array:
    """x with the elements along all axes in reverse order, `times` times."""
    return np.flip(x) if settings["times"] % 2 else x.copy()


def swapped(left: Array, right: Array, settings: dict[str, Any]) -> tuple[Array, Array]:
    """Both arrays, in the other order."""
    return right.copy(), left.copy()
