"""Symbolic sizes as numbers of a running program.

Comes in: a dim, and the size of a view for each symbol. Goes out: an integer or an i64 value.
Never: a symbol that no view has as the size of an axis.
"""

from collections.abc import Mapping, Sequence

from ...ir.dims import Atom, Size, Symbol, ceil_div, maximum, minimum, terms_of
from ...ir.errors import Unmet
from ...ir.loop import BinaryKind
from ..quotients import dividends
from .emitter import Emitter, Index

Symbols = Mapping[Symbol, Index]


def size_index(emitter: Emitter, size: Size, symbols: Symbols) -> Index:
    """The number that a size is."""
    total: Index = 0
    for atoms, by in terms_of(size).items():
        term: Index = by
        for atom in atoms:
            term = emitter.product(term, _atom(emitter, atom, symbols))
        total = emitter.sum(total, term)
    return total


def _atom(emitter: Emitter, atom: Atom, symbols: Symbols) -> Index:
    if isinstance(atom, Symbol):
        if atom not in symbols:
            raise Unmet(f"no view says what {atom} is")
        return symbols[atom]
    function = atom.recipe[0]
    if function is ceil_div:
        return _rounded_up(emitter, atom.parts, symbols)
    first, *others = [size_index(emitter, part, symbols) for part in atom.parts]
    for other in others:
        if function is minimum:
            first = emitter.least(first, other)
        else:
            assert function is maximum
            first = emitter.greatest(first, other)
    return first


def _rounded_up(emitter: Emitter, parts: Sequence[Size], symbols: Symbols) -> Index:
    above, below = parts
    divisor = emitter.value(size_index(emitter, below, symbols))
    divided = [size_index(emitter, part, symbols) for part in dividends(above, below)]
    return emitter.sum(
        *[emitter.binary(BinaryKind.DIVIDE, emitter.value(each), divisor) for each in divided]
    )
