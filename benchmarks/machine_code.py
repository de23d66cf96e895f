"""Machine code of a kernel that is written as a text of the loop floor.

Comes in: a text whose func is called `kernel`, and a machine. Goes out: what runs it on numpy's
arrays and on numbers, in the order of its arguments.
Never: a check of shapes; the text says how far it reads.
"""

from typing import Any

import numpy as np

import brimstone.ir.dialects  # noqa: F401 (declares the ops that texts name)
from brimstone.ir.parser import parse
from brimstone.passes.expand import expand
from brimstone.targets.llvm.compile import compile_text
from brimstone.targets.llvm.load import FFI, load
from brimstone.targets.llvm.machines import CPU
from brimstone.targets.llvm.printer import print_llvm

Array = np.ndarray[Any, Any]

ONE_PROGRAM = [0, 1] * 3
"""From the first to the last along each axis of the grid."""


class MachineCode:
    """Called with arrays, of which it is handed the addresses, and with whole numbers."""

    def __init__(self, text: str, machine: CPU) -> None:
        func = parse(text).main
        expand(func, machine)
        objects = [compile_text(print_llvm([func], machine), machine)]
        self.code = load(objects, ["kernel"])["kernel"]
        self.grid = FFI.new("int64_t[]", ONE_PROGRAM[1::2])
        self.range = FFI.new("int64_t[]", ONE_PROGRAM)

    def __call__(self, *given: Array | int) -> None:
        slots = [each if isinstance(each, int) else each.ctypes.data for each in given]
        self.code(FFI.new("uint64_t[]", slots), self.grid, self.range)
