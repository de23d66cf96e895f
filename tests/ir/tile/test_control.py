"""Loops and branches: what they carry, what they refuse, and what is assumed."""

import numpy as np
import pytest

from brimstone.ir import tile
from brimstone.ir.errors import ExecutionError, VerifyError
from brimstone.ir.parser import parse
from brimstone.ir.printer import print_module

FIBONACCI = """func @k(%n: scalar<i64>, %step: scalar<i64>, %y: view<1, i64>) with {grid: [1]} {
  %zero = tile.constant {value = 0} : scalar<i64>
  %one = tile.constant {value = 1} : scalar<i64>
  %d, %e = tile.for %zero, %n, %step, %zero, %one {label = "k"} (HEAD) {
    %c = tile.binary %a, %b {kind = add} : scalar<i64>
    yield %b, %c
  } : scalar<i64>, scalar<i64>
  %t = tile.full %d {shape = [1]} : tile<[1], i64>
  tile.store %y, %t, %zero
  return
}
""".replace("HEAD", "%i: scalar<i64>, %a: scalar<i64>, %b: scalar<i64>")
BRANCH = """func @branch(%p: scalar<bool>, %y: view<1, i64>) with {grid: [1]} {
  %zero = tile.constant {value = 0} : scalar<i64>
  %one = tile.constant {value = 1} : scalar<i64>
  tile.if %p () {
    %t = tile.full %one {shape = [1]} : tile<[1], i64>
    tile.store %y, %t, %zero
    yield
  } () {
    tile.for %zero, %one, %one (%i: scalar<i64>) {
      %t_1 = tile.full %zero {shape = [1]} : tile<[1], i64>
      tile.store %y, %t_1, %i
      yield
    }
    yield
  }
  return
}
"""


def test_a_loop_carries_values() -> None:
    func = parse(FIBONACCI).main
    found: list[int] = []
    for rounds in (-3, 0, 1, 10):
        y = np.zeros(1, np.int64)
        tile.run_kernel(func, [rounds, 1, y])
        found.append(int(y[0]))
    assert found == [0, 0, 1, 55]


def test_a_loop_ends_below_its_upper_bound() -> None:
    y = np.zeros(1, np.int64)
    tile.run_kernel(parse(FIBONACCI).main, [10, 4, y])
    assert y == 2


@pytest.mark.parametrize("step", [0, -1])
def test_a_step_is_positive(step: int) -> None:
    with pytest.raises(ExecutionError, match=r":4: tile.for: the step is not positive"):
        tile.run_kernel(parse(FIBONACCI).main, [10, step, np.zeros(1, np.int64)])


@pytest.mark.parametrize("text", [FIBONACCI, BRANCH])
def test_text_says_all(text: str) -> None:
    assert print_module(parse(text)) == text


@pytest.mark.parametrize("predicate", [True, False])
def test_only_one_branch_runs(predicate: bool) -> None:
    y = np.full(1, 7)
    tile.run_kernel(parse(BRANCH).main, [predicate, y])
    assert y == predicate


def test_a_branch_yields_what_it_likes() -> None:
    text = """func @choose(%p: scalar<bool>, %y: view<1, f32>) with {grid: [1]} {
  %zero = tile.constant {value = 0} : scalar<i64>
  %t = tile.if %p, %zero (%c: scalar<i64>) {
    %x = tile.cast %c {dtype = f32} : scalar<f32>
    %t_1 = tile.full %x {shape = [2]} : tile<[2], f32>
    yield %t_1
  } (%c_1: scalar<i64>) {
    %t_2 = tile.load %y, %c_1 {shape = [2], padding = 1.0} : tile<[2], f32>
    yield %t_2
  } : tile<[2], f32>
  %s = tile.reduce %t {axis = 0, kind = sum} : tile<[], f32>
  %all = tile.reshape %s {shape = [1]} : tile<[1], f32>
  tile.store %y, %all, %zero
  return
}
"""
    assert print_module(parse(text)) == text
    for predicate, expected in ((True, 0.0), (False, 9.0)):
        y = np.full(1, 8, np.float32)
        tile.run_kernel(parse(text).main, [predicate, y])
        assert y == expected


def test_what_is_assumed_must_hold() -> None:
    func = parse(
        "func @k(%p: scalar<bool>) with {grid: [1]} {\n  tile.assume %p\n  return\n}\n", "k.ir"
    ).main
    tile.run_kernel(func, [True])
    with pytest.raises(
        ExecutionError, match=r"k\.ir:2: tile.assume: what is assumed does not hold"
    ):
        tile.run_kernel(func, [False])


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("yield %b, %c", "yield %b", "the region body yields .* expected"),
        ("%i: scalar<i64>,", "%i: scalar<i32>,", "the region body takes .* expected"),
        ("(%i: scalar<i64>, ", "(", "the region body takes .* expected"),
        ("%n: scalar<i64>", "%n: scalar<i32>", "upper has type scalar<i32>"),
        ("} : scalar<i64>, scalar<i64>", "} : scalar<i64>, scalar<i32>", "the result has type"),
    ],
)
def test_a_loop_that_does_not_fit(old: str, new: str, problem: str) -> None:
    with pytest.raises(VerifyError, match=problem):
        parse(FIBONACCI.replace(old, new))


def test_branches_that_do_not_agree() -> None:
    with pytest.raises(VerifyError, match="the region on_false yields"):
        parse(BRANCH.replace("    yield\n  }\n  return", "    yield %one\n  }\n  return"))


def test_a_branch_yields_no_view() -> None:
    text = """func @k(%p: scalar<bool>, %x: view<1, f32>) with {grid: [1]} {
  %v = tile.if %p () {
    yield %x
  } () {
    yield %x
  } : view<1, f32>
  return
}
"""
    with pytest.raises(VerifyError, match="a branch yields scalars and tiles"):
        parse(text)
