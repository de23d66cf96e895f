"""Vectors: lanes in and out, and the canonical order of a reduction."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from kit.loops import compute, same_bits


def reduce(kind: str, dtype: str, row: Any) -> Any:
    operand = (f"vec<{len(row)}, {dtype}>", np.asarray(row))
    return compute(f"loop.reduce %x {{kind = {kind}}}", f"scalar<{dtype}>", x=operand)


def halved(row: Any) -> Any:
    """A sum in the canonical order, written down another way: pad to a power of two and halve."""
    if len(row) == 1:
        return row[0]
    half = 1
    while 2 * half < len(row):
        half *= 2
    return halved([row[i] + row[i + half] if i + half < len(row) else row[i] for i in range(half)])


@pytest.mark.parametrize("lanes", [1, 2, 3, 4, 7, 8, 13, 16])
def test_a_sum_is_taken_in_the_canonical_order(lanes: int) -> None:
    row = np.random.default_rng(lanes).standard_normal(lanes).astype(np.float32)
    assert same_bits(reduce("add", "f32", row), halved(list(row)))


def test_the_order_is_not_from_left_to_right() -> None:
    row = np.array([1e8, 1, -1e8, 1], np.float32)
    assert reduce("add", "f32", row) == 2  # (0 + 2) + (1 + 3)


def test_narrow_sums_round_once() -> None:
    row = np.array([256, 1, 1, 1], ml_dtypes.bfloat16)  # 257 is no bf16
    assert reduce("add", "bf16", row) == 260


@pytest.mark.parametrize(
    ("kind", "row", "expected"),
    [
        ("minimum", [0.0, -0.0, 1.0], -0.0),
        ("maximum", [-0.0, 0.0, -1.0], 0.0),
        ("maximum", [1.0, float("nan"), 2.0], float("nan")),
        ("minimum", [1.0, 2.0, float("nan")], float("nan")),
        ("add", [-0.0, -0.0, -0.0], -0.0),
        ("multiply", [2.0, -0.0, 3.0], -0.0),
    ],
)
def test_a_reduction_at_the_edges(kind: str, row: list[float], expected: float) -> None:
    assert same_bits(reduce(kind, "f32", np.array(row, np.float32)), np.float32(expected))


def test_integers_wrap_and_bits_combine() -> None:
    assert reduce("add", "i8", np.array([127, 1, 0], np.int8)) == -128
    assert reduce("bit_xor", "u8", np.array([3, 5, 9], np.uint8)) == 3 ^ 5 ^ 9
    assert reduce("bit_and", "bool", np.array([True, False])) == np.False_
    assert reduce("bit_or", "bool", np.array([True, False])) == np.True_


def test_lanes_go_in_and_out() -> None:
    row = np.array([1, 2, 3, 4, 5], np.int16)
    x = ("vec<5, i16>", row)
    changed = compute("loop.insert %x, %v {lane = 4}", "vec<5, i16>", x=x, v=("scalar<i16>", 9))
    assert list(changed) == [1, 2, 3, 4, 9] and list(row) == [1, 2, 3, 4, 5]
    reversed_ = compute("loop.shuffle %x {lanes = [4, 3, 2, 1, 0]}", "vec<5, i16>", x=x)
    assert list(reversed_) == [5, 4, 3, 2, 1]
    one = compute("loop.shuffle %x {lanes = [2]}", "vec<1, i16>", x=x)
    assert same_bits(one, np.array([3], np.int16))


def test_counting_in_a_narrow_dtype_rounds() -> None:
    made = compute("loop.iota {lanes = 300, dtype = bf16}", "vec<300, bf16>")
    assert same_bits(made, np.arange(300, dtype=np.float32).astype(ml_dtypes.bfloat16))
    wrapped = compute("loop.iota {lanes = 300, dtype = u8}", "vec<300, u8>")
    assert wrapped[256] == 0


def test_a_vector_is_a_constant_too() -> None:
    made = compute("loop.constant {value = [1.0, -0.0, nan]}", "vec<3, f16>")
    assert same_bits(made, np.array([1, -0.0, np.nan], np.float16))
