"""What a view type claims: which claims mean something, and that false ones are refused."""

from typing import Any

import numpy as np
import pytest

from brimstone.ir import tile
from brimstone.ir.dtypes import f32
from brimstone.ir.errors import ExecutionError, Unmet, VerifyError
from brimstone.ir.parser import parse
from brimstone.ir.printer import print_module
from brimstone.ir.types import View

PLANE = np.zeros((32, 16), np.float32)
WINDOWS = {
    "dense": tile.view_of(PLANE),
    "columns": tile.view_of(PLANE.T),
    "reversed": tile.view_of(PLANE[::-1]),
    "part": tile.view_of(PLANE[1:, 1:]),
    "shifted": tile.Window(np.zeros(600, np.float32), 8, (32, 16), (16, 1)),
    "far": tile.Window(np.zeros(40_000, np.int8).view(np.float32), 0, (2, 2), (9000, 1)),
    "empty": tile.view_of(PLANE[:0]),
}
HOLDS = {
    "{size: [32, 16]}": {"dense", "reversed", "shifted"},
    "{multiple: [16, 16]}": {"dense", "columns", "reversed", "shifted", "empty"},
    "{unit_stride: 1}": {"dense", "reversed", "part", "shifted", "far", "empty"},
    "{unit_stride: 0}": {"columns"},
    "{dense: 1}": {"dense", "reversed", "part", "shifted", "far", "empty"},
    "{dense: 2}": {"dense", "shifted", "empty"},
    "{stride_multiple: [8, 1]}": {"dense", "reversed", "part", "shifted", "far", "empty"},
    "{stride_multiple: [16, 1]}": {"dense", "reversed", "part", "shifted", "empty"},
    "{align: 32}": {"dense", "columns", "reversed", "part", "shifted", "far", "empty"},
    "{align: 64}": {"dense", "columns", "reversed", "part", "far", "empty"},
    "{index_bits: 16}": {"dense", "columns", "reversed", "part", "shifted", "far", "empty"},
}


def kernel(facts: str) -> Any:
    symbols = "<n: 1..1048576>" if "n" in facts.rsplit(":", maxsplit=1)[-1] else ""
    return parse(
        f"""func @k{symbols}(%x: view<2, f32, {facts}>) with {{grid: [1]}} {{
  %n = tile.extent %x {{axis = 0}} : scalar<i64>
  return
}}
"""
    )


@pytest.mark.parametrize("facts", HOLDS)
def test_a_false_fact_is_refused(facts: str) -> None:
    func = kernel(facts).main
    held: set[str] = set()
    for name, window in WINDOWS.items():
        try:
            tile.run_kernel(func, [window])
            held.add(name)
        except ExecutionError as error:
            assert "is false for sizes" in str(error)
    assert held == HOLDS[facts]


def test_indices_that_need_more_bits() -> None:
    memory = np.zeros(33_000, np.float32)
    wide = tile.Window(memory, 0, (2, 1), (32_768, 1))
    with pytest.raises(ExecutionError, match="the fact index_bits"):
        tile.run_kernel(kernel("{index_bits: 16}").main, [wide])
    tile.run_kernel(kernel("{index_bits: 32}").main, [wide])


def test_a_size_is_bound_by_a_fact() -> None:
    func = kernel("{size: [n, 16]}").main
    tile.run_kernel(func, [WINDOWS["dense"]])
    with pytest.raises(ExecutionError, match="the fact size"):
        tile.run_kernel(func, [WINDOWS["columns"]])
    with pytest.raises(ExecutionError, match="n is 0, outside its declared range"):
        tile.run_kernel(func, [WINDOWS["empty"]])


@pytest.mark.parametrize(
    ("facts", "problem"),
    [
        ("{sizes: [1, 2]}", "no fact of a view is called sizes; there are size, multiple"),
        ("{size: [1]}", "the fact size of .* is a list of sizes, one an axis"),
        ("{size: [-1, 2]}", "the fact size of"),
        ("{size: 4}", "the fact size of"),
        ("{multiple: [0, 1]}", "the fact multiple of .* is a list of integers from 1 on"),
        ("{multiple: [true, 1]}", "the fact multiple of"),
        ("{stride_multiple: [n, 1]}", "the fact stride_multiple of"),
        ("{unit_stride: 2}", "the fact unit_stride of .* is an axis of the view"),
        ("{unit_stride: true}", "the fact unit_stride of"),
        ("{dense: 3}", "the fact dense of .* is a number of axes from 1 on"),
        ("{align: 0}", "the fact align of .* is a number of bytes from 1 on"),
        ("{index_bits: 31}", "the fact index_bits of .* is 16 or 32"),
    ],
)
def test_a_fact_that_means_nothing_is_refused(facts: str, problem: str) -> None:
    with pytest.raises(VerifyError, match=problem):
        kernel(facts)


def test_facts_are_a_mapping() -> None:
    with pytest.raises(Unmet, match="expected a mapping"):
        View(1, f32, 4)  # pyright: ignore[reportArgumentType]


def test_a_view_without_facts_does_not_write_them() -> None:
    assert View(2, f32).text == "view<2, f32>"
    assert View(2, f32, {"align": 64}).text == "view<2, f32, {align: 64}>"  # pyright: ignore[reportArgumentType]
    text = print_module(kernel("{}"))
    assert "%x: view<2, f32>)" in text
    assert print_module(parse(text)) == text


def test_a_part_keeps_the_facts_that_stay_true() -> None:
    text = """func @k(%x: view<3, f32, {size: [4, 5, 6], multiple: [4, 5, 6], unit_stride: 2,
    stride_multiple: [30, 6, 1], align: 64, index_bits: 32}>) with {grid: [1]} {
  %1 = tile.constant {value = 1} : scalar<i64>
  %2 = tile.constant {value = 2} : scalar<i64>
  %part = tile.view %x, [%1, %2, %1], %2, %1 {axes = [2, 0]} : TYPE
  return
}
"""
    kept = "view<2, f32, {unit_stride: 0, stride_multiple: [1, 30], index_bits: 32}>"
    func = parse(text.replace("TYPE", kept)).main
    tile.run_kernel(func, [np.zeros((4, 5, 6), np.float32)])
    with pytest.raises(VerifyError, match=r"expected view<2, f32, \{unit_stride: 0"):
        parse(text.replace("TYPE", "view<2, f32>"))
