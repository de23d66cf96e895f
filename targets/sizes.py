"""The numbers that sizes are, by arithmetic alone.

Comes in: a number for each symbol, and sizes that are asked for. Goes out: their numbers, as
`ir.dims.evaluate` finds them, which simplifies as it goes; a step asks for hundreds of them where
its sizes are new, and each is found once.
Never: a size simplified.
"""

from collections.abc import Callable, Mapping
from typing import Any

from ..ir.dims import Atom, Dim, Size, Symbol, ceil_div, evaluate, maximum, minimum
from .tape import greatest, least


class Numbers(dict[Size, int]):
    """What sizes are: those of symbols are given, all others are found as they are asked for."""

    def __init__(self, given: Mapping[Symbol, int]) -> None:
        super().__init__(given.items())

    def __missing__(self, size: Any) -> int:
        kind: type[Any] = size.__class__
        found = 0
        if kind is Dim:
            for atoms, by in size.terms.items():
                product = by
                for atom in atoms:
                    product *= self[atom]
                found += product
        elif kind is Atom:
            function: Callable[..., Any] = _AS_NUMBERS.get(size.recipe[0]) or size.recipe[0]
            found = function(*map(self.__getitem__, size.parts))
        else:
            found = evaluate(size, {})  # which refuses symbols by their names
        self[size] = found
        return found


def _ceil_div(size: int, by: int) -> Size:
    return -(-size // by) if by > 0 else ceil_div(size, by)  # which refuses it


_AS_NUMBERS: dict[Any, Callable[..., Any]] = {
    ceil_div: _ceil_div,
    maximum: greatest,
    minimum: least,
}
