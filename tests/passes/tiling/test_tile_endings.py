"""Maps that follow a contraction are computed where its sums are stored."""

from typing import Any

import numpy as np
import pytest

from brimstone.ir import tensor, tile
from brimstone.ir.func import Func, Module
from brimstone.ir.interpreter import interpret
from brimstone.passes.fuse import fuse
from brimstone.passes.oracle import difference
from brimstone.passes.tiling import tile as tiled_module
from kit.contractions import SMALL
from kit.endings import ENDINGS, ending
from kit.fusing import func_of
from kit.tiling import arrays_for, runs, sizes_of, tiled

MANY = 5
ROWS = {**SMALL, "rows": 1}


@pytest.mark.parametrize(
    ("name", "rows"),
    [*((name, 1) for name in ENDINGS), ("both", 2), ("turned", 3), ("heads beside", 3)],
)
def test_an_ending_changes_no_bit(name: str, rows: int) -> None:
    func = ending(name)
    made = tiled(func, {**SMALL, "rows": rows})
    assert not made.refused
    for sizes in sizes_of(func, MANY):
        before, after = runs(func, arrays_for(func, sizes, whole=True), made.module)
        assert difference(before, after) is None, sizes


@pytest.mark.parametrize("name", ENDINGS)
def test_no_product_lies_in_memory(name: str) -> None:
    funcs = [each.name for each in tiled(ending(name), ROWS).module]
    assert ("k_product" in funcs) is not ENDINGS[name][2]


@pytest.mark.parametrize("name", ENDINGS)
@pytest.mark.parametrize("strip", [1, 2])
def test_rows_of_several_blocks_end_together(name: str, strip: int) -> None:
    func = ending(name)
    made = tiled(func, {**ROWS, "strip": strip})
    for sizes in [*sizes_of(func, MANY), *wide(func)]:
        before, after = runs(func, arrays_for(func, sizes, whole=True), made.module)
        assert difference(before, after) is None, sizes


def wide(func: Func) -> list[dict[str, int]]:
    """Sizes of products that are wider than a strip, and no multiple of one."""
    names = [symbol.name for symbol in func.symbols]
    return [{name: {"n": n}.get(name, 7) for name in names} for n in (16, 17, 41)]


def test_what_is_no_number_ends_as_it_would_alone() -> None:
    func = ending("bias")
    left, right, bias = arrays_for(func, {"m": 4, "n": 9, "k": 5}, whole=True)
    left[0, 0], bias[3:6] = np.inf, (np.nan, -np.inf, -0.0)
    before, after = runs(func, [left, right, bias], tiled(func, ROWS).module)
    assert difference(before, after) is None


def test_a_block_waits_in_memory_only_to_be_finished_row_by_row() -> None:
    def rooms(rows: dict[str, int]) -> int:
        made = tiled(ending("bias"), {**SMALL, **rows}).module
        return sum(isinstance(op, tile.Scratch) for op in made["k"].walk())

    assert rooms({"rows": 1}) == 1
    assert rooms({}) == 0


TWICE = """
func @f<n: 0..64, m: 0..64>(%x: tensor<[n, m], f32>) -> tensor<[n, m], f32> {
  %a = tensor.cumulative_sum %x {axis = 1} : tensor<[n, m], f32>
  %y = tensor.cumulative_sum %a {axis = 1} : tensor<[n, m], f32>
  return %y
}
"""


def test_kernels_that_do_the_same_share_their_tiles() -> None:
    fused = fuse(func_of(TWICE)).module

    def choose(shape: Any) -> dict[str, int]:
        return {"n": 8}

    def kernels(module: Module) -> int:
        assert not any(isinstance(op, tensor.CumulativeSum) for f in module for op in f.walk())
        return len(list(module)) - 1

    apart, shared = (tiled_module(fused, choose, shared=each).module for each in (False, True))
    assert (kernels(apart), kernels(shared)) == (2, 1)
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    (expected,), (found,) = (interpret(module, x) for module in (apart, shared))
    np.testing.assert_array_equal(expected, found)
