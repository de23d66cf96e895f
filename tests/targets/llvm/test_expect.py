"""Flags of kernels that became errors: in the interpreter, and without Python."""

from typing import Any

import numpy as np
import pytest

from brimstone.ir.dtypes import BY_NAME, INTEGERS
from brimstone.ir.errors import ExecutionError
from brimstone.ir.interpreter import interpret
from brimstone.runtime.host import shared_host
from brimstone.targets.llvm.code import Code
from brimstone.targets.llvm.preparation import Preparation
from brimstone.targets.llvm.program import Program
from brimstone.targets.llvm.whole import is_whole
from kit.played import played
from kit.texts import read

STEP = """
func @f<n: 0..64>(%flags: array<[n], {dtype}>) -> array<[n], {dtype}> {{
  %y = step.allocate : array<[n], {dtype}>
  step.expect %flags {{by = "tensor.solve", problem = "Singular matrix"}}
  step.copy %flags, %y
  return %y
}}
"""


def program(dtype: str) -> Program:
    module = read(STEP.format(dtype=dtype))
    return Program(module.main, Code(lambda: module, {}), shared_host())


def wrong(storage: Any) -> list[Any]:
    """Flags of which one is not 0."""
    numbers = {1, int(np.iinfo(storage).max), int(np.iinfo(storage).min)} - {0}
    return [np.array([0, 0, number, 0], storage) for number in sorted(numbers)]


@pytest.mark.parametrize("dtype", sorted([each.name for each in INTEGERS]))
def test_a_flag_is_told_as_in_the_interpreter(dtype: str) -> None:
    step, storage = program(dtype), BY_NAME[dtype].storage
    for count in (0, 3):
        zeros = np.zeros(count, storage)
        assert interpret(step.code.module, zeros)[0].tolist() == zeros.tolist()
        assert played(step, [zeros])[0].tolist() == zeros.tolist()
    for flags in wrong(storage):
        with pytest.raises(ExecutionError, match=r"tensor\.solve: Singular matrix") as expected:
            interpret(step.code.module, flags)
        with pytest.raises(ExecutionError) as caught:
            played(step, [flags])
        assert str(caught.value) == str(expected.value)
        assert caught.value.location is expected.value.location


def test_python_has_no_part_in_it() -> None:
    step = program("i64")
    assert is_whole(Preparation(step, {symbol: 5 for symbol in step.main.symbols}))
