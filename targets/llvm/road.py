"""The road from a func of tensors to a program of machine code.

Comes in: a module whose main func is on the tensor floor. Goes out: a `Program`, read from disk
where this very step has been lowered before.
Never: a pass that is loaded where there is nothing to lower. A kernel for which there are no tiles,
or no loops, runs in the interpreter; `Program.code.refused` says which, and why.
"""

import os
from collections.abc import Mapping

from ...ir.func import Func, Module
from ..limits import limits_of
from ..script import Host
from .cache import default_cache
from .code import Changed, Code
from .machines import CPU
from .machines import host as processor
from .program import Program
from .stored import How, place_of, text_of


def compile_step(module: Module, host: Host, runs: bool = False) -> Program:
    """Lower a step to tiles, or read it from disk; its kernels are compiled when they are first
    launched, which will be soon if it `runs`."""
    limits, how = limits_of(module.main), How(processor(), is_apart())
    place = place_of(module, how, default_cache())
    found = place.get()
    if found is not None:
        code = Code(_Again(module, how, found.main), {}, found.heads, found.versions)
        return Program(found.main, code, host, limits, place)
    if runs and place.is_new():
        expect(sum(1 for _ in module.main.walk()), how.machine)
    made, refused = lowered(module, how, given=True)
    return Program(made.main, Code(lambda: made, refused), host, limits, place)


def is_apart() -> bool:
    """Whether each op is to be a kernel, as `BRIMSTONE_FUSE=0` says."""
    return os.environ.get("BRIMSTONE_FUSE") == "0"


def lowered(module: Module, how: How, given: bool) -> tuple[Module, Mapping[str, str]]:
    """The step with its kernels; what lowers it is loaded only now."""
    from .descent import descend

    return descend(module, how.machine, apart=how.apart, given=given)


def expect(ops: int, machine: CPU) -> None:
    """Have a helper get ready to compile what is lowered meanwhile."""
    from .workers import workers

    workers().expect(ops, machine)


class _Again:
    """Lowers a step that was read from disk, once somebody wants the body of a kernel. Until then
    it holds the module, which holds functions that the step calls on the host."""

    def __init__(self, module: Module, how: How, main: Func) -> None:
        self._module, self._how, self._main = module, how, main
        self._made: Module | None = None

    def __call__(self) -> Module:
        if self._made is None:
            made, _ = lowered(self._module, self._how, given=False)
            if text_of(made.main) != text_of(self._main):
                raise Changed
            self._made = self._made or made  # of several threads the first wins
        return self._made
