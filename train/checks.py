"""Settings of optimisers, schedules and metrics, checked when they are given.

Comes in: the name of what is set, and numbers by their names. Goes out: an error that names both.
Never: a tensor's value; settings are numbers of the host.
"""

from math import isfinite
from numbers import Integral, Real
from typing import Any

from ..frontend.errors import ArgumentError, fail


def expect_at_least(owner: Any, low: float, **settings: Any) -> None:
    """Refuse what is no finite number, or below `low`."""
    for name, value in settings.items():
        if not _is_number(value) or value < low:
            fail(ArgumentError, _name(owner), f"{name} is a number of at least {low:g}", value)


def expect_positive(owner: Any, **settings: Any) -> None:
    """Refuse what is no finite number above 0."""
    for name, value in settings.items():
        if not _is_number(value) or value <= 0:
            fail(ArgumentError, _name(owner), f"{name} is a number above 0", value)


def expect_decays(owner: Any, **settings: Any) -> None:
    """Refuse what is not at least 0 and below 1."""
    for name, value in settings.items():
        if not _is_number(value) or not 0 <= value < 1:
            fail(ArgumentError, _name(owner), f"{name} is at least 0 and below 1", value)


def expect_shares(owner: Any, **settings: Any) -> None:
    """Refuse what is not between 0 and 1."""
    for name, value in settings.items():
        if not _is_number(value) or not 0 <= value <= 1:
            fail(ArgumentError, _name(owner), f"{name} lies between 0 and 1", value)


def expect_betas(owner: Any, betas: Any, count: int = 2) -> None:
    """Refuse what is no tuple of so many decays."""
    if not isinstance(betas, tuple) or len(betas) != count:
        fail(ArgumentError, _name(owner), f"betas is a tuple of {count} numbers", betas)
    expect_decays(owner, **{f"betas[{place}]": each for place, each in enumerate(betas)})


def expect_whole(owner: Any, low: int, **settings: Any) -> None:
    """Refuse what is no whole number of at least `low`."""
    for name, value in settings.items():
        if not isinstance(value, Integral) or isinstance(value, bool) or value < low:
            problem = f"{name} is a whole number of at least {low}"
            fail(ArgumentError, _name(owner), problem, value)


def expect_among(owner: Any, choices: tuple[Any, ...], **settings: Any) -> None:
    """Refuse what is none of the choices."""
    for name, value in settings.items():
        if value not in choices:
            listed = ", ".join([repr(each) for each in choices])
            fail(ArgumentError, _name(owner), f"{name} is one of {listed}", value)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and isfinite(value)


def _name(owner: Any) -> str:
    return owner if isinstance(owner, str) else type(owner).__name__
