"""Values as keys: those that Python takes for equal, and computes otherwise with, are told apart.

Comes in: values that functions read while they are traced. Goes out: keys of these.
Never: a look into objects of other classes than numbers, tuples, sets and dataclasses.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np


def exact(value: Any) -> Any:
    """A value as a key: 1, 1.0 and True are different, and so are 0.0 and -0.0; NaN is like NaN."""
    cls = value.__class__
    if isinstance(value, tuple):
        return cls, tuple([exact(each) for each in value])
    if isinstance(value, frozenset):
        return cls, frozenset([exact(each) for each in value])
    if _is_compared(value):
        return cls, value, _numbers_in(value)
    return cls, repr(value) if isinstance(value, float | complex | np.inexact) else value


def _numbers_in(value: Any) -> Any:
    """Keys of the numbers in a value; of what else is in it the value itself is one."""
    if isinstance(value, tuple):
        return tuple([_numbers_in(each) for each in value])
    if isinstance(value, frozenset):
        return frozenset([_numbers_in(each) for each in value])
    if _is_compared(value):
        compared = [field.name for field in fields(value) if field.compare]
        return tuple([_numbers_in(getattr(value, name, None)) for name in compared])
    return exact(value) if isinstance(value, bool | int | float | complex | np.number) else None


def _is_compared(value: Any) -> bool:
    """Whether a value is an instance of a dataclass that is equal to others of equal fields."""
    settings = getattr(value.__class__, "__dataclass_params__", None)
    return settings is not None and settings.eq


class Exact:
    """A value that is equal only to what is the same as a key."""

    __slots__ = ("_key", "value")

    def __init__(self, value: Any) -> None:
        self.value, self._key = value, exact(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Exact) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return repr(self.value)
