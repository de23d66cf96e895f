"""One kernel of tiles on its way to machine code, with nothing but its text to begin with.

Comes in: a func of the tile floor, or its text as `naming.text_of` writes it. Goes out: a loop
func, the text of an LLVM module, an object.
Never: an op of a step, or anything that is kept; several processes do this at once.
"""

from ...ir.func import Func
from ...ir.parser import parse
from ...passes.bind_cpu import bind_cpu
from ...passes.expand import expand
from .compile import compile_text
from .machines import CPU
from .printer import print_llvm


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
