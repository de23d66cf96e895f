"""What four kernels look like: as a person would write them for a machine of 16 lanes.

Each file holds a tile func, as tiling writes it, and its loop func; `--update-golden` writes the
latter.
"""

from pathlib import Path

import pytest

from brimstone.ir.parser import parse
from brimstone.ir.printer import print_func
from kit.bound import AVX512, SSE, bound, kernel

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
