"""The steps that are compiled for a function so far, and the sizes that they leave open.

Comes in: plans, and general funcs. Goes out: an `OpenSize` for each symbol, and a
`CompiledStep` for each compiled step, however many plans run it.
Never: a plan kept, or a buffer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ...ir.dims import DEFAULT_MAXIMUM, Symbol
from ...ir.func import Func
from ...runtime.steps import Plan
from .kernels import Sizes, array_text


class OpenSize(NamedTuple):
    """A size that may be another one at the next call: what it is (None if only the data say), what
    it may be, and the first axis that has it."""

    name: str
    number: int | None
    bounds: str
    place: str


class CompiledStep(NamedTuple):
    """One compiled step: what it takes, what its sizes may be, and what they are for each kind of
    arguments that it serves."""

    takes: tuple[str, ...]
    bounds: tuple[str, ...]
    kinds: tuple[str, ...]


def compiled_steps(plans: Iterable[Plan]) -> tuple[CompiledStep, ...]:
    """The steps behind plans."""
    together: dict[int, list[Plan]] = {}
    for plan in plans:
        together.setdefault(id(plan.executable), []).append(plan)
    return tuple([_step(each) for each in together.values()])


def open_sizes(func: Func, names: Sequence[str], sizes: Sizes) -> tuple[OpenSize, ...]:
    """The symbols of a func whose arguments have these names."""
    return tuple(
        [
            OpenSize(each.name, sizes.get(each.name), _bounds(each), _place(each, func, names))
            for each in func.symbols
        ]
    )


def _bounds(symbol: Symbol) -> str:
    """What a size may be: `2 or more`, `1..64 in steps of 8`."""
    steps = f" in steps of {symbol.multiple}" if symbol.multiple > 1 else ""
    if symbol.maximum >= DEFAULT_MAXIMUM:
        return f"{symbol.minimum} or more{steps}"
    return f"{symbol.minimum}..{symbol.maximum}{steps}"


def _place(symbol: Symbol, func: Func, names: Sequence[str]) -> str:
    """The first place where a size is met."""
    for value, name in zip(func.arguments, names, strict=False):
        for axis, size in enumerate(value.type.shape):
            if size is symbol:
                return f"axis {axis} of {name}"
    return ""


def _step(plans: list[Plan]) -> CompiledStep:
    first = plans[0]
    given = first.func.arguments[: len(first.func.arguments) - len(first.scalars)]
    kinds = [", ".join(f"{name} = {size}" for name, size in each.sizes.items()) for each in plans]
    return CompiledStep(
        tuple([array_text(each.type, {}) for each in given]),
        tuple([f"{each.name} {_bounds(each)}" for each in first.func.symbols]),
        tuple(kinds),
    )
