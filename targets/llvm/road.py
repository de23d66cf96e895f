"""The road from a func of tensors to a program of machine code, floor by floor.

Comes in: a module whose main func is on the tensor floor. Goes out: a `Program`.
Never: a kernel that knows a size. A kernel for which there are no tiles, or no loops, runs in the
interpreter; `Program.code.refused` says which, and why.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from ...ir.func import Func, Module
from ...passes.bind_cpu import Refused
from ...passes.complex_to_real import complex_to_real, names_of_parts, seen_as_complex
from ...passes.copying import copy_func
from ...passes.fuse import Fused, fuse
from ...passes.gather_launches import gather_launches
from ...passes.in_place import in_place
from ...passes.meaning import named_by_meaning
from ...passes.past_caches import past_caches
from ...passes.tiling import tile
from ..account import Account, make_account
from ..script import Host
from .code import Code
from .lower import lower
from .machines import host as processor
from .planned import memory_of
from .printer import print_llvm
from .program import PAST_CACHES, Program
from .schedules import chooser
from .writer import Refused as NoInstruction


def compile_step(module: Module, host: Host) -> Program:
    """Lower a step to tiles; its kernels are compiled when they are first launched."""
    tiled = tile(_fused(module, given=True).module, chooser(processor()), shared=True, given=True)
    made = in_place(gather_launches(tiled.module).module)
    return Program(made, Code(made, tiled.refused), host)


def account(module: Module, names: Sequence[str], host: Host) -> Account:
    """What `compile_step` makes of a module, in words; `names` are those of its arguments."""
    program = compile_step(module, host)
    fused = _fused(module)
    tiled = tile(fused.module, chooser(processor()))
    funcs = {name: tiled.module[name] for name in tiled.kernels}
    alike = {name: named_by_meaning(func) for name, func in funcs.items()}
    one_of = {meaning: name for name, meaning in alike.items()}
    reasons = {meaning: refusal(funcs[name]) for meaning, name in one_of.items()}
    refused = {name: reasons[meaning] for name, meaning in alike.items() if reasons[meaning]}
    runs = "kernels run one after the other"
    _, *kernels = tiled.module
    together = gather_launches(Module([copy_func(tiled.module.main), *kernels])).together
    if len(fused.part.clusters.graph.func.arguments) > len(names):
        names = names_of_parts(module.main, names)
    interpreted = {**tiled.refused, **refused}
    made = make_account(runs, fused, tiled, together, interpreted, names, _versions(funcs))
    return replace(made, memory=partial(memory_of, program))


def refusal(func: Func) -> str:
    """Why there is no code of a kernel of tiles; empty if there is. Nothing is compiled."""
    try:
        print_llvm([lower(func, processor())], processor())
    except (Refused, NoInstruction) as reason:
        return str(reason)
    return ""


def _versions(funcs: Mapping[str, Func]) -> dict[str, str]:
    """What other versions of kernels are for."""
    large = f"writes results of {PAST_CACHES >> 20} MiB or more past the caches"
    return {
        name: large
        for name, func in funcs.items()
        if past_caches(func, range(len(func.arguments))) is not None
    }


def _fused(module: Module, given: bool = False) -> Fused:
    """Kernels as large as they may be, or with `BRIMSTONE_FUSE=0` one for each op."""
    func = complex_to_real(module.main)
    fused = fuse(func, apart=os.environ.get("BRIMSTONE_FUSE") == "0", given=given)
    if func is module.main:
        return fused
    return replace(fused, module=seen_as_complex(fused.module, module.main))
