"""Every op as Triton source, run by Triton's interpreter at odd and negative strides."""

from typing import Any

import numpy as np
import pytest

from brimstone.ir import tile
from brimstone.ir.parser import parse
from brimstone.targets.triton import Refused, print_triton
from kit.interpret import run_triton
from kit.kernels import window_on
from kit.tile_cases import CASES, built

REFUSED = {"tile.scratch": "no memory of one program", "tile.scaled_dot": "one scale for 32"}


@pytest.mark.parametrize("name", [name for name in CASES if name not in REFUSED])
def test_an_op(name: str) -> None:
    func, case = built(name).main, CASES[name]
    arrays = [*case.inputs, np.zeros_like(case.result)]
    windows: list[Any] = [window_on(array, place) for place, array in enumerate(arrays)]
    run_triton(func, windows)
    np.testing.assert_array_equal(windows[-1].array(), case.result)
    assert all(tile.is_intact(window) for window in windows)


@pytest.mark.parametrize("name", REFUSED)
def test_what_triton_cannot(name: str) -> None:
    with pytest.raises(Refused, match=REFUSED[name]):
        print_triton(built(name).main)


NUMBERS = """
func @numbers(%a: scalar<f32>, %b: scalar<bf16>, %c: scalar<i64>, %d: scalar<f64>, %e: scalar<bool>,
    %f: scalar<u8>, %y: view<1, f64>) with {grid: [1]} {
  %0 = tile.cast %a {dtype = f64} : scalar<f64>
  %1 = tile.cast %b {dtype = f64} : scalar<f64>
  %2 = tile.cast %c {dtype = f64} : scalar<f64>
  %3 = tile.cast %e {dtype = f64} : scalar<f64>
  %4 = tile.cast %f {dtype = f64} : scalar<f64>
  %5 = tile.binary %0, %1 {kind = add} : scalar<f64>
  %6 = tile.binary %5, %2 {kind = multiply} : scalar<f64>
  %7 = tile.binary %6, %d {kind = add} : scalar<f64>
  %8 = tile.binary %7, %3 {kind = add} : scalar<f64>
  %9 = tile.binary %8, %4 {kind = multiply} : scalar<f64>
  %tile = tile.full %9 {shape = [4]} : tile<[4], f64>
  %zero = tile.constant {value = 0} : scalar<i64>
  tile.store %y, %tile, %zero
  return
}
"""
SWAP = """
func @swap(%y: view<1, i64>) with {grid: [1]} {
  %0 = tile.constant {value = 0} : scalar<i64>
  %1 = tile.constant {value = 1} : scalar<i64>
  %rounds = tile.constant {value = 70} : scalar<i64>
  %low, %high = tile.for %0, %rounds, %1, %0, %1
      (%at: scalar<i64>, %a: scalar<i64>, %b: scalar<i64>) {
    %next = tile.binary %a, %b {kind = add} : scalar<i64>
    yield %b, %next
  } : scalar<i64>, scalar<i64>
  %even = tile.compare %low, %high {kind = less} : scalar<bool>
  tile.if %even () {
    %made = tile.full %low {shape = [2]} : tile<[2], i64>
    tile.store %y, %made, %1
    yield
  } () {
    yield
  }
  return
}
"""


def test_numbers_are_parameters() -> None:
    arguments = [1.5, 0.25, 1 << 40, 0.1, True, 200]
    expected, made = np.zeros(3), np.zeros(3)
    tile.run_kernel(parse(NUMBERS).main, [*arguments, expected])
    run_triton(parse(NUMBERS).main, [*arguments, made])
    np.testing.assert_array_equal(made, expected)
    assert made[0] > 1 << 48


def test_carried_numbers_change_at_once() -> None:
    """The 70th number of Fibonacci needs 48 bits, though what the loop begins with needs one."""
    made = np.zeros(4, np.int64)
    run_triton(parse(SWAP).main, [made])
    assert made.tolist() == [0, 190392490709135, 190392490709135, 0]
