"""Why a kernel has no code: it has no such form, or there is a mistake of ours.

Comes in: a kernel of tiles, and what LLVM said. Goes out: the error that says why, in the user's
lines; for a mistake, with the files that show it.
Never: a kernel that is compiled.
"""

import os
from pathlib import Path

from ...ir.errors import IRError
from ...ir.func import Func
from ...ir.locations import Location
from ...ir.printer import print_func
from ...passes.bind_cpu import Refused
from ...passes.reproducer import FOLDER_VARIABLE, write_aside
from .lower import lower
from .machines import host
from .printer import print_llvm
from .writer import Refused as NoInstruction

LINES_AT_MOST = 4


class KernelError(IRError):
    """LLVM does not take a kernel: a bug of ours, with the files that show it."""


def reason(func: Func, name: str, message: str) -> IRError:
    """Why a kernel that was not compiled has no code, in the user's lines; if it should have some,
    that is an error."""
    try:
        loops = lower(func, host(), name)
        text = print_llvm([loops], host())
    except (Refused, NoInstruction) as refusal:
        # It is kept, and frames would be with it: up to the user's, with all his tensors.
        refusal.__traceback__ = refusal.__cause__ = refusal.__context__ = None
        return refusal
    raise failure(loops, text, message)


def failure(func: Func, text: str, message: str) -> KernelError:
    """The error for a func that LLVM refuses, with what it was given in files beside each other."""
    folder = Path(os.environ.get(FOLDER_VARIABLE) or ".").absolute()
    path = folder / f"{func.name}.ll"
    folder.mkdir(parents=True, exist_ok=True)
    write_aside(path, text)
    write_aside(path.with_suffix(".ir"), print_func(func))
    what = f"LLVM refuses the kernel @{func.name}: {message.strip()}"
    where = f"what LLVM was given is in {path}, from what is in {path.with_suffix('.ir')}"
    return KernelError(f"{what}\n{where}", _lines(func))


def _lines(func: Func) -> Location:
    """The first lines of the user's program that the kernel comes from."""
    location = func.location
    for op in func.walk():
        location = location.union(op.location)
    return Location(*location[:LINES_AT_MOST])
