"""What a block does after its last loop: with masks or without, and the loop is written once."""

from typing import Any

import numpy as np
import pytest

from brimstone.ir import loop
from brimstone.ir.func import Func
from brimstone.ir.values import walk
from kit.bound import AVX512, MACHINES, Machine, bound, check, kernel

ALL = pytest.mark.parametrize("machine", MACHINES, ids=lambda each: each.name)
MASKED = (loop.LoadMasked, loop.StoreMasked, loop.Gather, loop.Scatter)
SUMS = """
func @sums<k: 0..64, m: 0..64, n: 0..64>(
    %x: view<3, f32, {{size: [k, 4, 32], dense: 3}}>,
    %y: view<2, f32, {{size: [m, n], unit_stride: 1}}>,
    %z: view<2, f32, {{size: [m, n], unit_stride: 1}}>) with {{grid: [ceildiv(m, 4)]}} {{
  %place = tile.program_id {{axis = 0}} : scalar<i64>
  %zero = tile.constant {{value = 0}} : scalar<i64>
  %one = tile.constant {{value = 1}} : scalar<i64>
  %rows = tile.constant {{value = 4}} : scalar<i64>
  %columns = tile.constant {{value = 32}} : scalar<i64>
  %nothing = tile.constant {{value = 0.0}} : scalar<f32>
  %row = tile.binary %place, %rows {{kind = multiply}} : scalar<i64>
  %k = tile.extent %x {{axis = 0}} : scalar<i64>
  %n = tile.extent %z {{axis = 1}} : scalar<i64>
  tile.for %zero, %n, %columns (%column: scalar<i64>) {{
    {before}
    %start = tile.full %nothing {{shape = [4, 32]}} : tile<[4, 32], f32>
    %sum = tile.for %zero, %k, %one, %start (%i: scalar<i64>, %so: tile<[4, 32], f32>) {{
      %a = tile.load %x, %i, %zero, %zero
        {{shape = [1, 4, 32], padding = 0.0}} : tile<[1, 4, 32], f32>
      %b = tile.reshape %a {{shape = [4, 32]}} : tile<[4, 32], f32>
      %c = tile.binary %so, %b {{kind = add}} : tile<[4, 32], f32>
      yield %c
    }} : tile<[4, 32], f32>
    {after}
    %all = tile.binary %sum, %d {{kind = add}} : tile<[4, 32], f32>
    tile.store %z, %all, %row, %column
    yield
  }}
  return
}}
"""
LOADED = "%d = tile.load %y, {at}, %column {{shape = [4, 32], padding = 0.0}} : tile<[4, 32], f32>"
INSIDE = LOADED.format(at="%row")
LOWER = "%at = tile.binary %row, %one {kind = add} : scalar<i64>\n    " + LOADED.format(at="%at")
HALVED = "%at = tile.binary %row, %rows {kind = divide} : scalar<i64>\n    " + LOADED.format(
    at="%at"
)
TESTED = (
    "%p = tile.compare %column, %zero {kind = less} : scalar<bool>\n    "
    "%at = tile.select %p, %zero, %row : scalar<i64>\n    " + LOADED.format(at="%at")
)
CHOSEN = """%p = tile.compare %column, %zero {kind = less_equal} : scalar<bool>
    %d = tile.if %p () {
      %lower = tile.binary %row, %one {kind = add} : scalar<i64>
      %e = tile.load %y, %lower, %column {shape = [4, 32], padding = 0.0} : tile<[4, 32], f32>
      yield %e
    } () {
      %f = tile.load %y, %row, %column {shape = [4, 32], padding = 0.0} : tile<[4, 32], f32>
      yield %f
    } : tile<[4, 32], f32>"""
TEXTS = {
    "read after the loop": SUMS.format(before="", after=INSIDE),
    "read at a place that is computed there": SUMS.format(before="", after=LOWER),
    "read where nobody can tell before": SUMS.format(before="", after=TESTED),
    "read in a branch": SUMS.format(before="", after=CHOSEN),
    "read at a quotient": SUMS.format(before="", after=HALVED),
    "read before the loop": SUMS.format(before=INSIDE, after=""),
}


def loops(func: Func) -> list[loop.For]:
    """The loops that sum."""
    return [op for op in func.walk() if isinstance(op, loop.For) and op.carries]


@ALL
@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize(("m", "n"), [(0, 5), (1, 1), (4, 32), (5, 33), (7, 64), (8, 31), (3, 0)])
def test_sums(machine: Machine, name: str, m: int, n: int) -> None:
    generator = np.random.default_rng(m + n)
    x, y = (generator.integers(-9, 10, shape).astype(np.float32) for shape in ((3, 4, 32), (m, n)))
    check(kernel(TEXTS[name]), [x, y, np.zeros((m, n), np.float32)], machine)


@pytest.mark.parametrize("name", [*TEXTS][:2])
def test_a_loop_with_nothing_to_check_is_written_once(name: str) -> None:
    made = bound(kernel(TEXTS[name]), AVX512)
    (summing,) = loops(made)
    (choice,) = [op for op in made.walk() if isinstance(op, loop.If)]
    assert not any(isinstance(op, MASKED) for op in [*summing.body, *walk(choice.on_true)])
    masked = [op for op in walk(choice.on_false) if isinstance(op, MASKED)]
    assert len(masked) == len([op for op in walk(choice.on_true) if is_vector(op)])


def is_vector(op: Any) -> bool:
    return isinstance(op, loop.LoadVector | loop.StoreVector)


def test_what_a_loop_shares_with_its_tail_is_told_of_all() -> None:
    """Where blocks are loaded before the loop, too, the program is written twice, not its tail."""
    made = bound(kernel(TEXTS["read before the loop"]), AVX512)
    assert len(loops(made)) > 1
    assert not any(isinstance(op, loop.If) for each in loops(made) for op in walk(each.body))
