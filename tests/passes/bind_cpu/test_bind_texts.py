"""What four kernels look like: as a person would write them for a machine of 16 lanes.

Each file holds a tile func, as tiling writes it, and its loop func; `--update-golden` writes the
latter.
"""

from pathlib import Path

import numpy as np
import pytest

from brimstone.ir.parser import parse
from brimstone.ir.printer import print_func
from kit.bound import AVX512, SSE, bound, check, kernel

FOLDER = Path(__file__).with_name("texts")
BETWEEN = "// ----\n"


@pytest.mark.parametrize("name", ["chain", "columns", "matmul", "softmax"])
def test_texts(name: str, request: pytest.FixtureRequest) -> None:
    path = FOLDER / f"{name}.txt"
    before, _, expected = path.read_text(encoding="utf-8").partition(BETWEEN)
    made = print_func(bound(kernel(before), AVX512))
    assert print_func(parse(made).main) == made
    if request.config.getoption("--update-golden"):
        path.write_text(f"{before}{BETWEEN}{made}", encoding="utf-8")
        return
    assert made == expected, f"{path.name}; --update-golden writes what is made now"


def test_a_schedule_may_ask_for_shorter_vectors() -> None:
    text = """
func @doubled(%x: view<1, f32>, %y: view<1, f32>) with {grid: [4], tile: {n: 32, lanes: 8}} {
  %at = tile.constant {value = 0} : scalar<i64>
  %a = tile.load %x, %at {shape = [32], padding = 0.0} : tile<[32], f32>
  %b = tile.binary %a, %a {kind = add} : tile<[32], f32>
  tile.store %y, %b, %at
  return
}"""
    printed = {machine: print_func(bound(kernel(text), machine)) for machine in (AVX512, SSE)}
    assert "vec<8, f32>" in printed[AVX512]
    assert "vec<16, f32>" not in printed[AVX512]
    assert "vec<4, f32>" in printed[SSE], "a register that has fewer is filled"
    assert "vec<8, f32>" not in printed[SSE]


@pytest.mark.parametrize("ahead", ["", ", ahead: 256"])
def test_a_schedule_may_ask_for_lines_before_they_are_read(ahead: str) -> None:
    """Once for each line of 64 bytes of what is read whole, though vectors are shorter."""
    text = f"""
func @total(%x: view<1, f32, {{unit_stride: 0}}>, %y: view<0, f32>)
    with {{grid: [1], tile: {{n: 32, lanes: 8{ahead}}}}} {{
  %zero = tile.constant {{value = 0}} : scalar<i64>
  %by = tile.constant {{value = 32}} : scalar<i64>
  %n = tile.extent %x {{axis = 0}} : scalar<i64>
  %none = tile.constant {{value = -0.0}} : scalar<f32>
  %first = tile.full %none {{shape = [32]}} : tile<[32], f32>
  %sums = tile.for %zero, %n, %by, %first (%at: scalar<i64>, %before: tile<[32], f32>) {{
    %a = tile.load %x, %at {{shape = [32], padding = 0.0}} : tile<[32], f32>
    %after = tile.binary %before, %a {{kind = add}} : tile<[32], f32>
    yield %after
  }} : tile<[32], f32>
  %sum = tile.reduce %sums {{axis = 0, kind = sum}} : tile<[], f32>
  tile.store %y, %sum
  return
}}"""
    func = kernel(text)
    lines = print_func(bound(func, AVX512)).count("loop.prefetch")
    assert lines == (2 if ahead else 0)
    check(func, [np.arange(77, dtype=np.float32), np.zeros((), np.float32)])
