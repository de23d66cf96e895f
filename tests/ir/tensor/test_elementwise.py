"""Arithmetic, against Python's own on every pair of the numbers where it goes wrong."""

import itertools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from brimstone.ir import tensor
from brimstone.ir.declare import Op
from brimstone.ir.dims import Symbol
from brimstone.ir.dtypes import (
    COMPLEXES,
    FLOATS,
    INTEGERS,
    NUMBERS,
    ORDERED,
    REALS,
    DType,
    boolean,
    c64,
    f32,
    f64,
    i32,
)
from brimstone.ir.errors import VerifyError
from kit.evaluate import Array, evaluate, evaluate_shaped, folded, near, same
from kit.special import special

Number = Any
Meaning = Callable[..., Number]


def dtypes(accepted: frozenset[DType]) -> list[DType]:
    """In the order of their names, for tests whose names never change."""
    return sorted(accepted, key=lambda dtype: dtype.name)


def pairs(dtype: DType) -> tuple[Array, Array]:
    """Every number worth trying with every other."""
    numbers = special(dtype)
    left, right = np.meshgrid(numbers, numbers)
    return left, right


def expected(meaning: Meaning, dtype: DType, *arrays: Array) -> Array:
    """`meaning` of Python numbers, one by one; integers wrap, narrow floats pass through f32."""
    numbers = [meaning(*map(plain, each)) for each in zip(*map(np.ravel, arrays), strict=True)]
    shape = arrays[0].shape
    if dtype in INTEGERS:
        wrapped = [number % (1 << dtype.bits) for number in numbers]
        unsigned = np.array(wrapped, dtype.storage.str.replace("i", "u"))
        return unsigned.view(dtype.storage).reshape(shape)
    with np.errstate(all="ignore"):
        wide = np.array(numbers, np.float64).astype(dtype.accumulator.storage)
        return wide.astype(dtype.storage).reshape(shape)


def plain(number: Any) -> Number:
    """A Python number: int, float or bool."""
    return number.item() if number.dtype.kind in "biu" else float(number)


def divided(left: Number, right: Number) -> Number:
    if isinstance(left, int):
        quotient = abs(left) // abs(right) if right else 0
        return quotient if (left < 0) == (right < 0) else -quotient
    if right != 0 or math.isnan(left):
        return left / right if right != 0 else math.nan
    sign = math.copysign(1, left) * math.copysign(1, right)
    return math.nan if left == 0 else sign * math.inf


def remaining(left: Number, right: Number) -> Number:
    if isinstance(left, int):
        return left - right * divided(left, right) if right else 0
    impossible = math.isinf(left) or right == 0
    return math.nan if impossible else math.fmod(left, right)


def raised(left: Number, right: Number) -> Number:
    if isinstance(left, int):
        if right >= 0:
            return pow(left, right, 1 << 64)
        return {1: 1, -1: -1 if right % 2 else 1}.get(left, 0)
    try:
        return math.pow(left, right)
    except OverflowError:
        return -math.inf if left < 0 and right % 2 == 1 else math.inf
    except ValueError:
        if left != 0:
            return math.nan
        return math.copysign(math.inf, left) if right % 2 == 1 else math.inf


def larger(left: Number, right: Number) -> Number:
    if math.isnan(left) or math.isnan(right):
        return math.nan
    if left == right == 0:
        return left if math.copysign(1, left) > 0 else right
    return max(left, right)


def smaller(left: Number, right: Number) -> Number:
    return -larger(-left, -right)


def sign_of(x: Number) -> Number:
    return x if x == 0 or math.isnan(x) else type(x)(math.copysign(1, x))


def to_even(x: float) -> float:
    return math.copysign(float(round(x)), x) if math.isfinite(x) else x


def whole(function: Callable[[float], int]) -> Meaning:
    return lambda x: math.copysign(float(function(x)), x) if math.isfinite(x) else x


BINARY: list[tuple[type[Op], Meaning, frozenset[DType]]] = [
    (tensor.Add, operator.add, REALS),
    (tensor.Subtract, operator.sub, REALS),
    (tensor.Multiply, operator.mul, REALS),
    (tensor.Divide, divided, REALS),
    (tensor.Remainder, remaining, REALS),
    (tensor.Power, raised, INTEGERS),
    (tensor.Maximum, larger, REALS),
    (tensor.Minimum, smaller, REALS),
    (tensor.CopySign, math.copysign, FLOATS),
]
UNARY: list[tuple[type[Op], Meaning, frozenset[DType]]] = [
    (tensor.Negate, operator.neg, REALS),
    (tensor.Absolute, abs, REALS),
    (tensor.Sign, sign_of, REALS),
    (tensor.Floor, whole(math.floor), FLOATS),
    (tensor.Ceil, whole(math.ceil), FLOATS),
    (tensor.Truncate, whole(math.trunc), FLOATS),
    (tensor.RoundEven, to_even, FLOATS),
]


def cases(table: list[tuple[type[Op], Meaning, frozenset[DType]]]) -> list[Any]:
    return [
        pytest.param(cls, meaning, dtype, id=f"{cls.name}-{dtype}")
        for cls, meaning, accepted in table
        for dtype in dtypes(accepted)
    ]


@pytest.mark.parametrize(("cls", "meaning", "dtype"), cases(BINARY))
def test_pairs(cls: type[Op], meaning: Meaning, dtype: DType) -> None:
    left, right = pairs(dtype)
    assert same(evaluate(cls, left, right), expected(meaning, dtype, left, right))


@pytest.mark.parametrize(("cls", "meaning", "dtype"), cases(UNARY))
def test_numbers(cls: type[Op], meaning: Meaning, dtype: DType) -> None:
    x = np.concatenate([special(dtype), halves(dtype)])
    assert same(evaluate(cls, x), expected(meaning, dtype, x))


def halves(dtype: DType) -> Array:
    """Numbers around which rounding to whole ones changes its mind."""
    steps = np.arange(-9, 10) / 4 if dtype in FLOATS else np.arange(4)
    return steps.astype(dtype.storage)


@pytest.mark.parametrize("dtype", dtypes(FLOATS), ids=str)
def test_power_of_floats(dtype: DType) -> None:
    left, right = pairs(dtype)
    found, wanted = evaluate(tensor.Power, left, right), expected(raised, dtype, left, right)
    exact = ~np.isfinite(wanted) | (wanted == 0) | (wanted == 1)
    assert same(found[exact], wanted[exact])
    assert near(found, wanted, 4)


@pytest.mark.parametrize("dtype", dtypes(COMPLEXES), ids=str)
def test_complex_arithmetic(dtype: DType) -> None:
    left, right = (
        np.array([1 + 2j, -3 + 0.5j], dtype.storage),
        np.array([2 - 1j, 4j], dtype.storage),
    )
    assert same(evaluate(tensor.Add, left, right), np.array([3 + 1j, -3 + 4.5j], dtype.storage))
    assert same(
        evaluate(tensor.Subtract, left, right), np.array([-1 + 3j, -3 - 3.5j], dtype.storage)
    )
    assert same(evaluate(tensor.Multiply, left, right), np.array([4 + 3j, -2 - 12j], dtype.storage))
    assert np.allclose(evaluate(tensor.Divide, left, right), [1j, 0.125 + 0.75j])
    assert np.allclose(evaluate(tensor.Power, left, right), left**right)
    assert same(evaluate(tensor.Negate, left), np.array([-1 - 2j, 3 - 0.5j], dtype.storage))
    lengths = evaluate(
        tensor.Absolute, np.array([3 + 4j, complex(math.nan, math.inf)], dtype.storage)
    )
    assert same(lengths, np.array([5, math.inf], dtype.real.storage))


def test_extremes_of_booleans() -> None:
    left, right = pairs(boolean)
    assert same(evaluate(tensor.Maximum, left, right), left | right)
    assert same(evaluate(tensor.Minimum, left, right), left & right)


@pytest.mark.parametrize("dtype", dtypes(FLOATS), ids=str)
def test_angles_and_lengths(dtype: DType) -> None:
    left, right = pairs(dtype)
    for cls, meaning in ((tensor.Arctan2, math.atan2), (tensor.Hypot, math.hypot)):
        assert near(evaluate(cls, left, right), expected(meaning, dtype, left, right), 2)


@pytest.mark.parametrize("dtype", dtypes(FLOATS), ids=str)
def test_the_sign_of_nan(dtype: DType) -> None:
    """The one thing about a NaN that ops on the sign bit say."""
    nan = np.array([math.nan, math.copysign(math.nan, -1)]).astype(dtype.storage)
    negative = np.signbit(nan)
    assert sorted(negative) == [False, True]
    assert np.signbit(evaluate(tensor.Negate, nan)).tolist() == (~negative).tolist()
    assert not np.signbit(evaluate(tensor.Absolute, nan)).any()
    assert np.signbit(evaluate(tensor.CopySign, nan, -abs(nan))).all()


@pytest.mark.parametrize("dtype", [f32, f64], ids=str)
def test_next_after_as_the_c_library_has_it(dtype: DType) -> None:
    left, right = pairs(dtype)
    with np.errstate(all="ignore"):
        wanted = np.nextafter(left, right)
    assert same(evaluate(tensor.NextAfter, left, right), wanted)


@pytest.mark.parametrize("dtype", dtypes(FLOATS), ids=str)
def test_next_after_walks_through_every_number(dtype: DType) -> None:
    """Bits counted up from zero are the numbers in order, whatever the dtype."""
    bits = np.arange(1, 100, dtype=f"u{dtype.itemsize}")
    numbers = np.concatenate([np.zeros(1, dtype.storage), bits.view(dtype.storage)])
    top = np.broadcast_to(numbers[-1], 99)
    assert same(evaluate(tensor.NextAfter, numbers[:-1], top), numbers[1:])
    assert same(evaluate(tensor.NextAfter, -numbers[:-1], -top), -numbers[1:])
    back = evaluate(tensor.NextAfter, numbers[1:], -top)
    assert same(back, numbers[:-1])


@pytest.mark.parametrize(
    "shape", [(), (0,), (3, 0, 2), (1,) * 8, (2, 1, 2, 1, 2, 1, 2, 1)], ids=str
)
@pytest.mark.parametrize("dtype", dtypes(NUMBERS), ids=str)
def test_every_shape(shape: tuple[int, ...], dtype: DType) -> None:
    x = np.resize(np.arange(1, 20), shape).astype(dtype.storage)
    assert same(
        evaluate(tensor.Add, x, x), (2 * np.resize(np.arange(1, 20), shape)).astype(dtype.storage)
    )
    assert evaluate(tensor.Absolute, x).shape == shape


@pytest.mark.parametrize("strided", [False, True])
def test_strides_do_not_matter(strided: bool) -> None:
    x = np.linspace(-2, 2, 24, dtype=np.float32).reshape(4, 6)
    given = np.asfortranarray(x)[::-1, ::2] if strided else np.ascontiguousarray(x[::-1, ::2])
    assert same(evaluate(tensor.Multiply, given, given), x[::-1, ::2] ** 2)


def test_symbolic_sizes() -> None:
    n = Symbol("n")
    x = np.arange(6, dtype=np.int32).reshape(3, 2)
    assert same(evaluate_shaped(tensor.Add, [(n, 2), (n, 2)], x, x), 2 * x)


def test_constants_fold_to_what_runs() -> None:
    for cls, _, accepted in BINARY:
        for dtype in dtypes(accepted):
            left, right = (side[:3, :3] for side in pairs(dtype))
            made = folded(cls, left, right)
            assert same(made[0], evaluate(cls, left, right))


REFUSED = [
    (tensor.Maximum, c64, "expected a dtype among"),
    (tensor.Remainder, c64, "expected a dtype among"),
    (tensor.Add, boolean, "expected a dtype among"),
    (tensor.Hypot, i32, "expected a dtype among bf16, f16, f32, f64, f8e4m3, f8e5m2"),
    (tensor.NextAfter, i32, "expected a dtype among"),
    (tensor.Floor, i32, "expected a dtype among"),
    (tensor.Sign, boolean, "expected a dtype among"),
]


@pytest.mark.parametrize(("cls", "dtype", "message"), REFUSED)
def test_wrong_dtypes_are_refused(cls: type[Op], dtype: DType, message: str) -> None:
    operands = [np.zeros(2, dtype.storage)] * len(cls.operand_fields)
    with pytest.raises(VerifyError, match=message):
        evaluate(cls, *operands)


def test_unequal_shapes_are_refused() -> None:
    left, right = np.zeros((2, 3), np.float32), np.zeros((3, 2), np.float32)
    with pytest.raises(VerifyError, match=r"right has type tensor<\[3, 2\], f32>"):
        evaluate(tensor.Add, left, right)


def test_orders_are_among_what_extremes_take() -> None:
    for cls, dtype in itertools.product((tensor.Maximum, tensor.Minimum), dtypes(ORDERED)):
        x = special(dtype)
        assert same(evaluate(cls, x, x), x)
