"""A function on its way down, without a device: the kernels of tiles that a processor would get.

Comes in: a function, arguments whose sizes are left open, and a processor. Goes out: its step with
kernels of tiles.
Never: machine code.
"""

from collections.abc import Callable
from typing import Any

import brimstone as bs
from brimstone.ir.func import Module
from brimstone.passes.fuse import fuse
from brimstone.passes.generalise import generalise
from brimstone.passes.manager import run_pipeline
from brimstone.passes.pipelines import PREPARE
from brimstone.passes.tiling import Tiled, tile
from brimstone.targets.llvm.machines import CPU
from brimstone.targets.llvm.schedules import chooser


def in_tiles(function: Callable[..., Any], *arguments: Any, machine: CPU) -> Tiled:
    """The step of a function, with the schedules of a machine."""
    traced = bs.jit(function).lower(*arguments)
    module = Module([generalise(traced.ir.main).func])
    run_pipeline(module, PREPARE)
    return tile(fuse(module.main).module, chooser(machine))
