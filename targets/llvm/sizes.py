"""The numbers that sizes are, by arithmetic alone.

Comes in: a size, and a number for each of its symbols. Goes out: its number, as `ir.dims.evaluate`
finds it, which simplifies as it goes; a step asks for hundreds of them where its sizes are new.
Never: a size simplified.
"""

from collections.abc import Mapping
from math import prod

from ...ir.dims import Atom, Size, Symbol, ceil_div, evaluate, maximum, minimum


def number_of(size: Size, sizes: Mapping[Symbol, int]) -> int:
    """The number that a size is where every symbol has its own from `sizes`."""
    if isinstance(size, int):
        return size
    if isinstance(size, Symbol):
        found = sizes.get(size)
        return evaluate(size, sizes) if found is None else found
    if not isinstance(size, Atom):
        terms = size.terms.items()
        return sum([prod([number_of(each, sizes) for each in atoms]) * by for atoms, by in terms])
    function, parts = size.recipe[0], [number_of(part, sizes) for part in size.parts]
    if function is minimum:
        return min(parts)
    if function is maximum:
        return max(parts)
    if function is ceil_div and parts[1] > 0:
        return -(-parts[0] // parts[1])
    return evaluate(size, sizes)
