"""One kernel of tiles on its way to machine code, with nothing but its text to begin with.

Comes in: a func of the tile floor, or its text as `text_of` writes it. Goes out: a loop func, the
text of an LLVM module, an object.
Never: an op of a step, or anything that is kept; several processes do this at once.
"""

from hashlib import sha256
from math import gcd

from ...ir.dims import DEFAULT_MAXIMUM, Symbol
from ...ir.func import Func
from ...ir.parser import parse
from ...ir.printer import print_func
from ...passes.bind_cpu import bind_cpu
from ...passes.expand import expand
from ...passes.meaning import HEAD, named_by_meaning
from .compile import compile_text
from .machines import CPU
from .printer import print_llvm

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


def lower(func: Func, machine: CPU, name: str | None = None) -> Func:
    """A kernel of tiles as loops that the machine has instructions for."""
    loops = bind_cpu(func, machine)
    expand(loops, machine)
    loops.name = name or func.name
    return loops


def compile_kernel(text: str, machine: CPU) -> bytes:
    """The object of the kernel with this text."""
    loops = lower(parse(text).main, machine)
    return compile_text(print_llvm([loops], machine), machine)
