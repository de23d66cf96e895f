"""Symbols in whatever has sizes: which there are, and other sizes in their place.

Comes in: sizes, types, funcs, attributes, and tuples of these. Goes out: the symbols among them, or
the same with each size mapped.
Never: a decision about a size.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from ..ir.attributes import SIZES, Frozen
from ..ir.dims import Dim, Symbol, symbols
from ..ir.func import Func
from ..ir.types import Shaped
from ..passes.copying import Resize, copy_func, resized_settings, resized_shape, resized_type


def symbols_in(part: Any) -> Iterator[Symbol]:
    """The symbols in a size, a type, a func, or a tuple of such things, perhaps several times."""
    if isinstance(part, Dim):
        yield from symbols(part)
    elif isinstance(part, Shaped):
        yield from symbols_in(part.shape)
    elif isinstance(part, Func):
        yield from symbols_in(tuple([value.type for value in part.arguments]))
        for op in part.walk():
            yield from symbols_in(op.attributes)
            yield from symbols_in(tuple([value.type for value in op.results]))
    elif isinstance(part, tuple | Frozen):
        values = part.values() if isinstance(part, Frozen) else cast(tuple[Any, ...], part)
        for each in values:
            yield from symbols_in(each)


def is_open(part: Any) -> bool:
    """Whether there is a symbol."""
    return any(True for _ in symbols_in(part))


def resized(part: Any, resize: Resize) -> Any:
    """The part, in which each symbolic size `s` is `resize(s)`."""
    if not is_open(part):
        return part
    if isinstance(part, Shaped):
        return resized_type(part, resize)
    if isinstance(part, Func):
        return copy_func(part, resize)
    if isinstance(part, tuple):
        listed = cast(tuple[Any, ...], part)
        if all([isinstance(each, int | Dim) for each in listed]):
            return SIZES.normalise(resized_shape(listed, resize))
        return tuple([resized(each, resize) for each in listed])
    return resized_settings(part, resize)
