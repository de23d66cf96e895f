"""Launches of kernels of the tile floor."""

import numpy as np
import pytest

from brimstone.ir.interpreter import interpret
from kit.texts import failing, read, refused

F32 = np.float32

KERNEL = """
func @add<n: 0..64>(%x: view<1, f32, {size: [n]}>, %s: scalar<i64>, %y: view<1, f32, {size: [n]}>)
    with {grid: [ceildiv(n, 4)]} {
  %place = tile.program_id {axis = 0} : scalar<i64>
  %size = tile.constant {value = 4} : scalar<i64>
  %at = tile.binary %place, %size {kind = multiply} : scalar<i64>
  %a = tile.load %x, %at {shape = [4], padding = 0.0} : tile<[4], f32>
  %t = tile.cast %s {dtype = f32} : scalar<f32>
  %c = tile.full %t {shape = [4]} : tile<[4], f32>
  %b = tile.binary %a, %c {kind = add} : tile<[4], f32>
  tile.store %y, %b, %at
  return
}
"""


def launching(op: str = "step.launch [%x, %n], %y {kernel = @add, grid = []}") -> str:
    return f"""
func @f<m: 0..64>(%x: array<[m], f32>, %y: array<[m], f32>) {{
  %n = step.dim %x {{axis = 0}} : scalar<i64>
  {op}
  return
}}
{KERNEL}"""


@pytest.mark.parametrize("grid", ["[]", "[ceildiv(m, 4)]"])
@pytest.mark.parametrize("size", [0, 1, 7, 16])
def test_every_program_of_the_grid_runs(size: int, grid: str) -> None:
    x, y = np.arange(size, dtype=F32), np.zeros(size, F32)
    program = launching(f"step.launch [%x, %n], %y {{kernel = @add, grid = {grid}}}")
    interpret(read(program), x, y)
    assert (y == x + size).all()


def test_the_grid_of_the_launch_decides() -> None:
    x, y = np.arange(7, dtype=F32), np.zeros(7, F32)
    program = launching("step.launch [%x, %n], %y {kernel = @add, grid = [1]}")
    interpret(read(program), x, y)
    assert y.tolist() == [7, 8, 9, 10, 0, 0, 0]


def test_a_kernel_may_work_in_place() -> None:
    x = np.arange(7, dtype=F32)
    interpret(read(launching()), x, x)
    assert (x == np.arange(7) + 7).all()


@pytest.mark.parametrize(
    ("program", "problem"),
    [
        (
            launching("step.launch [%x], %y {kernel = @add, grid = []}"),
            "@add has 3 arguments, the launch 2",
        ),
        (
            launching("step.launch [%n, %n], %y {kernel = @add, grid = []}"),
            "argument 0 of @add is a view<1, f32, {size: [n]}>, and no window on scalar<i64>",
        ),
        (
            launching("step.launch [%x, %x], %y {kernel = @add, grid = []}"),
            "argument 1 of @add is a scalar<i64>, and no window on array<[m], f32>",
        ),
        (launching().replace("%y: array<[m], f32>", "%y: array<[m], f64>"), "argument 2 of @add"),
        (launching().replace("%y: array<[m]", "%y: array<[m, 1]"), "argument 2 of @add"),
        (
            launching().replace("with {grid: [ceildiv(n, 4)]} ", ""),
            "neither the launch nor @add states a grid",
        ),
        (
            launching().replace("with {grid", "-> scalar<f32> with {grid")
            .replace(", %at\n  return", ", %at\n  return %t"),
            "@add returns values; a kernel of views stores them",
        ),
    ],
)  # fmt: skip
def test_a_launch_that_does_not_fit(program: str, problem: str) -> None:
    assert problem in refused(program)


def test_a_fact_that_the_memory_makes_false() -> None:
    program = launching().replace("%y: view<1, f32, {size: [n]}>", "%y: view<1, f32, {size: [9]}>")
    assert "the fact size" in failing(program, np.zeros(7, F32), np.zeros(7, F32))
