"""What `compile_step` makes of a module, in words.

Comes in: a module whose main func is on the tensor floor. Goes out: its `Account`.
Never: a kernel that is compiled.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...ir.func import Func, Module
from ...passes.bind_cpu import Refused
from ...passes.complex_to_real import names_of_parts
from ...passes.copying import copy_func
from ...passes.gather_launches import gather_launches
from ...passes.past_caches import past_caches
from ...passes.spare_copies import spare_copies
from ...passes.tiling import tile
from ..account import Account, make_account
from ..script import Host
from .code import is_known
from .descent import fused
from .lower import lower
from .machines import host as processor
from .naming import name_of
from .preparation import past_caches_from
from .printer import print_llvm
from .road import compile_step, is_apart
from .schedules import chooser
from .writer import Refused as NoInstruction

KEPT_AT_MOST = 4096
FOR_LARGE = "where it is large, numpy is quicker"
"""Of a kernel that stays one of tensors for some sizes."""
_REASONS: dict[str, str] = {}
"""Why there is no code of kernels, or nothing, by the names that their code has."""


def account(module: Module, names: Sequence[str], host: Host) -> Account:
    """What `compile_step` makes of a module, in words; `names` are those of its arguments."""
    program = compile_step(module, host)
    parts = fused(module, apart=is_apart())
    tiled = tile(parts.module, chooser(processor()))
    spare_copies(tiled.module)
    funcs = {name: tiled.module[name] for name in tiled.kernels}
    refused = {name: reason for name, func in funcs.items() if (reason := refusal(func))}
    runs = "kernels run one after the other"
    _, *kernels = tiled.module
    together = gather_launches(Module([copy_func(tiled.module.main), *kernels])).together
    if len(parts.part.clusters.graph.func.arguments) > len(names):
        names = names_of_parts(module.main, names)
    interpreted = {**tiled.refused, **refused}
    made = make_account(runs, parts, tiled, together, interpreted, names, _versions(funcs))
    return replace(made, memory=program.memory)


def refusal(func: Func) -> str:
    """Why there is no code of a kernel of tiles; empty if there is. Nothing is compiled."""
    if func.results:  # of tensors
        return FOR_LARGE
    name = name_of(func)
    if is_known(name):
        return ""
    if name not in _REASONS:
        if len(_REASONS) >= KEPT_AT_MOST:
            _REASONS.clear()
        _REASONS[name] = _refusal(func)
    return _REASONS[name]


def _refusal(func: Func) -> str:
    try:
        print_llvm([lower(func, processor())], processor())
    except (Refused, NoInstruction) as reason:
        return str(reason)
    return ""


def _versions(funcs: Mapping[str, Func]) -> dict[str, str]:
    """What other versions of kernels are for."""
    large = f"writes results of {past_caches_from() >> 20} MiB or more past the caches"
    return {
        name: large
        for name, func in funcs.items()
        if past_caches(func, range(len(func.arguments))) is not None
    }
