"""What settings of modules and losses are checked for.

Comes in: a setting. Goes out: the setting, or an error that says which ones there are.
Never: a look at the value of a tensor.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

from ..frontend.errors import ArgumentError, DTypeError, fail, shown
from ..frontend.functions.common import as_integer
from ..frontend.tensor import Tensor


def at_least(operation: str, name: str, value: float, least: float) -> float:
    """The number, which is not below the least."""
    if not a_number(operation, name, value) >= least:
        fail(ArgumentError, operation, f"{name} is {least} or more, not {shown(value)}")
    return value


def above(operation: str, name: str, value: float, bound: float) -> float:
    """The number, which is above the bound."""
    if not a_number(operation, name, value) > bound:
        fail(ArgumentError, operation, f"{name} is more than {bound}, not {shown(value)}")
    return value


def within(operation: str, name: str, value: float, low: float, high: float) -> float:
    """The number, which is neither below the one bound nor above the other."""
    if not low <= a_number(operation, name, value) <= high:
        fail(ArgumentError, operation, f"{name} is within {low}..{high}, not {shown(value)}")
    return value


def a_number(operation: str, name: str, value: Any) -> Any:
    """The value, which is compared with numbers."""
    if not isinstance(value, Real | Tensor):
        fail(DTypeError, operation, f"{name} is a number, not {type(value).__name__}", value)
    return value


def check_flags(operation: str, **flags: Any) -> None:
    """Refuse a tensor where True or False belongs: it is a key, mostly."""
    for name, flag in flags.items():
        if isinstance(flag, Tensor):
            problem = f"{name} is True or False, and a tensor was given"
            fail(ArgumentError, operation, problem, flag, hint="give a key by name: `key=...`")


def check_counts(operation: str, least: int = 0, /, **counts: Any) -> None:
    """Refuse what is no integer, or below the least, before a parameter of that size is made."""
    for name, count in counts.items():
        if as_integer(count, operation, f"`{name}`") < least:
            fail(ArgumentError, operation, f"`{name}` is at least {least}, but {count} was given")
