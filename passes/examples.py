"""Sizes that refute claims about dims, so that nobody looks for their proofs: a search that finds
nothing takes longest.

Comes in: symbols that count rounds or programs, and how many there are. Goes out: `Example`s.
Never: a size beyond its bounds; whether it meets what is assumed, `Example.meets` tells.
"""

from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from math import prod

from ..ir.dims import Atom, Dim, Polynomial, Size, Symbol, ceil_div, maximum, minimum
from ..ir.facts import Claim

MANY = 1_000_003
"""How much more a large size is than a small one, but for what it is a multiple of."""
Choice = Callable[[Symbol], int]


class Example:
    """A number for each symbol, and with that for each dim. `counts` says of symbols that count
    something how much there is: `last` takes the last one, else it is the first."""

    def __init__(self, counts: Mapping[Symbol, Size], size: Choice, last: bool) -> None:
        self._counts, self._size, self._last = counts, size, last
        self._found: dict[Dim, int] = {}

    def __call__(self, terms: Polynomial) -> int:
        """The value of a polynomial."""
        return sum([by * prod(map(self._of, atoms)) for atoms, by in terms.items()])

    def meets(self, claims: Iterable[Claim]) -> bool:
        """Whether claims hold."""
        return all([self(terms) >= 0 for terms in chain.from_iterable(claims)])

    def _of(self, size: Size) -> int:
        if isinstance(size, int):
            return size
        found = self._found.get(size)
        if found is None:
            found = self._found[size] = self._computed(size)
        return found

    def _computed(self, dim: Dim) -> int:
        if isinstance(dim, Symbol):
            return self._chosen(dim)
        if not isinstance(dim, Atom):
            return self(dim.terms)
        parts = map(self._of, dim.parts)
        return NUMBERS[dim.recipe[0]](*parts)

    def _chosen(self, symbol: Symbol) -> int:
        if symbol not in self._counts:
            return self._size(symbol)
        return max(self._of(self._counts[symbol]) - 1, 0) if self._last else 0


def some_examples(counts: Mapping[Symbol, Size]) -> list[Example]:
    """With small sizes and with large ones, in first rounds and in last ones."""
    return [Example(counts, size, last) for last in (False, True) for size in (_small, _large)]


def _small(symbol: Symbol) -> int:
    """The least that is not 0."""
    return min(symbol.low or symbol.multiple, symbol.high)


def _large(symbol: Symbol) -> int:
    return min(symbol.low + MANY * symbol.multiple, symbol.high)


def _quotient(dividend: int, divisor: int) -> int:
    return -(-dividend // divisor)


NUMBERS: Mapping[object, Callable[..., int]] = {ceil_div: _quotient, minimum: min, maximum: max}
"""The functions of dims, of numbers."""
