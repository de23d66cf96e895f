"""Errors of indices, asked for before a kernel runs."""

import numpy as np
import pytest

from brimstone.ir.errors import ExecutionError
from brimstone.ir.interpreter import interpret
from kit.texts import read, refused


def check(axes: str = "[0, 2]", count: int = 2) -> str:
    return f"""
func @f<n: 0..9, k: 0..9>(%x: array<[n, 4, 3], f32>, %at: array<[k, {count}], i32>) {{
  step.inside %x, %at {{axes = {axes}, by = "tensor.gather"}}
  return
}}
"""


@pytest.mark.parametrize(
    ("rows", "places", "problem"),
    [
        (2, [[0, 0], [1, 2]], None),
        (0, np.zeros((0, 2)), None),
        (2, [[0, 0], [2, 0]], "tensor.gather: index 2 at [1] is outside axis 0 of size 2"),
        (2, [[1, 3]], "tensor.gather: index 3 at [0] is outside axis 2 of size 3"),
        (2, [[-1, 0]], "tensor.gather: index -1 at [0] is outside axis 0 of size 2"),
        (0, [[0, 0]], "tensor.gather: index 0 at [0] is outside axis 0 of size 0"),
    ],
)
def test_places(rows: int, places: object, problem: str | None) -> None:
    arguments = np.zeros((rows, 4, 3), np.float32), np.array(places, np.int32)
    if problem is None:
        interpret(read(check()), *arguments)
        return
    with pytest.raises(ExecutionError) as caught:
        interpret(read(check()), *arguments)
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("program", "problem"),
    [(check("[0, 3]"), "axes = [0, 3]"), (check("[0]"), "no index for each of [0]")],
)
def test_a_check_that_breaks_a_rule(program: str, problem: str) -> None:
    assert problem in refused(program)
