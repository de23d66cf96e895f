"""What is known of a view before it is seen: the facts of its type, which kernels rely on.

Comes in: the facts of a view type, `view<2, f32, {size: [n, 128], unit_stride: 1}>`, and at run
time the window that is bound to it. Goes out: nothing, or what is wrong: a name that means nothing,
a value of another form, a fact that the window makes false.
Never: a fact that is merely hoped for; `tile` says in its docstring what each one means.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any

from ..attributes import Frozen
from ..dims import Dim, Size, Symbol, evaluate
from ..errors import require
from ..types import View
from .window import Window, span

Sizes = Mapping[Symbol, int]


@dataclass(frozen=True)
class Fact:
    """One name: the form its value has, and whether it holds for a window."""

    expected: str
    is_formed: Callable[[Any, View], bool]
    holds: Callable[[Any, Window, Sizes], bool]


@cache
def check_facts(type_: View) -> None:
    """Refuse a type whose facts mean nothing."""
    for name, value in type_.facts.items():
        known = ", ".join(FACTS)
        require(name in FACTS, f"no fact of a view is called {name}; there are {known}")
        formed = FACTS[name].is_formed(value, type_)
        require(formed, f"the fact {name} of {type_} is {FACTS[name].expected}")


def check_window(type_: View, window: Window, sizes: Sizes) -> None:
    """Refuse a window for which a fact of its type is false."""
    for name, value in type_.facts.items():
        holds = FACTS[name].holds(value, window, sizes)
        require(holds, f"the fact {name} of {type_} is false for {described(window)}")


def facts_of_part(type_: View, axes: tuple[int, ...], steps: tuple[int, ...]) -> Frozen:
    """What stays true of any part of a view, with only `axes` left, in this order, with `steps`."""
    facts = type_.facts
    kept: dict[str, Any] = {}
    if (facts.get("unit_stride"), 1) in list[Any](zip(axes, steps, strict=True)):
        kept["unit_stride"] = axes.index(facts["unit_stride"])
    if "stride_multiple" in facts:
        kept["stride_multiple"] = [facts["stride_multiple"][axis] for axis in axes]
    if "index_bits" in facts:
        kept["index_bits"] = facts["index_bits"]
    return Frozen(kept)


def described(window: Window) -> str:
    """The sizes, strides and offset of a window, for messages."""
    sizes, strides = list(window.sizes), list(window.strides)
    return f"sizes {sizes}, strides {strides}, offset {window.offset}"


def _is_sizes(value: Any, type_: View) -> bool:
    return _is_list(value, type_) and all(isinstance(each, Dim) or each >= 0 for each in value)


def _is_multiples(value: Any, type_: View) -> bool:
    return _is_list(value, type_) and all(_is_positive(each, type_) for each in value)


def _is_list(value: Any, type_: View) -> bool:
    listed = isinstance(value, tuple) and len(value) == type_.rank  # pyright: ignore[reportUnknownArgumentType]
    return listed and all(_is_size(each) for each in value)  # pyright: ignore[reportUnknownVariableType]


def _is_size(value: Any) -> bool:
    return isinstance(value, Dim) or value.__class__ is int


def _is_positive(value: Any, type_: View) -> bool:
    return value.__class__ is int and value >= 1


def _is_axis(value: Any, type_: View) -> bool:
    return value.__class__ is int and 0 <= value < type_.rank


def _is_width(value: Any, type_: View) -> bool:
    return value.__class__ is int and value in (16, 32)


def _is_count(value: Any, type_: View) -> bool:
    return value.__class__ is int and 1 <= value <= type_.rank


def _has_sizes(value: tuple[Size, ...], window: Window, sizes: Sizes) -> bool:
    return tuple([evaluate(size, sizes) for size in value]) == window.sizes


def _divides(multiples: tuple[int, ...], numbers: tuple[int, ...]) -> bool:
    return all(number % each == 0 for number, each in zip(numbers, multiples, strict=True))


def _is_dense(count: int, window: Window) -> bool:
    """Whether the last axes lie without gaps, so far as there are elements at all."""
    axes = range(len(window.sizes) - count, len(window.sizes))
    strides = [prod(window.sizes[axis + 1 :]) for axis in axes]
    return not all(window.sizes) or list(window.strides[-count:]) == strides


def _is_aligned(value: int, window: Window, sizes: Sizes) -> bool:
    """The memory itself is taken to begin at an address as round as anybody could wish."""
    return (window.offset * window.memory.itemsize) % value == 0


def _fits(value: int, window: Window, sizes: Sizes) -> bool:
    low, high = span(0, window.sizes, window.strides) if all(window.sizes) else (0, 0)
    return -(1 << (value - 1)) <= low and high < 1 << (value - 1)


FACTS: dict[str, Fact] = {
    "size": Fact("a list of sizes, one an axis", _is_sizes, _has_sizes),
    "multiple": Fact(
        "a list of integers from 1 on, one an axis",
        _is_multiples,
        lambda value, window, sizes: _divides(value, window.sizes),
    ),
    "unit_stride": Fact(
        "an axis of the view",
        _is_axis,
        lambda value, window, sizes: window.strides[int(value)] == 1,
    ),
    "dense": Fact(
        "a number of axes from 1 on",
        _is_count,
        lambda value, window, sizes: _is_dense(value, window),
    ),
    "stride_multiple": Fact(
        "a list of integers from 1 on, one an axis",
        _is_multiples,
        lambda value, window, sizes: _divides(value, window.strides),
    ),
    "align": Fact("a number of bytes from 1 on", _is_positive, _is_aligned),
    "index_bits": Fact("16 or 32", _is_width, _fits),
}
