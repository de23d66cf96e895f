"""Products of matrices: what they accumulate in, and what precision lets go."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from brimstone.ir import tile
from brimstone.ir.builder import Builder
from brimstone.ir.dtypes import DType, bf16, f8e4m3, f8e5m2, f16, f32, f64, i8, i32, i64, u8, u32
from brimstone.ir.errors import VerifyError
from brimstone.ir.func import Func
from brimstone.ir.tile.dot import to_tf32
from brimstone.ir.types import Tile

Array = Any


def dot(cls: Any, *operands: tuple[Array, DType], **attributes: Any) -> Array:
    """The op's meaning for these arrays."""
    func = Func("f", [Tile(array.shape, dtype) for array, dtype in operands])
    result = Builder(func.body).emit(cls, *func.arguments, **attributes)
    op: Any = result.op
    made = op.run(None, *[array.astype(dtype.storage) for array, dtype in operands])
    assert (made.shape, made.dtype) == (result.type.shape, result.dtype.storage)
    return made


LEFT = np.arange(24).reshape(2, 3, 4) - 12
RIGHT = np.arange(40).reshape(2, 4, 5) % 7
START = np.arange(30).reshape(2, 3, 5)


@pytest.mark.parametrize(
    ("operand", "accumulator"),
    [
        (f8e4m3, f32), (f8e5m2, f32), (f16, f32), (bf16, f32), (f32, f32), (f64, f64),
        (i8, i8), (i8, i32), (i32, i64), (i64, i64),
    ],
)  # fmt: skip
def test_a_dot_of_many_matrices(operand: DType, accumulator: DType) -> None:
    made = dot(tile.Dot, (LEFT, operand), (RIGHT, operand), (START, accumulator))
    exact = [each.astype(operand.storage).astype(float) for each in (LEFT, RIGHT)]
    expected = (START + exact[0] @ exact[1]).astype(np.int64).astype(accumulator.storage)
    np.testing.assert_array_equal(made, expected)


def test_narrow_products_are_not_rounded_on_the_way() -> None:
    """In f16, 2048 + 1 is 2048."""
    row, column = np.array([[2048.0, 1.0, 1.0]]), np.ones((3, 1))
    made = dot(tile.Dot, (row, f16), (column, f16), (np.zeros((1, 1)), f32))
    assert made == 2050.0


def test_tf32_keeps_ten_bits() -> None:
    one_bit_more = np.array([[1 + 2.0**-11]])
    arguments = (one_bit_more, f32), (np.ones((1, 1)), f32), (np.zeros((1, 1)), f32)
    assert dot(tile.Dot, *arguments) == 1 + 2.0**-11
    assert dot(tile.Dot, *arguments, precision=tile.Precision.TF32) == 1.0


def test_tf32_rounds_to_even_and_keeps_what_is_not_finite() -> None:
    x = np.array(
        [1 + 3 * 2.0**-11, -1 - 2.0**-11, 3.4e38, np.inf, -np.inf, np.nan, -0.0], np.float32
    )
    expected = np.array([1 + 2.0**-9, -1, 3.4e38, np.inf, -np.inf, np.nan, -0.0], np.float32)
    made = to_tf32(x)
    np.testing.assert_allclose(made, expected, rtol=2.0**-11)
    np.testing.assert_array_equal(made[:2], expected[:2])
    assert np.signbit(made[-1])


def test_scales_are_powers_of_two_for_blocks() -> None:
    left, right = np.ones((1, 4)), np.ones((4, 1))
    scales = np.array([[127, 130]]), np.array([[127], [126]])
    made = dot(
        tile.ScaledDot,
        (left, f8e5m2), (scales[0], u8), (right, f8e4m3), (scales[1], u8), (left[:, :1], f32),
    )  # fmt: skip
    assert made == 1 + 2 * 1 * 1 + 2 * 8 * 0.5


def test_a_scale_of_255_is_nan_and_one_of_0_is_tiny() -> None:
    def scaled(scale: int, other: int) -> Array:
        one = np.ones((1, 1))
        return dot(
            tile.ScaledDot,
            (one, f8e4m3), (one * scale, u8), (one, f8e4m3), (one * other, u8), (one * 0, f32),
        )  # fmt: skip

    assert np.isnan(scaled(255, 127))
    assert scaled(0, 254) == 1.0


@pytest.mark.parametrize(
    ("shapes", "dtypes", "problem"),
    [
        (((2, 3), (4, 2), (2, 2)), (f32, f32, f32), "inner sizes differ"),
        (((3,), (3, 2), (2,)), (f32, f32, f32), "a dot needs matrices"),
        (((5, 2, 3), (4, 3, 2), (5, 2, 2)), (f32, f32, f32), "leading sizes differ"),
        (((2, 3), (3, 2), (2, 3)), (f32, f32, f32), r"expected an accumulator of \[2, 2\]"),
        (((2, 3), (3, 2), (2, 2)), (f16, bf16, f32), "operands of two dtypes"),
        (((2, 3), (3, 2), (2, 2)), (f16, f16, f16), "products of f16 are not summed in: f16"),
        (((2, 3), (3, 2), (2, 2)), (i32, i32, i8), "products of i32 are not summed in: i8"),
        (((2, 3), (3, 2), (2, 2)), (i8, i8, u32), "products of i8 are not summed in: u32"),
    ],
)
def test_a_dot_that_does_not_fit(shapes: Any, dtypes: Any, problem: str) -> None:
    with pytest.raises(VerifyError, match=problem):
        dot(tile.Dot, *[(np.zeros(s), dtype) for s, dtype in zip(shapes, dtypes, strict=True)])


@pytest.mark.parametrize(
    ("scale", "problem"),
    [
        ((2, 3), "a_scale does not cut the inner axis"),
        ((2, 0), "a_scale does not cut the inner axis"),
        ((1, 2), r"a_scale has another shape than \[2, 2\]"),
        ((2,), "a_scale has another rank"),
    ],
)
def test_scales_that_do_not_fit(scale: tuple[int, ...], problem: str) -> None:
    shapes = (2, 4), scale, (4, 2), (2, 2), (2, 2)
    dtypes = f8e4m3, u8, f8e4m3, u8, f32
    with pytest.raises(VerifyError, match=problem):
        dot(tile.ScaledDot, *[(np.zeros(s), d) for s, d in zip(shapes, dtypes, strict=True)])


def test_bits_of_e8m0_agree_with_ml_dtypes() -> None:
    bits = np.arange(255, dtype=np.uint8)
    expected = bits.view(ml_dtypes.float8_e8m0fnu).astype(np.float64)
    made = tile.dot.scaled(np.ones(255, np.float32), bits, 0)
    np.testing.assert_array_equal(made, expected)
