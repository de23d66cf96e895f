"""Arrays of other libraries, which are taken wherever those of numpy are.

Comes in: anything that a user gives. Goes out: whether it is an array, and numpy's view of one.
Never: a library imported: what has an array says so, by DLPack or numpy's protocol.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .capsules import imported
from .errors import ArgumentError, fail
from .handle import Handle

_NUMPYS = (np.ndarray, np.generic)
_KNOWN = (Handle, *_NUMPYS)


def is_array(value: Any) -> bool:
    """Whether something is an array of numpy, or of another library, which offers it by DLPack."""
    return isinstance(value, _NUMPYS) or is_foreign(value)


def is_foreign(value: Any) -> bool:
    """Whether something is an array of another library than numpy."""
    return hasattr(value.__class__, "__dlpack__") and not isinstance(value, _KNOWN)


def host_array_of(value: Any, name: str) -> np.ndarray[Any, Any]:
    """An array as numpy has it; complains of one that its library does not hand over."""
    if isinstance(value, _NUMPYS):
        return np.asarray(value)
    try:
        return _by_protocol(value)
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError) as problem:
        what = f"{type(value).__module__}.{type(value).__qualname__}"
        fail(ArgumentError, name, f"cannot read the memory of a {what}: {problem}")


def _by_protocol(obj: Any) -> np.ndarray[Any, Any]:
    """Another library's array by numpy's protocol, or by DLPack where that has not its dtype."""
    if not hasattr(obj, "__array__"):
        return imported(obj)
    try:
        return np.asarray(obj)
    except TypeError as problem:
        try:
            return imported(obj)
        except (AttributeError, BufferError, RuntimeError, TypeError, ValueError):
            raise problem from None
