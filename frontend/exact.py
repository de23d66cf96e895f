"""Values as keys: those that Python takes for equal, and computes otherwise with, are told apart.

Comes in: values that functions read while they are traced. Goes out: keys of these.
Never: a look into objects of other classes than numbers, tuples, sets, and dataclasses of
numbers.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np


def exact(value: Any) -> Any:
    """A value as a key: 1, 1.0 and True are different, and so are 0.0 and -0.0; NaN is like NaN."""
    cls = value.__class__
    if isinstance(value, tuple):
        return cls, tuple([exact(each) for each in value])
    if isinstance(value, frozenset):
        return cls, frozenset([exact(each) for each in value])
    if is_dataclass(value) and not isinstance(value, type):
        own = [getattr(value, field.name) for field in fields(value) if field.compare]
        return cls, value, tuple([exact(each) for each in own if _is_number(each)])
    return cls, repr(value) if isinstance(value, float | complex | np.inexact) else value


def _is_number(value: Any) -> bool:
    return isinstance(value, bool | int | float | complex | np.number)


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
