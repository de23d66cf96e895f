"""Functions that programs of the tests call by name, and that do no wrong."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


def reversed_rows(x: Array, settings: dict[str, Any]) -> Array:
    """x with the elements along all axes in reverse order, `times` times."""
    return np.flip(x) if settings["times"] % 2 else x.copy()


def swapped(left: Array, right: Array, settings: dict[str, Any]) -> tuple[Array, Array]:
    """Both arrays, in the other order."""
    return right.copy(), left.copy()


def backwards(x: Array) -> Array:
    """x with the elements along all axes in reverse order, as a view of it."""
    return np.flip(x)


def exchanged(left: Array, right: Array) -> tuple[Array, Array]:
    """Both arrays themselves, in the other order."""
    return right, left
