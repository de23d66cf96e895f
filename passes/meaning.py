"""What a func does, apart from what things are called.

Comes in: a func. Goes out: a name that is the same for all funcs which do the same.
Never: a proof: funcs of different texts may do the same, and have different names.
"""

import re
from collections.abc import Hashable, Mapping
from functools import cache, lru_cache
from hashlib import sha256
from typing import Any

from ..ir.dims import Size, Symbol, substitute
from ..ir.func import Func
from ..ir.printer import print_func
from ..ir.types import Shaped, Type
from ..ir.values import AnyValue
from .copying import resized_settings

HEAD = re.compile(r"@\w+(<[^(]*>)?")
"""The name of a func, and its sizes with their bounds, where its text begins."""
COUNTED = re.compile(r"\d")


def named_by_meaning(func: Func, bounded: bool = True) -> str:
    """A name that funcs share if they differ in names alone: theirs, of their sizes, of values. If
    not `bounded`, the bounds of sizes may differ too."""
    text = print_func(func, numbered=True)
    text = text.replace(f"@{func.name}", "", 1) if bounded else HEAD.sub("", text, count=1)
    return _named(text, tuple([symbol.name for symbol in func.symbols]))


def structure_of(func: Func) -> Hashable | None:
    """What is equal for funcs that differ in names alone, and found more quickly than a name; None
    where ops have regions."""
    sizes = {each: _size(place, each) for place, each in enumerate(func.symbols)}

    @cache
    def resize(size: Size) -> Size:
        return substitute(size, sizes)

    @cache
    def type_of(type_: Type) -> object:
        if not isinstance(type_, Shaped):
            return type_
        return (type_.__class__, type_.dtype, *map(resize, type_.shape))

    places: dict[AnyValue, int] = {}
    settings = func.attributes and resized_settings(func.attributes, resize)
    parts: list[Any] = [settings, *sizes.values()]
    for argument in func.arguments:
        places[argument] = len(places)
        parts.append(type_of(argument.type))
    for op in func.body:
        if op.regions:
            return None
        operands = tuple([places[operand] for operand in op.operands])
        parts.append((op.__class__, operands, resized_settings(op.attributes, resize)))
        for result in op.results:
            places[result] = len(places)
            parts.append(type_of(result.type))
    return tuple(parts)


@lru_cache(1024)
def _size(place: int, symbol: Symbol) -> Symbol:
    """What stands for the size that a func names at a place."""
    return Symbol(f"size{place}", symbol.minimum, symbol.maximum, symbol.multiple)


@lru_cache(1024)
def _named(text: str, sizes: tuple[str, ...]) -> str:
    """The name of what a text means, in which sizes have these names."""
    if sizes:
        text = _renamed(text, {name: f"size{place}" for place, name in enumerate(sizes)})
    return f"kernel_{sha256(text.encode()).hexdigest()[:32]}"


def _renamed(text: str, names: Mapping[str, str]) -> str:
    """A text with other words for some, but for those behind a sigil. What stands before a word is
    looked at last: an expression that begins with letters is found much faster."""

    def other(found: re.Match[str]) -> str:
        before = text[found.start() - 1]
        word = found[0]
        return word if before.isalnum() or before in "_%@" else names.get(word, word)

    return _words(frozenset([COUNTED.split(name, 1)[0] for name in names])).sub(other, text)


@lru_cache(1024)
def _words(stems: frozenset[str]) -> re.Pattern[str]:
    """What finds words that begin so, and then end or are counted: most sizes are, and what is
    named after them, so that one expression serves many kernels."""
    return re.compile(rf"(?:{'|'.join(map(re.escape, sorted(stems)))})(?:\d\w*)?(?!\w)")
