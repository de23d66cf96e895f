"""Indices that name no place: the errors are those of the interpreter."""

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
func @f<n: 0..64>(%x: array<[2, 3, 4], f32>, %i: array<[n, 2], {dtype}>) -> array<[2, 3, 4], f32> {{
  %y = step.allocate : array<[2, 3, 4], f32>
  step.inside %x, %i {{axes = [2, 1], by = "tensor.gather"}}
  step.copy %x, %y
  return %y
}}
"""
X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def program(dtype: str) -> Program:
    module = read(STEP.format(dtype=dtype))
    return Program(module.main, Code(lambda: module, {}), shared_host())


def wrong(storage: Any) -> list[tuple[int, int, int]]:
    """Places and numbers that are no indices there."""
    found = [(0, 0, 4), (4, 1, 3), (2, 0, int(np.iinfo(storage).max))]
    if np.iinfo(storage).min < 0:
        found += [(3, 1, -1), (0, 0, int(np.iinfo(storage).min))]
    return found


@pytest.mark.parametrize("dtype", sorted([each.name for each in INTEGERS]))
def test_the_first_index_that_names_no_place_is_told(dtype: str) -> None:
    step, storage = program(dtype), BY_NAME[dtype].storage
    indices = np.array([[0, 0], [3, 2], [1, 1], [2, 2], [3, 0]], storage)
    assert played(step, [X, indices])[0].tolist() == X.tolist()
    for place, column, number in wrong(storage):
        broken = indices.copy()
        broken[place, column] = number
        broken[4, 0] = 4
        with pytest.raises(ExecutionError) as expected:
            interpret(step.code.module, X, broken)
        with pytest.raises(ExecutionError) as caught:
            played(step, [X, broken])
        assert str(caught.value) == str(expected.value)
        assert caught.value.location is expected.value.location


def test_no_index_at_all() -> None:
    assert played(program("i64"), [X, np.zeros((0, 2), np.int64)])[0].tolist() == X.tolist()


def test_python_has_no_part_in_it() -> None:
    step = program("i32")
    preparation = Preparation(step, {symbol: 5 for symbol in step.main.symbols})
    assert is_whole(preparation)
