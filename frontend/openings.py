"""What was compiled for sizes at which a function never looked, found again for other sizes.

Comes in: the arguments of calls, or on the quick way their kinds. Goes out: what was compiled for
arguments that differ from them in such sizes alone, if anything was, and what these are here.
Never: a size at which the function has looked; it is part of the kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Generic, Protocol, Self, TypeVar

from ..ir.dims import Symbol
from ..ir.shared.cache import Cache
from ..ir.types import Tensor as TensorType
from .arguments import Arguments
from .bundle import Kind
from .leading import Opened, is_known_as


class Open(Protocol):
    """What was compiled, with sizes left open."""

    def at(self, sizes: Mapping[str, int]) -> Self:
        """The same, where these are so many."""
        ...


KINDS_AT_MOST = 4096
"""What is compiled is kept for so many kinds."""
SIZES_AT_MOST = 4096
"""Of so many sizes is kept what was made for each."""
Entry = TypeVar("Entry", bound=Open)
Kinds = tuple[Any, ...]
"""Those of arguments, and behind them which device it is, as the quick way has them."""


class Openings(Generic[Entry]):
    """By kinds of arguments with symbols among their sizes; `_ways` are those in which sizes have
    been left open, and `_at` is what was found, by its sizes. `_quick` is the same by kinds as the
    quick way has them."""

    def __init__(self) -> None:
        self._entries: Cache[Any, Entry] = Cache(KINDS_AT_MOST)
        self._quick: Cache[Kinds, Entry] = Cache(KINDS_AT_MOST)
        self._ways: dict[tuple[Opened, ...], None] = {}
        self._at: Cache[Any, tuple[Entry, Entry]] = Cache(SIZES_AT_MOST)

    def add(
        self, given: Arguments, opened: Sequence[Opened], sizes: Mapping[Symbol, int], entry: Entry
    ) -> Entry:
        """Keep what was compiled, where these sizes are left open; the same where they are so
        many."""
        given.close()
        given.open(opened)
        self._ways[tuple(opened)] = None
        return self._sized(self._entries.put(given.kind, entry), sizes)

    def find(self, given: Arguments) -> Entry | None:
        """What was compiled for such arguments, at their sizes."""
        for opened in [*self._ways]:  # another thread may add one
            if len(opened) == len(given.types):
                numbers = given.open(opened)
                entry = None if numbers is None else self._entries.get(given.kind)
                given.close()
                if numbers is not None and entry is not None:
                    return self._sized(entry, numbers)
        return None

    def learn(self, given: Arguments, kinds: Kinds) -> None:
        """Expect arguments like these on the quick way, where they are of these kinds."""
        given.close()
        for opened in [*self._ways]:  # another thread may add one
            known = _with_symbols(kinds, opened)
            if known is not None and given.open(opened) is not None:
                entry = self._entries.get(given.kind)
                given.close()
                if entry is not None:
                    self._quick.put(known[0], entry)

    def find_quick(self, kinds: Kinds) -> Entry | None:
        """What was compiled for arguments of these kinds, which were learned, at their sizes."""
        for opened in [*self._ways]:  # another thread may add one
            known = _with_symbols(kinds, opened)
            entry = None if known is None else self._quick.get(known[0])
            if known is not None and entry is not None:
                return self._sized(entry, known[1])
        return None

    def _sized(self, entry: Entry, numbers: Mapping[Symbol, int]) -> Entry:
        """One and the same for equal sizes, whichever way led to it, as long as it is kept."""
        key = id(entry), *numbers.items()
        found = self._at.get(key)
        if found is None:
            made = entry.at({symbol.name: size for symbol, size in numbers.items()})
            found = self._at.put(key, (entry, made))  # which keeps the number of the entry its own
        return found[1]


def _types_of(kind: Any) -> tuple[Any, ...]:
    """The types of the tensors of one kind; that of a number, which has no sizes, is its own."""
    if isinstance(kind, Kind):
        return kind.types
    return (kind,) if isinstance(kind, TensorType | type) else ()


def _with_symbols(kinds: Kinds, opened: Sequence[Opened]) -> tuple[Kinds, dict[Symbol, int]] | None:
    """Kinds with symbols in the place of sizes, and what these are; None if they cannot be that."""
    made, numbers, first = list[Any](), dict[Symbol, int](), 0
    for kind in kinds[:-1]:
        types = _types_of(kind)
        symbols = opened[first : first + len(types)]
        first += len(types)
        if not any(symbols):
            made.append(kind)
            continue
        made.append(kind.structure if isinstance(kind, Kind) else None)
        for type_, symbol in zip(types, symbols, strict=False):
            is_number = isinstance(type_, type)
            if symbol is not None and (is_number or not is_known_as(symbol, type_, numbers)):
                return None
            made += (type_,) if symbol is None else (symbol, type_.dtype, *type_.shape[1:])
    return ((*made, kinds[-1]), numbers) if first == len(opened) else None
