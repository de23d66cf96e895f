"""Sizes in a kernel of tiles: as symbols in its facts, and as numbers that it reads at run time.

Comes in: the params of a kernel in the shapes in which the launch will hand them over. Goes out: a
`Sizes`: the symbols of the tile func, which the facts bind, and scalars for sizes.
Never: a symbol that nothing binds: a size such as n * m, of an axis that was merged, becomes a
symbol of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

from ...ir import tile
from ...ir.attributes import Shape
from ...ir.builder import Builder
from ...ir.dims import (
    MAX_SIZE,
    Atom,
    Dim,
    Monomial,
    Size,
    Symbol,
    ceil_div,
    maximum,
    minimum,
    symbols,
)
from ...ir.dtypes import DType, i64
from ...ir.payloads import Number
from ...ir.values import AnyValue
from ..quotients import dividends
from .kernel import Param
from .space import Refused
from .told import Told

KINDS = {minimum: tile.BinaryKind.MINIMUM, maximum: tile.BinaryKind.MAXIMUM}


class Unnamed(Refused):
    """A size that no array has and that does not follow from the sizes that they have."""


class Names:
    """Which symbol, or size in symbols, stands for each size of the params."""

    def __init__(self, shapes: Iterable[Shape], told: Told | None = None) -> None:
        self.told = told
        sizes = dict.fromkeys(size for shape in shapes for size in shape if isinstance(size, Dim))
        self.bound = {size for size in sizes if isinstance(size, Symbol)}
        self.fresh: dict[Size, Symbol] = {}
        taken = {symbol.name for size in sizes for symbol in symbols(size)}
        for size in sizes:
            if not {*symbols(size)} <= self.bound:
                self.fresh[size] = _symbol(size, taken)
        self.used: dict[Symbol, None] = {}
        for size in sizes:
            self.used.update(dict.fromkeys(symbols(self.fresh.get(size, size))))

    def knows(self, size: Size) -> bool:
        """Whether the tile func has symbols for a size."""
        return size in self.fresh or self.bound.issuperset(symbols(size))

    def of(self, size: Size) -> Size:
        """The size in the symbols of the tile func."""
        if not self.knows(size):
            if self.told is None:
                raise Unnamed(f"no array has the size {size}")
            for symbol in symbols(size):
                if symbol not in self.bound:
                    self.told.ask(symbol)
        return self.fresh.get(size, size)


def untold(sizes: Iterable[Size], shapes: Iterable[Shape]) -> list[Symbol]:
    """The symbols of sizes that arrays of these shapes do not tell."""
    names = Names(shapes)
    asked = [each for each in sizes if isinstance(each, Dim) and not names.knows(each)]
    parts = [each for size in asked for each in symbols(size)]
    return [each for each in dict.fromkeys(parts) if each not in names.bound]


def _symbol(size: Dim, taken: set[str]) -> Symbol:
    """A new symbol for a size, named after it."""
    name = _name(size)
    while name in taken:
        name += "_"
    taken.add(name)
    return _named(size, name)


@lru_cache(4096)
def _name(size: Dim) -> str:
    """A size in words."""
    name = re.sub(r"\W+", "_", str(size)).strip("_")
    return f"size_{name}"[:40] if name[:1].isdigit() else name[:40]


@lru_cache(4096)
def _named(size: Dim, name: str) -> Symbol:
    """The symbol of that name, for what a size may be."""
    return Symbol(name, max(size.low, 0), min(size.high, MAX_SIZE), max(size.multiple, 1))


class _Merged(NamedTuple):
    """An extent that is so many times as much as a product, as that of an axis that was merged."""

    extent: Dim
    times: int
    atoms: Monomial


def _without(atoms: Monomial, part: Monomial) -> Monomial | None:
    """The factors of a product that are left if it is divided by others; None if it cannot be."""
    rest = [*atoms]
    for each in part:
        if each not in rest:
            return None
        rest.remove(each)
    return tuple(rest)


@dataclass(slots=True)
class Sizes:
    """Scalars of i64 at the beginning of the func, where `builder` stands."""

    builder: Builder
    params: list[Param]
    views: list[AnyValue]
    told: Told | None = None
    known: dict[Size, AnyValue] = field(default_factory=lambda: {})

    def number(self, value: Any, dtype: DType = i64) -> AnyValue:
        """A constant."""
        return self.builder.emit(tile.Constant, Number(value, dtype))

    def scalar(self, size: Size) -> AnyValue:
        """The number that a size is: an extent, or computed from extents."""
        if isinstance(size, int):
            return self.number(size)
        if size not in self.known:
            self.known[size] = self._extent(size) or self._computed(size)
        return self.known[size]

    def knows(self, size: Size) -> bool:
        """Whether it is certain that `scalar` can say what a size is."""
        if isinstance(size, int) or any([size is each for x in self.params for each in x.shape]):
            return True
        if isinstance(size, Symbol):
            return self._multiple(size) is not None
        if not isinstance(size, Atom):
            return self._knows_terms(size) or self._beside(size) is not None
        divided = size.recipe[0] is ceil_div
        parts = [*dividends(*size.parts), size.parts[1]] if divided else size.parts
        return all(map(self.knows, parts))

    def _knows_terms(self, size: Dim) -> bool:
        return all([self._told(atoms) is not None for atoms in size.terms])

    def _beside(self, size: Dim) -> tuple[Dim, Size] | None:
        """An extent, as that of an axis of joined parts, of which no array has the single ones, and
        the rest of a size that is a sum with it."""
        for each in [each for param in self.params for each in param.shape]:
            if not isinstance(each, Dim) or isinstance(each, Atom):
                continue
            within = [size.terms.get(atoms) == by for atoms, by in each.terms.items() if atoms]
            rest = size - each
            if all(within) and (isinstance(rest, int) or self.knows(rest)):
                return each, rest
        return None

    def _extent(self, size: Size) -> AnyValue | None:
        for param, view in zip(self.params, self.views, strict=True):
            for axis, each in enumerate(param.shape):
                if each is size:
                    extent = self.builder.emit(tile.Extent, view, axis=axis)
                    extent.name = extent.name or (str(size) if isinstance(size, Symbol) else None)
                    return extent
        return None

    def _told(self, atoms: Monomial) -> list[Atom | _Merged] | None:
        """What tells the factors of a product, as few extents as can be; None if nothing does."""
        for each in sorted(self._merged(), key=lambda each: -len(each.atoms)):
            rest = _without(atoms, each.atoms) if len(each.atoms) > 1 else None
            told = None if rest is None else self._told(rest)
            if told is not None:
                return [each, *told]
        return [*atoms] if all(map(self.knows, atoms)) else None

    def _multiple(self, symbol: Symbol) -> _Merged | None:
        """An extent that is some times as much as a size."""
        return next((each for each in self._merged() if each.atoms == (symbol,)), None)

    def _merged(self) -> Iterator[_Merged]:
        """The extents that are some times as much as a product of sizes."""
        for each in [each for param in self.params for each in param.shape]:
            if isinstance(each, Dim) and not isinstance(each, Atom) and len(each.terms) == 1:
                ((atoms, times),) = each.terms.items()
                yield _Merged(each, times, atoms)

    def _computed(self, size: Dim) -> AnyValue:
        if isinstance(size, Symbol):
            merged = self._multiple(size)
            return self._asked(size) if merged is None else self._share(merged)
        beside = None if isinstance(size, Atom) or self._knows_terms(size) else self._beside(size)
        if beside is not None:
            return self._folded(tile.BinaryKind.ADD, [self.scalar(each) for each in beside])
        if not isinstance(size, Atom):
            terms = [self._product(by, atoms) for atoms, by in size.terms.items()]
            return self._folded(tile.BinaryKind.ADD, terms)
        function: Callable[..., Any] = size.recipe[0]
        if function is ceil_div:
            above, below = size.parts
            quotients = [
                self._folded(tile.BinaryKind.DIVIDE, [self.scalar(part), self.scalar(below)])
                for part in dividends(above, below)
            ]
            return self._folded(tile.BinaryKind.ADD, quotients)
        return self._folded(KINDS[function], [self.scalar(part) for part in size.parts])

    def _asked(self, symbol: Symbol) -> AnyValue:
        """A size that no array has, of an empty one that is there for that."""
        if self.told is None:
            raise Unnamed(f"no array has the size {symbol}")
        extent = self.builder.emit(tile.Extent, self.told.ask(symbol), axis=0)
        extent.name = extent.name or str(symbol)
        return extent

    def _product(self, by: int, atoms: Monomial) -> AnyValue:
        if prod(atoms) in self.known:
            factors = [self.known[prod(atoms)]]
        else:
            factors = list[AnyValue]()
            for each in self._told(atoms) or atoms:
                if not isinstance(each, _Merged):
                    factors.append(self.scalar(each))
                elif by % each.times == 0:
                    factors.append(self.scalar(each.extent))
                    by //= each.times
                else:
                    factors.append(self._share(each))
        if by != 1 or not factors:
            factors.append(self.number(by))
        return self._folded(tile.BinaryKind.MULTIPLY, factors)

    def _share(self, merged: _Merged) -> AnyValue:
        """What an extent is some times as much as."""
        parts = [self.scalar(merged.extent), self.number(merged.times)]
        return self._folded(tile.BinaryKind.DIVIDE, parts)

    def _folded(self, kind: tile.BinaryKind, values: list[AnyValue]) -> AnyValue:
        first, *others = values
        for other in others:
            first = self.builder.emit(tile.Binary, first, other, kind=kind)
        return first
