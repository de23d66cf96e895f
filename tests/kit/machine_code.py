"""Runs funcs of the loop floor as machine code of this processor, as `run_loops` interprets them.

Comes in: funcs, arguments, the programs along the axes of the grid. Goes out: nothing; the arrays
that are handed in as buffers change.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from brimstone.ir.func import Func
from brimstone.ir.loop import run_loops
from brimstone.ir.types import Buffer
from brimstone.targets.llvm.compile import compile_text
from brimstone.targets.llvm.load import FFI, Kernels, load
from brimstone.targets.llvm.machines import CPU, MODELS, host
from brimstone.targets.llvm.printer import print_llvm
from kit.loops import same_bits

RUNNABLE = [model for model in MODELS.values() if model.vector_bytes <= host().vector_bytes]
RUNNABLE = [model for model in RUNNABLE if model.triple[:6] == host().triple[:6]]
"""The models whose code this processor runs."""


def compiled(funcs: Iterable[Func], machine: CPU | None = None) -> Kernels:
    """The funcs as machine code, all of one module."""
    funcs, machine = list(funcs), machine or host()
    text = print_llvm(funcs, machine)
    return load([compile_text(text, machine)], [func.name for func in funcs])


def run_machine_code(
    func: Func, arguments: Sequence[Any], *, programs: Sequence[int] = (1,)
) -> None:
    """Compile the func and run each program of the grid."""
    call(compiled([func])[func.name], func, arguments, programs)


def call(code: Any, func: Func, arguments: Sequence[Any], programs: Sequence[int] = (1,)) -> None:
    """Run the programs of a func that has been compiled."""
    pairs = zip(func.arguments, arguments, strict=True)
    slots = FFI.new("uint64_t[]", [slot(each.type, value) for each, value in pairs])
    counts = [*programs, *[1] * (3 - len(programs))]
    every = [end for count in counts for end in (0, count)]
    code(slots, FFI.new("int64_t[]", counts), FFI.new("int64_t[]", every))


def slot(type_: Any, value: Any) -> int:
    """The eight bytes in which an argument is handed over."""
    if isinstance(type_, Buffer):
        assert value.dtype == type_.dtype.storage
        return value.ctypes.data
    number = np.asarray(value, type_.dtype.storage)
    return int.from_bytes(number.tobytes().ljust(8, b"\xa5"), "little")


def agree(
    func: Func, arguments: Sequence[Any], programs: Sequence[int] = (1,), code: Any = None
) -> None:
    """Machine code leaves in all buffers what the interpreter leaves there."""
    expected, found = fresh(arguments), fresh(arguments)
    run_loops(func, expected, programs=programs)
    call(compiled([func])[func.name] if code is None else code, func, found, programs)
    for place, (here, there) in enumerate(zip(found, expected, strict=True)):
        assert same_bits(here, there), f"argument {place}: {here} is not {there}"


def fresh(arguments: Sequence[Any]) -> list[Any]:
    """Copies of what a kernel may change."""
    return [each.copy() if isinstance(each, np.ndarray) else each for each in arguments]
