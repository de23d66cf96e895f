"""The road from a func of tensors to a program of machine code, floor by floor.

Comes in: a module whose main func is on the tensor floor. Goes out: a `Program`.
Never: a kernel that knows a size. A kernel for which there are no tiles, or no loops, runs in the
interpreter; `Program.code.refused` says which, and why.
"""

import os
from dataclasses import replace

from ...ir.func import Module
from ...passes.complex_to_real import complex_to_real, seen_as_complex
from ...passes.fuse import Fused, fuse
from ...passes.gather_launches import gather_launches
from ...passes.in_place import in_place
from ...passes.tiling import tile
from ..limits import limits_of
from ..script import Host
from .code import Code
from .machines import host as processor
from .program import Program
from .schedules import chooser


def compile_step(module: Module, host: Host) -> Program:
    """Lower a step to tiles; its kernels are compiled when they are first launched."""
    limits = limits_of(module.main)
    tiled = tile(fused(module, given=True).module, chooser(processor()), shared=True, given=True)
    made = in_place(gather_launches(tiled.module).module)
    return Program(made, Code(made, tiled.refused), host, limits)


def fused(module: Module, given: bool = False) -> Fused:
    """Kernels as large as they may be, or with `BRIMSTONE_FUSE=0` one for each op."""
    func = complex_to_real(module.main)
    made = fuse(func, apart=os.environ.get("BRIMSTONE_FUSE") == "0", given=given)
    if func is module.main:
        return made
    return replace(made, module=seen_as_complex(made.module, module.main))
