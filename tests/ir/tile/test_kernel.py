"""Running kernels: the grid, sizes, the order of programs, and what is refused."""

from typing import Any

import numpy as np
import pytest

from brimstone.ir import tile
from brimstone.ir.errors import ExecutionError
from brimstone.ir.func import Func
from brimstone.ir.interpreter import interpret
from brimstone.ir.parser import parse

TWICE = """
func @twice<n: 1..64>(%x: view<1, f32, {size: [n]}>, %y: view<1, f32, {size: [n]}>)
    with {grid: [ceildiv(n, 8)], tile: {m: 8}, warps: 4} {
  %place = tile.program_id {axis = 0} : scalar<i64>
  %size = tile.constant {value = 8} : scalar<i64>
  %at = tile.binary %place, %size {kind = multiply} : scalar<i64>
  %a = tile.load %x, %at {shape = [8], padding = 0.0} : tile<[8], f32>
  %b = tile.binary %a, %a {kind = add} : tile<[8], f32>
  tile.store %y, %b, %at
  return
}
"""
NUMBER = """
func @number(%y: view<3, i64>) with {grid: [2, 3, 4]} {
  %i = tile.program_id {axis = 0} : scalar<i64>
  %j = tile.program_id {axis = 1} : scalar<i64>
  %k = tile.program_id {axis = 2} : scalar<i64>
  %rows = tile.program_count {axis = 1} : scalar<i64>
  %columns = tile.program_count {axis = 2} : scalar<i64>
  %0 = tile.binary %i, %rows {kind = multiply} : scalar<i64>
  %1 = tile.binary %0, %j {kind = add} : scalar<i64>
  %2 = tile.binary %1, %columns {kind = multiply} : scalar<i64>
  %3 = tile.binary %2, %k {kind = add} : scalar<i64>
  %4 = tile.full %3 {shape = [1, 1, 1]} : tile<[1, 1, 1], i64>
  tile.store %y, %4, %i, %j, %k
  return
}
"""


def func(text: str) -> Func:
    return parse(text).main


@pytest.mark.parametrize("size", [1, 7, 8, 9, 61])
def test_the_grid_and_the_sizes_come_from_the_kernel(size: int) -> None:
    x = np.arange(size, dtype=np.float32)
    y = np.zeros_like(x)
    tile.run_kernel(func(TWICE), [x, y])
    np.testing.assert_array_equal(y, 2 * x)


def test_another_grid() -> None:
    x, y = np.ones(20, np.float32), np.zeros(20, np.float32)
    tile.run_kernel(func(TWICE), [x, y], (1,))
    assert y.tolist() == [2.0] * 8 + [0.0] * 12


def test_programs_are_numbered_in_row_major_order() -> None:
    y = np.zeros((2, 3, 4), np.int64)
    tile.run_kernel(func(NUMBER), [y])
    np.testing.assert_array_equal(y, np.arange(24).reshape(2, 3, 4))


def test_only_the_programs_in_the_order_run() -> None:
    y = np.zeros((2, 3, 4), np.int64)
    tile.run_kernel(func(NUMBER), [y], order=[23, 5])
    assert np.flatnonzero(y).tolist() == [5, 23]


def test_a_wrong_kernel_depends_on_the_order() -> None:
    """All programs store to one place, which the order option shows."""
    text = NUMBER.replace("%4, %i, %j, %k", "%4, %c0, %c0, %c0").replace(
        "  %i = ", "  %c0 = tile.constant {value = 0} : scalar<i64>\n  %i = "
    )
    y = np.zeros((1, 1, 1), np.int64)
    tile.run_kernel(func(text), [y])
    assert y == 23
    tile.run_kernel(func(text), [y], order=reversed(range(24)))
    assert y == 0


def test_numbers_are_arguments_too() -> None:
    kernel = func(
        """func @fill(%x: scalar<bf16>, %y: view<1, bf16>) with {grid: [1]} {
  %0 = tile.constant {value = 0} : scalar<i64>
  %a = tile.full %x {shape = [4]} : tile<[4], bf16>
  tile.store %y, %a, %0
  return
}
"""
    )
    y = np.zeros(3, kernel.arguments[0].dtype.storage)
    tile.run_kernel(kernel, [1.00390625, y])
    assert y.tolist() == [1.0] * 3
    tile.run_kernel(kernel, [np.asarray(2.5), y])
    assert y.tolist() == [2.5] * 3


def test_sizes_by_name() -> None:
    kernel = func(TWICE.replace(", {size: [n]}", ""))
    x, y = np.ones(20, np.float32), np.zeros(20, np.float32)
    tile.run_kernel(kernel, [x, y], sizes={"n": 9})
    assert y.sum() == 32
    with pytest.raises(ExecutionError, match="nothing says how large n is"):
        tile.run_kernel(kernel, [x, y])
    with pytest.raises(ExecutionError, match="n is 65, outside its declared range"):
        tile.run_kernel(kernel, [x, y], sizes={"n": 65})


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([np.zeros(4, np.float32)], "takes 2 arguments, not 1"),
        ([np.zeros(4, np.float32), 3.0], "is 3.0, not a window or an array"),
        ([np.zeros(4), np.zeros(4)], "is a window of rank 1 on float64"),
        ([np.zeros((2, 2), np.float32), np.zeros(2, np.float32)], "is a window of rank 2"),
        ([np.zeros(4, np.float32), np.zeros(5, np.float32)], "the fact size .* is false"),
    ],
)
def test_arguments_that_do_not_fit(arguments: list[Any], problem: str) -> None:
    with pytest.raises(ExecutionError, match=problem):
        tile.run_kernel(func(TWICE), arguments)


@pytest.mark.parametrize("grid", ["{warps: 4}", "{grid: []}", "{grid: [1, 2, 3, 4]}", "{grid: 4}"])
def test_a_grid_is_a_list_of_sizes(grid: str) -> None:
    with pytest.raises(ExecutionError, match="expected a list of 1 to 3 sizes"):
        tile.run_kernel(func(f"func @k() with {grid} {{\n  return\n}}\n"), [])


def test_a_kernel_takes_no_tensors() -> None:
    with pytest.raises(ExecutionError, match="a kernel takes views and scalars"):
        tile.run_kernel(func("func @k(%x: tile<[2], f32>) with {grid: [1]} {\n  return\n}\n"), [0])


def test_an_axis_that_the_grid_lacks() -> None:
    with pytest.raises(ExecutionError, match="the grid has 2 axes, no axis 2"):
        tile.run_kernel(func(NUMBER), [np.zeros((2, 3, 4), np.int64)], (2, 3))


def test_a_kernel_without_a_grid_has_no_programs() -> None:
    with pytest.raises(ExecutionError, match="there is no grid"):
        interpret(func(NUMBER), tile.view_of(np.zeros((2, 3, 4), np.int64)))
