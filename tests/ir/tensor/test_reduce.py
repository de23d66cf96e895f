"""Reductions, against sums and products of Python numbers, in any order of the strides."""

import math
from collections.abc import Callable
from functools import reduce
from itertools import combinations
from operator import and_, or_
from typing import Any

import numpy as np
import pytest

from brimstone.ir import tensor
from brimstone.ir.declare import Op
from brimstone.ir.dims import Symbol
from brimstone.ir.dtypes import (
    BITS,
    COMPLEXES,
    FLOATS,
    INTEGERS,
    ORDERED,
    DType,
    bf16,
    boolean,
    f8e4m3,
    f16,
    f32,
)
from brimstone.ir.errors import VerifyError
from kit.evaluate import Array, evaluate, evaluate_shaped, fold, folded, near, same
from kit.special import special

REDUCTIONS = (
    tensor.ReduceSum,
    tensor.ReduceProduct,
    tensor.ReduceMaximum,
    tensor.ReduceMinimum,
    tensor.ReduceAnd,
    tensor.ReduceOr,
)


def lines(x: Array, axes: tuple[int, ...]) -> tuple[list[list[Any]], tuple[int, ...]]:
    """The numbers that each element of the result is made of, and the result's shape."""
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    shape = tuple(x.shape[axis] for axis in kept)
    found: dict[tuple[int, ...], list[Any]] = {place: [] for place in np.ndindex(*shape)}
    for place in np.ndindex(*x.shape):
        found[tuple(place[axis] for axis in kept)].append(x[place])
    return list(found.values()), shape


def expected(function: Callable[[list[Any]], Any], x: Array, axes: tuple[int, ...]) -> Array:
    made, shape = lines(x, axes)
    return np.array([function(line) for line in made], x.dtype).reshape(shape)


def all_axes(rank: int) -> list[tuple[int, ...]]:
    return [axes for count in range(rank + 1) for axes in combinations(range(rank), count)]


@pytest.mark.parametrize("dtype", sorted(INTEGERS, key=repr), ids=repr)
@pytest.mark.parametrize("axes", all_axes(3), ids=str)
def test_integers_wrap(dtype: DType, axes: tuple[int, ...]) -> None:
    x = np.resize(special(dtype), (2, 3, 4))

    def wrapped(number: int) -> Any:
        return np.array(number % (1 << dtype.bits), f"u{dtype.itemsize}").view(dtype.storage)

    def total(line: list[Any]) -> Any:
        return wrapped(sum(map(int, line)))

    def product(line: list[Any]) -> Any:
        return wrapped(math.prod(map(int, line)))

    assert same(evaluate(tensor.ReduceSum, x, axes=axes), expected(total, x, axes))
    assert same(evaluate(tensor.ReduceProduct, x, axes=axes), expected(product, x, axes))


@pytest.mark.parametrize("dtype", sorted(BITS, key=repr), ids=repr)
@pytest.mark.parametrize("axes", all_axes(2), ids=str)
def test_bits(dtype: DType, axes: tuple[int, ...]) -> None:
    x = np.resize(special(dtype), (3, 5))
    for cls, function in ((tensor.ReduceAnd, and_), (tensor.ReduceOr, or_)):
        found = evaluate(cls, x, axes=axes)
        assert same(found, expected(lambda line, f=function: reduce(f, line), x, axes))


@pytest.mark.parametrize("dtype", sorted(ORDERED, key=repr), ids=repr)
@pytest.mark.parametrize("axes", all_axes(3), ids=str)
def test_extremes(dtype: DType, axes: tuple[int, ...]) -> None:
    x = np.resize(special(dtype), (3, 2, 5))

    def largest(line: list[Any]) -> Any:
        nan = [each for each in line if each != each]  # noqa: PLR0124 (so is NaN, of any dtype)
        by_sign = sorted(line, key=lambda each: (float(each), math.copysign(1, float(each))))
        return nan[0] if nan else by_sign[-1]

    def smallest(line: list[Any]) -> Any:
        nan = [each for each in line if each != each]  # noqa: PLR0124
        by_sign = sorted(line, key=lambda each: (float(each), math.copysign(1, float(each))))
        return nan[0] if nan else by_sign[0]

    assert same(evaluate(tensor.ReduceMaximum, x, axes=axes), expected(largest, x, axes))
    assert same(evaluate(tensor.ReduceMinimum, x, axes=axes), expected(smallest, x, axes))


@pytest.mark.parametrize("dtype", sorted(FLOATS, key=repr), ids=repr)
def test_floats_are_accumulated_wide_and_rounded_once(dtype: DType) -> None:
    x = (np.random.default_rng(0).integers(1, 8, (5, 96)) / 8).astype(dtype.storage)
    with np.errstate(all="ignore"):
        totals = np.array([math.fsum(map(float, line)) for line in x]).astype(dtype.storage)
        halves = np.array([math.prod(map(float, line[:3])) for line in x])
        products = halves.astype(dtype.accumulator.storage).astype(dtype.storage)
    assert same(evaluate(tensor.ReduceSum, x, axes=(1,)), totals)
    assert same(evaluate(tensor.ReduceProduct, x[:, :3], axes=(1,)), products)


def test_a_sum_of_narrow_floats_does_not_stop_growing() -> None:
    for dtype, count in ((bf16, 1024), (f16, 8192), (f8e4m3, 256)):
        ones = np.ones(count, dtype.storage)
        assert float(evaluate(tensor.ReduceSum, ones, axes=(0,))) == count


@pytest.mark.parametrize("dtype", sorted(COMPLEXES, key=repr), ids=repr)
def test_complex_numbers(dtype: DType) -> None:
    x = np.array([[1 + 2j, 3 - 1j], [0.5j, -2]], dtype.storage)
    total = evaluate(tensor.ReduceSum, x, axes=(0, 1))
    assert same(total, np.array(2 + 1.5j, dtype.storage))
    product = evaluate(tensor.ReduceProduct, x, axes=(1,))
    assert near(product, np.array([5 + 5j, -1j], dtype.storage), 1)


@pytest.mark.parametrize("cls", [tensor.ReduceSum, tensor.ReduceProduct])
def test_bits_do_not_depend_on_strides(cls: type[Op]) -> None:
    x = np.random.default_rng(1).standard_normal((17, 9, 33)).astype(np.float32)
    plain = evaluate(cls, x, axes=(0, 2))
    for order in ((2, 1, 0), (0, 2, 1), (1, 2, 0)):
        back = [order.index(axis) for axis in range(3)]
        strided = np.ascontiguousarray(x.transpose(order)).transpose(back)
        assert same(evaluate(cls, strided, axes=(0, 2)), plain)
    backwards = np.ascontiguousarray(x[:, :, ::-1])[:, :, ::-1]
    assert same(evaluate(cls, backwards, axes=(0, 2)), plain)


def test_each_line_is_reduced_as_if_alone() -> None:
    x = np.random.default_rng(2).standard_normal((7, 300)).astype(np.float32)
    together = evaluate(tensor.ReduceSum, x, axes=(1,))
    alone = [evaluate(tensor.ReduceSum, line, axes=(0,)) for line in x]
    assert same(together, np.array(alone))


def identities(dtype: DType) -> dict[type[Op], Any]:
    if dtype is boolean:
        return {tensor.ReduceMaximum: False, tensor.ReduceMinimum: True}
    if dtype in FLOATS:
        most = 448.0 if dtype is f8e4m3 else math.inf
        return {tensor.ReduceMaximum: -most, tensor.ReduceMinimum: most}
    limits = np.iinfo(dtype.storage)
    return {tensor.ReduceMaximum: limits.min, tensor.ReduceMinimum: limits.max}


@pytest.mark.parametrize("dtype", sorted(ORDERED, key=repr), ids=repr)
def test_of_no_elements(dtype: DType) -> None:
    x = np.zeros((2, 0, 3), dtype.storage)
    wanted = identities(dtype)
    if dtype is not boolean:
        wanted |= {tensor.ReduceSum: 0, tensor.ReduceProduct: 1}
    if dtype in BITS:
        ones = np.invert(np.zeros((), dtype.storage))
        wanted |= {tensor.ReduceAnd: ones, tensor.ReduceOr: 0}
    for cls, number in wanted.items():
        filled = np.full((2, 3), number).astype(dtype.storage)
        assert same(evaluate(cls, x, axes=(1,)), filled)
        assert evaluate(cls, x, axes=(0, 2)).shape == (0,)


@pytest.mark.parametrize("cls", REDUCTIONS)
def test_rank_0_and_rank_8(cls: type[Op]) -> None:
    one = np.array(3, np.int32)
    assert same(evaluate(cls, one, axes=()), one)
    eight = np.arange(256, dtype=np.int32).reshape((2,) * 8)
    axes = (0, 1, 3, 4, 5, 7)
    whole = np.ascontiguousarray(eight.transpose(2, 6, *axes)).reshape(2, 2, 64)
    assert same(evaluate(cls, eight, axes=axes), evaluate(cls, whole, axes=(2,)))


def test_symbolic_sizes() -> None:
    n = Symbol("n")
    x = np.arange(6, dtype=np.int32).reshape(3, 2)
    assert evaluate_shaped(tensor.ReduceSum, [(n, 2)], x, axes=(0,)).tolist() == [6, 9]
    assert evaluate_shaped(tensor.ReduceSum, [(n, 2)], x, axes=(1,)).tolist() == [1, 5, 9]


def test_folding() -> None:
    assert folded(tensor.ReduceSum, np.arange(4, dtype=np.int8), axes=(0,))[0] == 6
    assert fold(tensor.ReduceSum, np.arange(1000), axes=(0,)) is None


REFUSED = [
    ((2,), r"axis 2 is outside 0\.\.1, the axes: tensor<\[2, 3\], f32>"),
    ((-1,), r"axis -1 is outside 0\.\.1, the axes"),
    ((1, 0), r"axes are distinct and in order, not: \[1, 0\]"),
    ((1, 1), r"axes are distinct and in order, not: \[1, 1\]"),
]


@pytest.mark.parametrize(("axes", "message"), REFUSED)
def test_wrong_axes_are_refused(axes: tuple[int, ...], message: str) -> None:
    with pytest.raises(VerifyError, match=message):
        evaluate(tensor.ReduceSum, np.zeros((2, 3), f32.storage), axes=axes)


def test_wrong_dtypes_are_refused() -> None:
    wrong = {
        tensor.ReduceSum: np.bool_,
        tensor.ReduceMaximum: np.complex64,
        tensor.ReduceAnd: np.float32,
    }
    for cls, storage in wrong.items():
        with pytest.raises(VerifyError, match="expected a dtype among"):
            evaluate(cls, np.zeros(3, storage), axes=(0,))
