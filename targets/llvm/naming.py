"""What a kernel of tiles is called, and its text, whatever its sizes and values are called.

Comes in: a func of the tile floor. Goes out: a name that kernels of the same code share, and a text
from which any process makes that code.
Never: the code; a process that finds it on disk never loads what makes it.
"""

from hashlib import sha256
from math import gcd

from ...ir.dims import DEFAULT_MAXIMUM, Symbol
from ...ir.func import Func
from ...ir.printer import print_func
from ...passes.meaning import HEAD, named_by_meaning

LARGEST = 1 << 39
"""More numbers than an axis has; proofs go as far as products of three such sizes."""
MULTIPLE = 64
"""A size that is a multiple of something matters where blocks and vectors fit into it."""


def name_of(func: Func) -> str:
    """A name that kernels share if one's code is right for the other."""
    meaning = named_by_meaning(func, bounded=False)
    bounds = [bounds_of(symbol) for symbol in func.symbols]
    return f"kernel_{sha256(f'{meaning} {bounds}'.encode()).hexdigest()[:32]}"


def text_of(func: Func, name: str) -> str:
    """The text of a func under another name, for all sizes for which its code may be used."""
    sizes = ", ".join([f"{symbol.name}: {bounds_of(symbol)}" for symbol in func.symbols])
    head = f"@{name}<{sizes}>" if sizes else f"@{name}"
    return HEAD.sub(lambda _: head, print_func(func), count=1)


def bounds_of(symbol: Symbol) -> str:
    """The bounds of a size, but for those that a kernel gains nothing from: that it is more than a
    few, or less than an arbitrary large number."""
    least, most, multiple = symbol.minimum, symbol.maximum, symbol.multiple
    if most >= DEFAULT_MAXIMUM:
        least, most, multiple = min(least, 1), LARGEST, gcd(multiple, MULTIPLE)
    return f"{least}..{most}" + (f" % {multiple}" if multiple > 1 else "")
