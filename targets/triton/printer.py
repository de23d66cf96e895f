"""Funcs of the tile floor as Triton source.

Comes in: a func of the tile floor; tiles of any size are rounded up first. Goes out: `Kernel`s, or
the source alone: a module with one kernel and the helpers that it calls, with no size of a program
in it.
Never: Triton itself; nothing here imports it.
"""

from ...ir.func import Func
from ...ir.values import Block
from .emit import REGIONS, TABLE
from .helpers import HELPERS
from .kernel import Kernel
from .legalise import legalise
from .parameters import declare_parameters
from .writer import Refused, Writer, refuse

IMPORTS = "import triton\nimport triton.language as tl\n"
LIBDEVICE = "from triton.language.extra import libdevice\n"
WARPS, STAGES = 4, 3
INDENT = "    "


def print_triton(func: Func) -> str:
    """The source of a kernel."""
    return print_kernel(func).source


def print_kernel(func: Func) -> Kernel:
    """A kernel: its source, what its parameters are, its schedule."""
    legal = legalise(func)
    if legal.results:
        raise Refused(f"@{func.name} is no kernel: it returns values", func.location)
    writer = Writer(legal)
    name = writer.unique(func.name)
    parameters = declare_parameters(writer)
    write_block(writer, legal.body)
    if not writer.lines:
        writer.line("pass")
    listed = "".join([f"{INDENT}{parameter.name},\n" for parameter in parameters])
    body = "\n".join(writer.lines)
    function = f"@triton.jit\ndef {name}(\n{listed}):\n{body}\n"
    imports = IMPORTS + (LIBDEVICE if "libdevice." in body else "")
    source = "\n\n".join([imports, *[HELPERS[each] for each in writer.helpers], function])
    warps, stages = (func.attributes.get(*each) for each in (("warps", WARPS), ("stages", STAGES)))
    return Kernel(name, source, parameters, warps, stages, legal)


def write_block(writer: Writer, block: Block) -> None:
    """The ops of a block but the last, which says what leaves it."""
    for op in block:
        if op.terminator:
            return
        cls, start = op.__class__, len(writer.lines)
        if cls in TABLE:
            TABLE[cls](writer, op)
        elif cls in REGIONS:
            REGIONS[cls](writer, op, write_block)
        else:
            raise refuse(op, "it is no op of the tile floor")
        writer.say_where(op, start)


__all__ = ["print_kernel", "print_triton"]
