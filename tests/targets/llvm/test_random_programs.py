"""Random kernels as machine code do what they do in the interpreter, bit for bit."""

from random import Random
from typing import Any

import numpy as np
import pytest

from brimstone.ir.dtypes import BY_NAME
from brimstone.targets.llvm.compile import compile_text
from brimstone.targets.llvm.machines import CPU, MODELS
from brimstone.targets.llvm.printer import print_llvm
from kit.draw_loops import BUFFERS, LENGTH, draw_loops
from kit.machine_code import RUNNABLE, agree, compiled


@pytest.mark.parametrize("seed", range(60))
def test_machine_code_is_what_the_interpreter_says(seed: int) -> None:
    func = draw_loops(Random(seed))
    agree(func, arguments(seed))
    machine = RUNNABLE[seed % len(RUNNABLE)]
    agree(func, arguments(seed), code=compiled([func], machine)["drawn"])


@pytest.mark.parametrize("machine", MODELS.values(), ids=lambda machine: machine.name)
def test_every_machine_has_code_for_it(machine: CPU) -> None:
    for seed in range(3):
        assert compile_text(print_llvm([draw_loops(Random(seed))], machine), machine)


def arguments(seed: int) -> list[Any]:
    source = np.random.default_rng(seed)
    floats = source.standard_normal(LENGTH).astype(np.float32)
    others = [source.integers(0, 9, LENGTH) for _ in BUFFERS[1:]]
    cast = [
        each.astype(BY_NAME[name].storage) for each, name in zip(others, BUFFERS[1:], strict=True)
    ]
    return [floats, *cast, seed, 0.5]
