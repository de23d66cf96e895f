"""Fragments: matrices in memory and in registers, and their products."""

from typing import Any

import numpy as np
import pytest

from brimstone.ir.dtypes import BY_NAME
from brimstone.ir.errors import ExecutionError
from brimstone.ir.loop import run_loops
from kit.loops import compute, kernel, refusal, same_bits

I64 = "scalar<i64>"


def load(layout: str, index: int, stride: int) -> Any:
    return compute(
        f"loop.fragment_load %b, %i, %s {{rows = 2, columns = 3, use = right, layout = {layout}}}",
        "fragment<2, 3, i32, right>",
        b=("buffer<i32, global>", np.arange(13, dtype=np.int32)),
        i=(I64, index),
        s=("scalar<i32>", stride),
    )


def test_a_layout_says_what_stands_side_by_side() -> None:
    assert load("row_major", 1, 5).tolist() == [[1, 2, 3], [6, 7, 8]]
    assert load("column_major", 1, 5).tolist() == [[1, 6, 11], [2, 7, 12]]
    assert load("row_major", 4, 0).tolist() == [[4, 5, 6], [4, 5, 6]]
    assert load("row_major", 5, -5).tolist() == [[5, 6, 7], [0, 1, 2]]


@pytest.mark.parametrize("layout", ["row_major", "column_major"])
@pytest.mark.parametrize("stride", [3, 4])
def test_a_store_puts_what_a_load_reads(layout: str, stride: int) -> None:
    matrix = np.arange(6, dtype=np.int32).reshape(2, 3)
    buffer = np.full(13, -1, np.int32)
    compute(
        f"loop.fragment_store %b, %i, %s, %x {{layout = {layout}}}",
        b=("buffer<i32, global>", buffer),
        i=(I64, 1),
        s=(I64, stride),
        x=("fragment<2, 3, i32, accumulator>", matrix),
    )
    rows = matrix if layout == "row_major" else matrix.T
    for place, row in enumerate(rows):
        start = 1 + place * stride
        assert list(buffer[start : start + len(row)]) == list(row)
    assert (buffer == -1).sum() == 7


def test_elements_that_overlap_are_not_stored() -> None:
    with pytest.raises(ExecutionError, match="elements overlap in memory with a stride of 2"):
        compute(
            "loop.fragment_store %b, %i, %s, %x",
            b=("buffer<f32, global>", np.zeros(13, np.float32)),
            i=(I64, 0),
            s=(I64, 2),
            x=("fragment<2, 3, f32, left>", np.zeros((2, 3), np.float32)),
        )


PRODUCTS = [("f16", "f32"), ("f16", "f16"), ("bf16", "f32"), ("f8e4m3", "f32"), ("i8", "i32"),
            ("u8", "i32"), ("f32", "f32"), ("f64", "f64")]  # fmt: skip


@pytest.mark.parametrize(("dtype", "total"), PRODUCTS)
@pytest.mark.parametrize("sizes", [(1, 1, 1), (4, 3, 5), (16, 16, 7)])
def test_products_accumulate(dtype: str, total: str, sizes: tuple[int, int, int]) -> None:
    rows, columns, inner = sizes
    rng = np.random.default_rng(7)
    # Small whole numbers: every product and sum is exact in all of these dtypes.
    a, b, c = (
        rng.integers(0, 4, shape) for shape in ((rows, inner), (inner, columns), (rows, columns))
    )
    given = {
        "a": (f"fragment<{rows}, {inner}, {dtype}, left>", a),
        "b": (f"fragment<{inner}, {columns}, {dtype}, right>", b),
        "c": (f"fragment<{rows}, {columns}, {total}, accumulator>", c),
    }
    storage = stored(dtype), stored(dtype), stored(total)
    operands = {
        name: (type_, array.astype(as_))
        for (name, (type_, array)), as_ in zip(given.items(), storage, strict=True)
    }
    made = compute("loop.fragment_multiply_accumulate %a, %b, %c", given["c"][0], **operands)
    assert same_bits(made, (c + a @ b).astype(stored(total)))


def stored(dtype: str) -> Any:
    return BY_NAME[dtype].storage


def test_a_narrow_accumulator_rounds_once() -> None:
    row = np.array([[2048, 1, 1]], np.float16)  # 2049 is no f16
    made = compute(
        "loop.fragment_multiply_accumulate %a, %b, %c",
        "fragment<1, 1, f16, accumulator>",
        a=("fragment<1, 3, f16, left>", row),
        b=("fragment<3, 1, f16, right>", np.ones((3, 1), np.float16)),
        c=("fragment<1, 1, f16, accumulator>", np.zeros((1, 1), np.float16)),
    )
    assert made == 2050


@pytest.mark.parametrize(
    ("a", "b", "c", "message"),
    [
        ("2, 3, f16", "4, 2, f16", "2, 2, f32", "sizes differ"),
        ("2, 3, f16", "3, 2, f16", "2, 3, f32", "sizes differ"),
        ("2, 3, f16", "3, 2, bf16", "2, 2, f32", "dtypes differ"),
        ("2, 3, f32", "3, 2, f32", "2, 2, f16", "cannot accumulate in this dtype"),
        ("2, 3, i8", "3, 2, i8", "2, 2, f32", "cannot accumulate in this dtype"),
        ("2, 3, bool", "3, 2, bool", "2, 2, i32", "a has type fragment<2, 3, bool, left>"),
    ],
)
def test_a_product_refuses(a: str, b: str, c: str, message: str) -> None:
    total = f"fragment<{c}, accumulator>"
    said = refusal(
        "loop.fragment_multiply_accumulate %a, %b, %c",
        total,
        a=f"fragment<{a}, left>",
        b=f"fragment<{b}, right>",
        c=total,
    )
    assert message in said


def matrix_kernel(index: str) -> Any:
    return kernel(
        "%b: buffer<f32, global>, %zero: scalar<i64>, %two: scalar<i64>",
        "  %lane = loop.lane_id : scalar<i64>\n"
        f"  %x = loop.fragment_load %b, {index}, %two {{rows = 2, columns = 2, use = left}} "
        ": fragment<2, 2, f32, left>\n"
        "  loop.fragment_store %b, %zero, %two, %x {layout = column_major}",
    )


def test_a_subgroup_holds_one_fragment() -> None:
    buffer = np.arange(4, dtype=np.float32)
    run_loops(matrix_kernel("%zero"), [buffer, 0, 2], lanes=4)
    assert list(buffer) == [0, 2, 1, 3]


def test_lanes_that_disagree_about_a_fragment_are_an_error() -> None:
    with pytest.raises(
        ExecutionError, match="lane 1 of the subgroup has other operands than lane 0"
    ):
        run_loops(matrix_kernel("%lane"), [np.zeros(9, np.float32), 0, 2], lanes=2)
