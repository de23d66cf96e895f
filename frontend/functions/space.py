"""Axes of space: what is said of each of them to convolutions and to moving windows.

Comes in: numbers as users give them, one for all axes or one for each. Goes out: one for each axis,
and what is put before and behind it.
Never: a window that finds no place, where sizes are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ir.dims import Size, floor_div
from ..errors import ArgumentError, DTypeError, ShapeError, fail
from ..unseen import looked_at
from .common import as_integer

Numbers = tuple[int, ...]
Sizes = tuple[Size, ...]
Borders = tuple[Sizes, Sizes]

LIMIT = 2**31
"""What is said of an axis is less than this, so that the product of two such numbers fits i64."""


def each_axis(name: str, what: str, value: Any, count: int, least: int = 1) -> Numbers:
    """One number for each of `count` axes, of one for all of them or a list; `what` names it."""
    numbers = [as_integer(each, name, f"`{what}`") for each in _listed(name, what, value, count)]
    if min(numbers, default=least) < least:
        fail(ArgumentError, name, f"`{what}` is at least {least}, but {_shown(value)} was given")
    _check_limit(name, what, numbers, value)
    return tuple(numbers)


def pairs(name: str, padding: Any, count: int) -> tuple[Numbers, Numbers]:
    """Padding before and behind each of `count` axes, of a number or one or two for each axis."""
    if isinstance(padding, str):
        hint = "give one number, or a number or a pair (before, behind) for each axis"
        fail(DTypeError, name, f"takes numbers, but `padding` is {padding!r}", hint=hint)
    found = [_pair(name, each) for each in _listed(name, "padding", padding, count)]
    return tuple([low for low, _ in found]), tuple([high for _, high in found])


def around(name: str, padding: Any, spans: Sizes, strides: Numbers) -> Borders:
    """The same along axes where windows of `spans` move, or what a name of padding means there."""
    if not isinstance(padding, str):
        return pairs(name, padding, len(spans))
    if padding not in ("same", "valid"):
        hint = '"same" and "valid" have names; else say a number, or one or a pair for each axis'
        fail(ArgumentError, name, f"`padding` is {padding!r}", hint=hint)
    if padding == "valid":
        return (0,) * len(spans), (0,) * len(spans)
    if any([stride > 1 for stride in strides]):
        problem = f"there is no padding for the same size with `stride` {_shown(strides)}"
        fail(ArgumentError, name, problem, hint="say how much padding each axis gets")
    low = [floor_div(span - 1, 2) for span in spans]
    return tuple(low), tuple([span - 1 - before for span, before in zip(spans, low, strict=True)])


def refuse_no_place(
    name: str, window: str, sizes: Sizes, spans: Sizes, padded: Borders, *given: Any
) -> None:
    """Refuse a window, called as users know it, that is larger than a padded axis."""
    known = looked_at((tuple(sizes), tuple(spans), *padded))
    for axis, (size, span, low, high) in enumerate(zip(*known, strict=True), 2):
        room = low + size + high
        if isinstance(room, int) and isinstance(span, int) and span > room:
            places = f"{span} place{'' if span == 1 else 's'}"
            problem = f"the {window} spans {places} along axis {axis}, where x has {size}"
            added = f", and {low} + {high} of padding" if low + high else ""
            hint = f"give a larger `padding`, or a {window} that spans less" if span > 1 else ""
            fail(ShapeError, name, problem + added, *given, hint=hint)


def axes_of_space(count: int) -> str:
    """`1 axis of space`, `2 axes of space`."""
    return f"{count} {'axis' if count == 1 else 'axes'} of space"


def _listed(name: str, what: str, value: Any, count: int) -> list[Any]:
    """The value for each axis, of one for all or of as many as there are."""
    value = _plain(value)
    if isinstance(value, str) or not isinstance(value, Sequence):
        return [value] * count
    if len(value) != count:
        problem = f"`{what}` is {_shown(value)}, but x has {axes_of_space(count)}"
        fail(ArgumentError, name, problem, hint="give one number, or one for each axis")
    return [*value]


def _pair(name: str, value: Any) -> tuple[int, int]:
    """What is put before and behind an axis."""
    value = _plain(value)
    ends = (value, value) if isinstance(value, str) or not isinstance(value, Sequence) else value
    if len(ends) != 2:
        hint = "an axis gets one number, or a pair (before, behind)"
        fail(ArgumentError, name, f"`padding` has {_shown(value)} for an axis", hint=hint)
    low, high = [as_integer(each, name, "`padding`") for each in ends]
    if min(low, high) < 0:
        hint = "to leave out the ends of x, slice it: `x[..., 1:-1]`"
        fail(ArgumentError, name, f"`padding` is at least 0, not {min(low, high)}", hint=hint)
    _check_limit(name, "padding", (low, high), value)
    return low, high


def _check_limit(name: str, what: str, numbers: Sequence[int], value: Any) -> None:
    """Refuse numbers, of the value that was given, with which 64 bits may not count."""
    if max(numbers, default=0) >= LIMIT:
        fail(ArgumentError, name, f"`{what}` is less than {LIMIT}, but {_shown(value)} was given")


def _plain(value: Any) -> Any:
    """The numbers of an array of numpy, or else the value itself."""
    return value.tolist() if isinstance(value, np.ndarray) else value


def _shown(value: Any) -> str:
    return str(list(value)) if isinstance(value, tuple) else str(value)
