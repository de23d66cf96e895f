"""Contractions as packed panels: every layout, every branch, edge sizes; what is not a number."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from brimstone.ir import parse, step
from brimstone.ir.dims import Size, ceil_div, evaluate
from brimstone.ir.func import Module
from brimstone.ir.interpreter import interpret
from brimstone.ir.values import Block
from brimstone.passes.oracle import difference
from brimstone.passes.tiling.contract.alone import Chunks
from kit.contractions import LAYOUTS, SMALL, contract, contraction, near_sizes
from kit.tiling import SYMBOLS, arrays_for, kernel, runs, sizes_of, tiled

MANY = 18


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_contraction_of_tiles_is_the_contraction(layout: str) -> None:
    func = contraction(layout)
    made = tiled(func, SMALL)
    assert not made.refused
    for sizes in [*sizes_of(func, MANY), *near_sizes(func)]:
        if layout == "views" and sizes["m"] == 0:
            continue  # one row is left out
        before, after = runs(func, arrays_for(func, sizes, whole=True), made.module)
        assert difference(before, after) is None, sizes


@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt", "few rows", "few rows, nt"])
def test_a_block_may_have_any_size(layout: str) -> None:
    func = contraction(layout)
    made = tiled(func, {**SMALL, "m": 5, "n": 6, "k": 3, "together": 3})
    for sizes in [*sizes_of(func, MANY), *near_sizes(func)]:
        before, after = runs(func, arrays_for(func, sizes, whole=True), made.module)
        assert difference(before, after) is None, sizes


@pytest.mark.parametrize("layout", ["maps", "maps of heads", "heads"])
def test_what_is_computed_from_memory_is_packed_without_a_copy(layout: str) -> None:
    module = tiled(contraction(layout), SMALL).module
    shared = launches(module, module.main.body, {"m": 9, "n": 9, "l": 9, "k": 9})
    assert shared == ["k_pack_left", "k_pack_right", "k"]
    few = launches(module, module.main.body, {"m": 2, "n": 9, "l": 9, "k": 9})
    assert few == ["k_right", "k_pack_few", "k_few"]
    near = launches(module, module.main.body, {"m": 3, "n": 20, "l": 3, "k": 9})
    assert near == ["k_pack_rows", "k_near"]


BRANCHES: dict[str, tuple[tuple[int, int, int], list[str]]] = {
    "few rows": ((2, 40, 9), ["k_pack_few", "k_few"]),
    "alone": ((5, 8, 6), ["k_alone"]),
    "alone, whole chunks": ((6, 8, 8), ["k_alone"]),
    "parts": ((6, 8, 9), ["k_parts", "k_added"]),
    "near": ((6, 12, 8), ["k_pack_rows", "k_near"]),
    "near, parts": ((3, 21, 19), ["k_pack_rows", "k_near"]),
    "near, but for rows": ((7, 12, 8), ["k_pack_left", "k_pack_right", "k"]),
    "shared": ((7, 9, 5), ["k_pack_left", "k_pack_right", "k"]),
    "shared, k is 0": ((7, 9, 0), ["k_pack_left", "k_pack_right", "k"]),
}


@pytest.mark.parametrize("branch", BRANCHES)
def test_sizes_choose_among_kernels(branch: str) -> None:
    (m, n, k), expected = BRANCHES[branch]
    func = contraction("nn")
    module = tiled(func, SMALL).module
    sizes = {"m": m, "n": n, "k": k}
    assert launches(module, module.main.body, sizes) == expected
    left, right = arrays_for(func, sizes, whole=True)
    np.testing.assert_array_equal(interpret(module, left, right)[0], left @ right)


@pytest.mark.parametrize(
    ("sizes", "programs"),
    [((3, 16, 5), [1, 2]), ((3, 16, 1), [1, 1]), ((3, 13, 6), [1, 2]), ((6, 8, 8), [1, 1])],
    ids=["two panels", "little to multiply", "a panel is not full", "one panel"],
)
def test_columns_are_shared_where_much_is_multiplied(
    sizes: tuple[int, int, int], programs: list[int]
) -> None:
    func = contraction("nn")
    module, named = tiled(func, SMALL).module, dict(zip("mnk", sizes, strict=True))
    launch = next(op for op in module.main.walk() if getattr(op, "kernel", "") == "k_alone")
    assert isinstance(launch, step.Launch)
    assert [number(size, named) for size in launch.each[0].grid] == programs
    left, right = arrays_for(func, named, whole=True)
    np.testing.assert_array_equal(interpret(module, left, right)[0], left @ right)


def launches(module: Module, block: Block, sizes: Mapping[str, int]) -> list[str]:
    """The kernels that run, in order."""
    found: list[str] = []
    for op in block:
        if isinstance(op, step.Launch):
            found.append(op.kernel)
        if isinstance(op, step.When):
            enough = number(op.size, sizes) >= op.at_least
            found += launches(module, op.enough if enough else op.below, sizes)
    return found


def number(size: Size, sizes: Mapping[str, int]) -> int:
    known = {symbol: sizes[name] for name, symbol in SYMBOLS.items() if name in sizes}
    return size if isinstance(size, int) else evaluate(size, known)


def test_what_is_known_is_decided_at_once() -> None:
    module = tiled(contraction("fixed"), SMALL).module
    assert not [op for op in module.main.walk() if isinstance(op, step.When)]


@pytest.mark.parametrize(("batch", "most"), [(0, 10), (1, 10), (2, 6), (5, 2)])
def test_columns_are_shared_by_an_even_number_of_programs_if_not_one(batch: int, most: int) -> None:
    chunks, counts = Chunks({"much": 1800, "apart": 1}), list[Size]()
    for rows in range(50):
        counts.append(ceil_div(120, chunks.panels(batch, rows, 120, 3)))
    assert [*dict.fromkeys(counts)] == [1, *range(2, most + 1, 2)]


def test_every_array_of_a_step_is_freed() -> None:
    made = list(tiled(contraction("nn"), SMALL).module.main.walk())
    rooms = [op for op in made if isinstance(op, step.Allocate)]
    freed = [op for op in made if isinstance(op, step.Free)]
    assert len(rooms) == len(freed) + 1  # the result


@pytest.mark.parametrize("sizes", [(2, 9, 5), (4, 9, 5), (7, 9, 5), (5, 9, 17)])
@pytest.mark.parametrize("special", [np.nan, np.inf])
def test_what_is_no_number_stays_in_its_row_and_column(
    special: float, sizes: tuple[int, int, int]
) -> None:
    m, n, k = sizes
    func = contraction("nn")
    left, right = arrays_for(func, {"m": m, "n": n, "k": k}, whole=True)
    left, right = np.abs(left) + 1, np.abs(right) + 1
    left[-1, 0], right[0, -1] = special, special
    before, after = runs(func, [left, right], tiled(func, SMALL).module)
    assert difference(before, after) is None
    finite: Any = np.isfinite(after[0])
    assert not finite[-1].any() and not finite[:, -1].any() and finite[:-1, :-1].all()


def test_narrow_floats_are_summed_wide() -> None:
    func = kernel(contract((), (), (1,), (0,)), "m k bf16", "k n bf16")
    left, right = (
        np.ones(shape, func.arguments[0].dtype.storage) for shape in ((4, 600), (600, 9))
    )
    (found,) = interpret(tiled(func, SMALL).module, left, right)
    assert (found.astype(np.float32) == 600).all()  # 256 in sums of bf16


def test_a_complex_one_stays() -> None:
    func = kernel(contract((), (), (1,), (0,)), "m k c64", "k n c64")
    assert tiled(func, SMALL).refused == {"k": "complex numbers"}


PADDED = """
func @k<n: 0..64, b: 0..64, m: 0..64>(%x: tensor<[b, m, 2*n], f32>, %told: tensor<[n, 0], bool>)
    -> tensor<[b, m, m], f32> {
  %y = tensor.pad %x {low = [0, 0, 2], high = [0, 0, 0], interior = [0, 0, 0], value = 0.0}
    : tensor<[b, m, 2*n + 2], f32>
  %z = tensor.contract %y, %y {left_batch = [0], right_batch = [0], left_contract = [2],
    right_contract = [2], dtype = f32} : tensor<[b, m, m], f32>
  return %z
}
"""
SLICED = """
func @k<n: 0..64, m: 0..64, b: 0..64>(
    %x: tensor<[b, n], f32>, %w: tensor<[n + m, n + m, 7, 7], f32>, %told: tensor<[m, 0], bool>)
    -> tensor<[b, n + m, 7, 7], f32> {
  %y = tensor.pad %x {low = [0, 0], high = [0, m], interior = [0, 0], value = 0.0}
    : tensor<[b, n + m], f32>
  %z = tensor.contract %y, %w {left_batch = [], right_batch = [], left_contract = [1],
    right_contract = [0], dtype = f32} : tensor<[b, n + m, 7, 7], f32>
  return %z
}
"""


@pytest.mark.parametrize("text", [PADDED, SLICED], ids=["both padded", "as wide as deep"])
def test_kernels_are_told_sizes_that_no_array_has_which_they_read(text: str) -> None:
    func = parse(text).main
    made = tiled(func, SMALL)
    assert not made.refused
    told = [each.name for each in made.module if (each.arguments[0].name or "").startswith("of_")]
    assert "k_alone" in told
    for b, n, m in [(0, 3, 5), (1, 5, 8), (2, 9, 4), (9, 8, 7), (5, 0, 7), (7, 6, 0)]:
        shapes = [(b, m, 2 * n)] if text is PADDED else [(b, n), (n + m, n + m, 7, 7)]
        rng = np.random.default_rng(b)
        arrays: list[Any] = [rng.integers(-4, 5, each).astype(np.float32) for each in shapes]
        arrays.append(np.zeros((n if text is PADDED else m, 0), np.bool_))
        before, after = runs(func, arrays, made.module)
        assert difference(before, after) is None, (b, n, m)
