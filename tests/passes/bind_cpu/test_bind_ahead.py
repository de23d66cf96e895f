"""What is asked for before it is needed: behind loads once for each line of the caches, behind
elements that are put at places which the data say."""

from typing import Any

import numpy as np
import pytest

from brimstone.ir import loop
from brimstone.ir.values import walk
from kit.bound import AVX512, MACHINES, Machine, bound, check, kernel

DOUBLED = """
func @doubled<n: 0..999>(%x: view<1, DTYPE, {size: [n], unit_stride: 0}>,
                         %y: view<1, DTYPE, {size: [n], unit_stride: 0}>)
    with {grid: [ceildiv(n, 32)], tile: {n: 32, ahead: AHEAD}} {
  %p = tile.program_id {axis = 0} : scalar<i64>
  %size = tile.constant {value = 32} : scalar<i64>
  %at = tile.binary %p, %size {kind = multiply} : scalar<i64>
  %a = tile.load %x, %at {shape = [32], padding = 0.0} : tile<[32], DTYPE>
  %near = tile.scratch {shape = [32], dtype = DTYPE} : view<1, DTYPE, {size: [32], unit_stride: 0}>
  %zero = tile.constant {value = 0} : scalar<i64>
  tile.store %near, %a, %zero
  %b = tile.load %near, %zero {shape = [32], padding = 0.0} : tile<[32], DTYPE>
  %c = tile.binary %a, %b {kind = add} : tile<[32], DTYPE>
  tile.store %y, %c, %at
  return
}
"""


def doubled(dtype: str = "f32", ahead: int = 2048) -> str:
    return DOUBLED.replace("DTYPE", dtype).replace("AHEAD", str(ahead))


def hints(text: str, machine: Machine = AVX512) -> list[loop.Prefetch]:
    body = bound(kernel(text), machine).body
    return [op for op in walk(body) if isinstance(op, loop.Prefetch)]


@pytest.mark.parametrize("machine", MACHINES, ids=lambda each: each.name)
@pytest.mark.parametrize("size", [0, 1, 32, 77])
def test_hints_change_nothing(machine: Machine, size: int) -> None:
    x = np.arange(size, dtype=np.float32)
    check(kernel(doubled()), [x, np.zeros_like(x)], machine)


@pytest.mark.parametrize("machine", MACHINES, ids=lambda each: each.name)
@pytest.mark.parametrize(("dtype", "lines"), [("f32", 2), ("f64", 4), ("bf16", 1)])
def test_a_hint_a_line_of_the_interior(machine: Machine, dtype: str, lines: int) -> None:
    """None where a block may stick out, and none of what the program itself keeps."""
    assert len(hints(doubled(dtype), machine)) == lines
    assert all(op.buffer.name == "x" for op in hints(doubled(dtype), machine))


ADDED = """
func @added<n: 0..999, m: 0..999>(%x: view<2, f32, {size: [n, m], unit_stride: 1}>,
                                  %row: view<1, f32, {size: [m], unit_stride: 0}>,
                                  %y: view<2, f32, {size: [n, m], unit_stride: 1}>)
    with {grid: [n, ceildiv(m, 16)], tile: {n: 16, ahead: 2048}} {
  %i = tile.program_id {axis = 0} : scalar<i64>
  %j = tile.program_id {axis = 1} : scalar<i64>
  %size = tile.constant {value = 16} : scalar<i64>
  %at = tile.binary %j, %size {kind = multiply} : scalar<i64>
  %a = tile.load %x, %i, %at {shape = [1, 16], padding = 0.0} : tile<[1, 16], f32>
  %b = tile.load %row, %at {shape = [16], padding = 0.0} : tile<[16], f32>
  %c = tile.broadcast %b {shape = [1, 16], axes = [1]} : tile<[1, 16], f32>
  %d = tile.binary %a, %c {kind = add} : tile<[1, 16], f32>
  tile.store %y, %d, %i, %at
  return
}
"""


def test_a_row_that_each_row_of_programs_reads_is_near() -> None:
    assert [op.buffer.name for op in hints(ADDED)] == ["x"]


def test_without_a_distance_there_are_none() -> None:
    assert not hints(doubled(ahead=0))


TWICE = """
func @twice<n: 0..999, m: 0..999>(%x: view<2, f32, {size: [n, m], unit_stride: 1}>,
                                  %y: view<1, f32, {size: [m], unit_stride: 0}>)
    with {grid: [ceildiv(m, 32)], tile: {n: 32, below: BELOW}} {
  %p = tile.program_id {axis = 0} : scalar<i64>
  %size = tile.constant {value = 32} : scalar<i64>
  %j = tile.binary %p, %size {kind = multiply} : scalar<i64>
  %zero = tile.constant {value = 0} : scalar<i64>
  %one = tile.constant {value = 1} : scalar<i64>
  %n = tile.extent %x {axis = 0} : scalar<i64>
  %none = tile.constant {value = 0.0} : scalar<f32>
  %start = tile.full %none {shape = [1, 32]} : tile<[1, 32], f32>
  %top = tile.for %zero, %n, %one, %start {label = "level0"}
      (%i: scalar<i64>, %old: tile<[1, 32], f32>) {
    %a = tile.load %x, %i, %j {shape = [1, 32], padding = 0.0} : tile<[1, 32], f32>
    %new = tile.binary %old, %a {kind = maximum} : tile<[1, 32], f32>
    yield %new
  } : tile<[1, 32], f32>
  %all = tile.for %zero, %n, %one, %start {label = "level1"}
      (%i: scalar<i64>, %old: tile<[1, 32], f32>) {
    %a = tile.load %x, %i, %j {shape = [1, 32], padding = 0.0} : tile<[1, 32], f32>
    %b = tile.binary %a, %top {kind = subtract} : tile<[1, 32], f32>
    %new = tile.binary %old, %b {kind = add} : tile<[1, 32], f32>
    yield %new
  } : tile<[1, 32], f32>
  %sum = tile.reshape %all {shape = [32]} : tile<[32], f32>
  tile.store %y, %sum, %j
  return
}
"""


@pytest.mark.parametrize("machine", MACHINES, ids=lambda each: each.name)
def test_rows_below_are_asked_for_while_others_pass_again(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once for each line, in the second pass alone, and of no row but those of the view."""
    text = TWICE.replace("BELOW", "64")
    found = hints(text, machine)
    assert len(found) == 2
    assert all(op.buffer.name == "x" and op.locality == 2 for op in found)
    assert not hints(TWICE.replace("BELOW", "0"), machine)
    asked = set[int]()

    def run(op: loop.Prefetch, frame: Any, buffer: Any, index: Any) -> tuple[()]:
        asked.add(int(index))
        return ()

    monkeypatch.setattr(loop.Prefetch, "run", run)
    for rows in (0, 1, 3, 70):
        asked.clear()
        x = np.arange(rows * 77, dtype=np.float32).reshape(rows, 77)
        check(kernel(text), [x, np.zeros(77, np.float32)], machine)
        wanted = {min(row + 64, rows - 1) for row in range(rows)}
        assert asked == {row * 77 + column for row in wanted for column in (0, 16, 32, 48)}


PUT = """
func @put<n: 0..999>(%to: view<1, i64, {size: [n], unit_stride: 0}>,
                     %x: view<1, f32, {size: [n], unit_stride: 0}>,
                     %y: view<1, f32, {size: [n], unit_stride: 0}>)
    with {grid: [1], tile: {n: 1, next: NEXT}} {
  %zero = tile.constant {value = 0} : scalar<i64>
  %one = tile.constant {value = 1} : scalar<i64>
  %n = tile.extent %x {axis = 0} : scalar<i64>
  %near = tile.scratch {shape = [4], dtype = f32} : view<1, f32, {size: [4], unit_stride: 0}>
  tile.for %zero, %n, %one (%at: scalar<i64>) {
    %where = tile.load %to, %at {shape = [1], padding = 0} : tile<[1], i64>
    %place = tile.extract %where : scalar<i64>
    %a = tile.load %x, %at {shape = [1], padding = 0.0} : tile<[1], f32>
    tile.store %near, %a, %zero
    tile.store %y, %a, %place
    yield
  }
  return
}
"""


@pytest.mark.parametrize("machine", MACHINES, ids=lambda each: each.name)
@pytest.mark.parametrize("next_", [0, 32])
def test_a_hint_behind_what_is_put(machine: Machine, next_: int) -> None:
    """Also behind the last element, and beside one that is put nowhere."""
    text = PUT.replace("NEXT", str(next_))
    assert [op.buffer.name for op in hints(text, machine)] == (["y"] if next_ else [])
    places = np.array([3, 0, 4, 99, 1, -1], np.int64)
    x = np.arange(6, dtype=np.float32)
    check(kernel(text), [places, x, np.zeros_like(x)], machine)
