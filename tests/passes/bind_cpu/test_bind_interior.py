"""Which programs of a row are those of the interior, as one comparison."""

from typing import Any

import numpy as np
import pytest

from brimstone.ir.func import Func
from brimstone.ir.loop import Compare, If, ProgramId, Select
from kit.bound import AVX512, MACHINES, Machine, bound, check, kernel

PLANE = """
func @plane<m: 0..65536, n: 0..65536>(
    %x: view<2, f32, {{size: [m, n], unit_stride: 1}}>,
    %y: view<2, f32, {{size: [m, n], unit_stride: 1}}>)
    with {{grid: [ceildiv(m, {rows}), ceildiv(n, 16)]}} {{
  %i = tile.program_id {{axis = 0}} : scalar<i64>
  %j = tile.program_id {{axis = 1}} : scalar<i64>
  %rows = tile.constant {{value = {rows}}} : scalar<i64>
  %columns = tile.constant {{value = 16}} : scalar<i64>
  %back = tile.constant {{value = {back}}} : scalar<i64>
  %row = tile.binary %i, %rows {{kind = multiply}} : scalar<i64>
  %column = tile.binary %j, %columns {{kind = multiply}} : scalar<i64>
  %before = tile.binary %column, %back {{kind = subtract}} : scalar<i64>
  %a = tile.load %x, %row, %before {{shape = [{rows}, 16], padding = 3.0}} : tile<[{rows}, 16], f32>
  %b = tile.binary %a, %a {{kind = add}} : tile<[{rows}, 16], f32>
  tile.store %y, %b, %row, %column
  return
}}
"""


def plane(rows: int = 1, back: int = 0) -> Func:
    """A kernel of blocks of so many rows, which reads so many columns further back."""
    return kernel(PLANE.format(rows=rows, back=back))


def predicate(func: Func) -> Any:
    """What the branch asks that tells the interior from the edge."""
    return next(op for op in bound(func, AVX512).walk() if isinstance(op, If)).predicate.op


@pytest.mark.parametrize("rows", [1, 2])
def test_a_place_in_the_row_is_compared(rows: int) -> None:
    found = predicate(plane(rows))
    assert isinstance(found, Compare)
    assert isinstance(found.left.op, ProgramId)
    assert found.left.op.axis == 1
    assert isinstance(found.right.op, Select) == (rows > 1)  # rows that stick out have no interior


def test_a_row_may_begin_outside() -> None:
    """Then its interior does not begin with it, and each program asks for itself."""
    places = [op for op in (predicate(plane(back=5)),) if isinstance(op, Compare)]
    assert not any(isinstance(op.left.op, ProgramId) for op in places)


@pytest.mark.parametrize("machine", MACHINES, ids=lambda each: each.name)
@pytest.mark.parametrize(("rows", "back"), [(1, 0), (2, 0), (3, 0), (2, 5)])
def test_all_programs_agree(machine: Machine, rows: int, back: int) -> None:
    func = plane(rows, back)
    for shape in [(0, 16), (1, 1), (2, 16), (3, 15), (4, 33), (5, 31), (7, 48), (6, 0)]:
        x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        check(func, [x, np.zeros_like(x)], machine)
