"""Arithmetic, comparisons and logic: promotion, operators, methods, narrow floats, mistakes."""

import operator
from itertools import product
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from kit.mistakes import Mistake, check

OPERATORS = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "eq", "ne", "lt", "le", "gt", "ge",
)  # fmt: skip
UNARY = (
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "exp", "exp2",
    "expm1", "floor", "isfinite", "isinf", "isnan", "log", "log10", "log1p", "log2", "negative",
    "reciprocal", "sign", "sin", "sinh", "sqrt", "square", "tan", "tanh", "trunc",
)  # fmt: skip


def x() -> bs.Tensor:
    return bs.asarray([[0.5, -1.5, 3.0]])


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("other", [2, 2.0, np.float32(2), np.full((2, 1), 2, np.float32)], ids=repr)
def test_operators_take_numbers_and_arrays_on_either_side(name: str, other: Any) -> None:
    apply = getattr(operator, name)
    array = np.abs(x().numpy())
    for left, right in ((array, other), (other, array)):
        ours = [bs.asarray(each) if each is array else each for each in (left, right)]
        with np.errstate(all="ignore"):
            expected = apply(left, right)
        result = apply(*ours)
        assert isinstance(result, bs.Tensor)
        assert result.dtype == expected.dtype
        np.testing.assert_allclose(result.numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "int32"])
def test_methods_and_functions_are_twins(name: str, dtype: str) -> None:
    given = bs.asarray([1, 2, 3]).astype(dtype)
    found, method = getattr(bs, name)(given), getattr(given, name)()
    pair = [each.astype(bs.float64).numpy() for each in (found, method)]
    np.testing.assert_array_equal(*pair)
    with np.errstate(all="ignore"):
        expected = getattr(np, name, np.negative)(np.array([1, 2, 3], np.float64))
    np.testing.assert_allclose(
        pair[0], np.asarray(expected, np.float64), rtol=1e-2, atol=1 if dtype == "int32" else 1e-6
    )


@pytest.mark.parametrize(
    ("made", "dtype", "values"),
    [
        (lambda: bs.asarray([127], dtype=bs.int8) + 1, "int8", [-128]),
        (lambda: bs.asarray([0], dtype=bs.uint8) - 1, "uint8", [255]),
        (lambda: bs.asarray([1, 2], dtype=bs.int8) * 0.5, "float32", [0.5, 1]),
        (lambda: bs.asarray([1.0], dtype=bs.float16) + 1, "float16", [2]),
        (lambda: bs.asarray([1.0], dtype=bs.float16) + np.float32(1), "float32", [2]),
        (lambda: bs.asarray([True]) + 1, "int64", [2]),
        (lambda: bs.asarray([1], dtype=bs.uint8) + bs.asarray([1], dtype=bs.int8), "int16", [2]),
        (lambda: bs.asarray([7, -7, 5]) // 0, "int64", [0, 0, 0]),
        (lambda: bs.asarray([7, -7]) // 2, "int64", [3, -4]),
        (lambda: bs.asarray([7, -7]) % 3, "int64", [1, 2]),
        (lambda: bs.asarray([1, 3]) << 100, "int64", [0, 0]),
        (lambda: bs.asarray([-1, 3]) >> 100, "int64", [-1, 0]),
        (lambda: ~bs.asarray([True, False]), "bool", [False, True]),
        (lambda: bs.asarray([6]) & np.int64(3), "int64", [2]),
        (lambda: 1 - bs.asarray([1.0]), "float32", [0]),
        (lambda: 2 ** bs.asarray([3]), "int64", [8]),
        (lambda: bs.clip(bs.asarray([1.0, 9.0]), max=bs.asarray(3.0)), "float32", [1, 3]),
        (lambda: bs.round(bs.asarray([0.5, 1.5, 2.5])), "float32", [0, 2, 2]),
        (lambda: bs.round(bs.asarray([1.26]), 1) * 10, "float32", [13]),
        (lambda: bs.where(bs.asarray([True, False]), 1.5, 2), "float32", [1.5, 2]),
        (lambda: bs.where(bs.asarray([True]), bs.asarray([True]), False), "bool", [True]),
        (lambda: bs.bitwise_count(bs.asarray([-128, 127], dtype=bs.int8)), "uint8", [1, 7]),
        (lambda: bs.cbrt(bs.asarray([-8.0])), "float32", [-2]),
        (lambda: bs.logaddexp(bs.asarray([-np.inf]), -np.inf), "float32", [-np.inf]),
        (lambda: bs.isclose(bs.asarray([np.inf, 1.0]), bs.asarray([np.inf, 1 + 1e-7])), "bool",
         [True, True]),
        (lambda: bs.isclose(bs.asarray([np.nan]), np.nan, equal_nan=True), "bool", [True]),
        (lambda: bs.array_equal(bs.ones(2), bs.ones(3)).reshape(1), "bool", [False]),
    ],
)  # fmt: skip
def test_promotion_and_edges(made: Any, dtype: str, values: list[Any]) -> None:
    result = made()
    assert (result.dtype, result.tolist()) == (dtype, values)


MISTAKES = [
    Mistake(lambda: x() + bs.ones(4), bs.ShapeError, "[1, 3] and [4] do not broadcast: axis -1"),
    Mistake(
        lambda: bs.asarray([1]) + bs.asarray([1], dtype=bs.uint64), bs.DTypeError,
        "no integer dtype holds both int64 and uint64",
    ),
    Mistake(
        lambda: bs.asarray([1], dtype=bs.int8) + 128, bs.DTypeError, "128 is not a value of int8"
    ),
    Mistake(lambda: x() + 10**400, bs.DTypeError, "is not a value of float32"),
    Mistake(lambda: x() & 1, bs.DTypeError, "does not take float32"),
    Mistake(lambda: bs.asarray([True]) + bs.asarray([True]), bs.DTypeError, "does not take bool"),
    Mistake(lambda: -bs.asarray([True]), bs.DTypeError, "does not take bool"),
    Mistake(lambda: bs.asarray([1j]) < 1, bs.DTypeError, "does not take complex64"),
    Mistake(lambda: bs.exp("a"), bs.DTypeError, "expected a tensor or a number, got str"),
    Mistake(lambda: bs.exp([1.0]), bs.DTypeError, "bs.asarray"),
    Mistake(lambda: bs.round(x(), 1.5), bs.DTypeError, "decimals"),
    Mistake(lambda: bs.clip(bs.arange(3), 0.5), bs.DTypeError, "clip: values of float32"),
    Mistake(lambda: bs.clip(bs.arange(3), 0, bs.ones(3)), bs.DTypeError, "cast one of them"),
    Mistake(lambda: bs.where(x(), 1, 2), bs.DTypeError, "the condition is boolean"),
    Mistake(lambda: bs.nextafter(bs.asarray([1]), 2), bs.DTypeError, "does not take int64"),
]  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_explained(mistake: Mistake) -> None:
    check(mistake)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int64", "uint64"])
@pytest.mark.parametrize("decimals", [-40, -3, -2, -1, 0, 2])
def test_rounded_integers_stay_integers(decimals: int, dtype: str) -> None:
    values = np.array([0, 5, 15, 14, 25, 26, 45, 50, 55, 100, 101, 113], dtype)
    if dtype.startswith("int"):
        values = np.concatenate([values, -values])
    rounded = bs.round(bs.asarray(values), decimals)
    assert rounded.dtype == dtype
    assert rounded.tolist() == [round(int(value), min(decimals, 0)) for value in values]


@pytest.mark.parametrize("other", ["a", [1, 2, 3], None, object()], ids=type)
def test_strangers_are_left_to_python(other: Any) -> None:
    with pytest.raises(TypeError):
        x() + other
    assert (x() == other) is False
    assert x() != other


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_remainders_of_what_is_no_usual_number_are_numpys(dtype: str) -> None:
    values = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -1.5, 3.0, -3.0], dtype)
    left, right = np.repeat(values, len(values)), np.tile(values, len(values))
    with np.errstate(invalid="ignore"):
        expected = np.remainder(left, right)
    found = bs.remainder(bs.asarray(left), bs.asarray(right)).numpy()
    np.testing.assert_array_equal(found, expected)
    known = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found[known]), np.signbit(expected[known]))


def test_the_sign_of_a_complex_number_with_one_infinite_part_is_that_of_the_part() -> None:
    parts = np.array([0.0, -2.0, np.inf, -np.inf, np.nan])
    z = np.array([complex(*pair) for pair in product(parts, parts)])
    with np.errstate(invalid="ignore"):
        expected = np.sign(z)
    for found in (bs.sign(bs.asarray(z)), bs.jit(bs.sign)(bs.asarray(z))):
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-15)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_near_0_expm1_is_its_argument_itself(dtype: str) -> None:
    least = np.finfo(dtype).smallest_subnormal
    values = np.array([0.0, 1, 3, 5, 40], dtype) * least
    x = np.concatenate([values, -values, np.array([1e-30, -1e-30], dtype)])
    found = bs.jit(bs.expm1)(bs.asarray(x)).numpy()
    np.testing.assert_array_equal(found, x)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(x))
