"""Logic, shifts and counts, against Python's unbounded integers."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from brimstone.ir import tensor
from brimstone.ir.declare import Op
from brimstone.ir.dtypes import BITS, INTEGERS, DType, Kind, boolean, f32
from brimstone.ir.errors import VerifyError
from kit.evaluate import Array, evaluate, folded, same
from kit.special import special

LOGIC: list[tuple[type[Op], Callable[[Any, Any], Any]]] = [
    (tensor.BitAnd, operator.and_),
    (tensor.BitOr, operator.or_),
    (tensor.BitXor, operator.xor),
]
EVERY_BITS = sorted(BITS, key=repr)
EVERY_INTEGER = sorted(INTEGERS, key=repr)


def names(value: Any) -> str:
    return getattr(value, "name", repr(value))


def pairs(dtype: DType) -> tuple[Array, Array]:
    left, right = np.meshgrid(special(dtype), special(dtype))
    return left, right


def wrapped(numbers: list[int], dtype: DType, shape: tuple[int, ...]) -> Array:
    unsigned = [number % (1 << dtype.bits) for number in numbers]
    array = np.array(unsigned, f"u{dtype.itemsize}")
    return array.view(dtype.storage).reshape(shape)


def by_pairs(function: Callable[[int, int], int], dtype: DType) -> Array:
    left, right = pairs(dtype)
    numbers = [function(int(a), int(b)) for a, b in zip(left.flat, right.flat, strict=True)]
    return wrapped(numbers, dtype, left.shape)


@pytest.mark.parametrize("dtype", EVERY_INTEGER, ids=repr)
@pytest.mark.parametrize(("cls", "function"), LOGIC, ids=names)
def test_logic_of_integers(cls: type[Op], function: Any, dtype: DType) -> None:
    assert same(evaluate(cls, *pairs(dtype)), by_pairs(function, dtype))


@pytest.mark.parametrize(("cls", "function"), LOGIC, ids=names)
def test_logic_of_booleans(cls: type[Op], function: Any) -> None:
    left, right = pairs(boolean)
    wanted = [function(bool(a), bool(b)) for a, b in zip(left.flat, right.flat, strict=True)]
    assert same(evaluate(cls, left, right), np.array(wanted).reshape(left.shape))


def test_not() -> None:
    assert same(evaluate(tensor.BitNot, np.array([True, False])), np.array([False, True]))
    for dtype in EVERY_INTEGER:
        x = special(dtype)
        wanted = wrapped([~int(each) for each in x], dtype, x.shape)
        assert same(evaluate(tensor.BitNot, x), wanted)


@pytest.mark.parametrize("dtype", EVERY_INTEGER, ids=repr)
def test_shifts(dtype: DType) -> None:
    """Python's shifts of whole numbers, with every amount outside the width moving all bits out."""

    def left(x: int, amount: int) -> int:
        return x << amount if 0 <= amount < dtype.bits else 0

    def right(x: int, amount: int) -> int:
        return x >> (amount if 0 <= amount < dtype.bits else dtype.bits)

    assert same(evaluate(tensor.ShiftLeft, *pairs(dtype)), by_pairs(left, dtype))
    assert same(evaluate(tensor.ShiftRight, *pairs(dtype)), by_pairs(right, dtype))


@pytest.mark.parametrize("dtype", EVERY_INTEGER, ids=repr)
def test_shifts_by_every_amount_around_the_width(dtype: DType) -> None:
    amounts = np.arange(dtype.bits - 2, dtype.bits + 3).astype(dtype.storage)
    x = np.full_like(amounts, np.iinfo(dtype.storage).max)
    signed = np.full_like(amounts, np.iinfo(dtype.storage).min)
    numbers = [(int(x[0]) << a if a < dtype.bits else 0) for a in map(int, amounts)]
    assert same(evaluate(tensor.ShiftLeft, x, amounts), wrapped(numbers, dtype, x.shape))
    numbers = [int(signed[0]) >> a for a in map(int, amounts)]
    assert same(evaluate(tensor.ShiftRight, signed, amounts), wrapped(numbers, dtype, x.shape))


@pytest.mark.parametrize("dtype", EVERY_INTEGER, ids=repr)
def test_counts(dtype: DType) -> None:
    x = np.concatenate([special(dtype), (1 << np.arange(dtype.bits - 1)).astype(dtype.storage)])
    texts = [format(int(each) % (1 << dtype.bits), f"0{dtype.bits}b") for each in x]
    ones = [text.count("1") for text in texts]
    zeros = [len(text) - len(text.lstrip("0")) for text in texts]
    assert same(evaluate(tensor.CountOnes, x), np.array(ones, dtype.storage))
    assert same(evaluate(tensor.CountLeadingZeros, x), np.array(zeros, dtype.storage))


@pytest.mark.parametrize("shape", [(), (0, 2), (1,) * 8, (3, 2)], ids=str)
def test_shapes(shape: tuple[int, ...]) -> None:
    x = np.full(shape, 5, np.uint16)
    for cls, wanted in ((tensor.CountOnes, 2), (tensor.CountLeadingZeros, 13)):
        assert same(evaluate(cls, x), np.full(shape, wanted, np.uint16))
    assert same(evaluate(tensor.ShiftLeft, x, x), np.full(shape, 160, np.uint16))


def test_strides_do_not_matter() -> None:
    x = np.arange(24, dtype=np.int32).reshape(4, 6).T[::-2]
    assert same(evaluate(tensor.CountOnes, x), evaluate(tensor.CountOnes, np.array(x)))


def test_folding() -> None:
    amount = np.array([1, 40], np.int32)
    assert folded(tensor.ShiftRight, np.array([-8, -8], np.int32), amount)[0].tolist() == [-4, -1]


def test_wrong_dtypes_are_refused() -> None:
    numbers, flags = np.zeros(2, f32.storage), np.zeros(2, np.bool_)
    for cls in (tensor.BitAnd, tensor.ShiftLeft):
        with pytest.raises(VerifyError, match=r"left has type tensor.*expected a dtype among"):
            evaluate(cls, numbers, numbers)
    for cls in (tensor.CountOnes, tensor.CountLeadingZeros):
        with pytest.raises(VerifyError, match=r"x has type tensor.*expected a dtype among"):
            evaluate(cls, flags)


def test_every_dtype_of_bits_is_covered() -> None:
    assert {dtype.kind for dtype in EVERY_BITS} == {Kind.BOOL, Kind.SIGNED, Kind.UNSIGNED}
