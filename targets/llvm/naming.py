"""What a kernel of tiles is called, and its text, whatever its sizes and values are called.

Comes in: a func of the tile floor. Goes out: a name that kernels of the same code share, and a text
from which any process makes that code.
Never: the code; a process that finds it on disk never loads what makes it.
"""

from collections.abc import Sequence
from hashlib import sha256
from math import gcd

from ...ir.dims import DEFAULT_MAXIMUM, DimError, Symbol, substitute
from ...ir.func import Func
from ...ir.printer import print_func
from ...passes.copying import copy_func
from ...passes.meaning import HEAD, named_by_meaning

LARGEST = 1 << 39
"""More numbers than an axis has; proofs go as far as products of three such sizes."""
MULTIPLE = 64
"""A size that is a multiple of something matters where blocks and vectors fit into it."""


def name_of(func: Func) -> str:
    """A name that kernels share if one's code is right for the other."""
    meaning = named_by_meaning(func, bounded=False)
    bounds = [_text(bounds) for bounds in bounds_of(func)]
    return f"kernel_{sha256(f'{meaning} {bounds}'.encode()).hexdigest()[:32]}"


def text_of(func: Func, name: str) -> str:
    """The text of a func under another name, for all sizes for which its code may be used."""
    pairs = zip(func.symbols, bounds_of(func), strict=True)
    sizes = ", ".join([f"{symbol.name}: {_text(bounds)}" for symbol, bounds in pairs])
    head = f"@{name}<{sizes}>" if sizes else f"@{name}"
    return HEAD.sub(lambda _: head, print_func(func), count=1)


Bounds = tuple[int, int, int]
"""The least and the greatest that a size may be, and what it is a multiple of."""


def bounds_of(func: Func) -> list[Bounds]:
    """The bounds of a func's sizes, but for those that a kernel gains nothing from: that a size is
    more than a few, unless something is divided by what would be nothing else, or less than an
    arbitrary large number."""
    wide = [_wide(symbol, min(symbol.minimum, 1)) for symbol in func.symbols]
    if _are_large_enough(func, wide):
        return wide
    return [_wide(symbol, symbol.minimum) for symbol in func.symbols]


def _wide(symbol: Symbol, least: int) -> Bounds:
    if symbol.maximum < DEFAULT_MAXIMUM:
        return symbol.minimum, symbol.maximum, symbol.multiple
    return least, LARGEST, gcd(symbol.multiple, MULTIPLE)


def _are_large_enough(func: Func, wide: Sequence[Bounds]) -> bool:
    """Whether all sizes of a func are sizes within these bounds, too."""
    pairs = zip(func.symbols, wide, strict=True)
    smaller = {each: Symbol(each.name, *to) for each, to in pairs if to[0] < each.minimum}
    if not smaller:  # as of most
        return True
    try:
        copy_func(func, lambda size: substitute(size, smaller, kept=False))
    except DimError:
        return False
    return True


def _text(bounds: Bounds) -> str:
    least, most, multiple = bounds
    return f"{least}..{most}" + (f" % {multiple}" if multiple > 1 else "")
