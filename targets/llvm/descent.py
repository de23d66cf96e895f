"""From a func of tensors down to launches of kernels of tiles, floor by floor.

Comes in: a module whose main func is on the tensor floor. Goes out: one whose main func is on the
step floor, with its kernels, or with the kernels only fused.
Never: a kernel that knows a size. A kernel for which there are no tiles stays one of tensors.
"""

from collections.abc import Mapping
from dataclasses import replace

from ...ir.func import Module
from ...passes.complex_to_real import complex_to_real, seen_as_complex
from ...passes.fuse import Fused, fuse
from ...passes.gather_launches import gather_launches
from ...passes.in_place import in_place
from ...passes.spare_copies import spare_copies
from ...passes.tiling import tile
from .machines import CPU
from .schedules import chooser


def descend(
    module: Module, machine: CPU, *, apart: bool, given: bool
) -> tuple[Module, Mapping[str, str]]:
    """A step whose kernels are tiles, and for those that stay tensors the reasons; `given`: nobody
    wants the module afterwards."""
    kernels = fused(module, apart=apart, given=given).module
    tiled = tile(kernels, chooser(machine), shared=True, given=True)
    gathered = gather_launches(spare_copies(tiled.module))
    return in_place(gathered.module), tiled.refused


def fused(module: Module, *, apart: bool, given: bool = False) -> Fused:
    """Kernels as large as they may be, or with `apart` one for each op."""
    func = complex_to_real(module.main)
    made = fuse(func, apart=apart, given=given)
    if func is module.main:
        return made
    return replace(made, module=seen_as_complex(made.module, module.main))
