"""Scans, against running totals of Python numbers."""

import math
from collections.abc import Callable
from itertools import accumulate
from operator import add, mul
from typing import Any

import numpy as np
import pytest

from brimstone.ir import tensor
from brimstone.ir.declare import Op
from brimstone.ir.dims import Symbol
from brimstone.ir.dtypes import FLOATS, INTEGERS, ORDERED, DType, bf16
from brimstone.ir.errors import VerifyError
from kit.evaluate import Array, evaluate, evaluate_shaped, folded, same
from kit.special import special

SCANS = (
    tensor.CumulativeSum,
    tensor.CumulativeProduct,
    tensor.CumulativeMaximum,
    tensor.CumulativeMinimum,
)


def expected(function: Callable[[list[Any]], list[Any]], x: Array, axis: int) -> Array:
    lines = np.moveaxis(x, axis, -1)
    made = [function(list(line)) for line in lines.reshape(-1, x.shape[axis])]
    return np.moveaxis(np.array(made, x.dtype).reshape(lines.shape), -1, axis)


@pytest.mark.parametrize("dtype", sorted(INTEGERS, key=repr), ids=repr)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_integers_wrap(dtype: DType, axis: int) -> None:
    x = np.resize(special(dtype), (4, 3, 5))
    for cls, function in ((tensor.CumulativeSum, add), (tensor.CumulativeProduct, mul)):

        def running(line: list[Any], function: Any = function) -> list[Any]:
            numbers = accumulate(map(int, line), function)
            unsigned = np.array(
                [each % (1 << dtype.bits) for each in numbers], f"u{dtype.itemsize}"
            )
            return list(unsigned.view(dtype.storage))

        assert same(evaluate(cls, x, axis=axis), expected(running, x, axis))


@pytest.mark.parametrize("dtype", sorted(FLOATS, key=repr), ids=repr)
def test_floats_run_in_f32_and_each_prefix_is_rounded_once(dtype: DType) -> None:
    x = (np.random.default_rng(3).integers(-8, 8, (3, 40)) / 16).astype(dtype.storage)

    def running(line: list[Any]) -> list[Any]:
        exact = np.array(list(accumulate(map(float, line))))
        return list(exact.astype(dtype.storage))

    assert same(evaluate(tensor.CumulativeSum, x, axis=1), expected(running, x, 1))


def test_a_running_sum_of_bf16_does_not_stop_growing() -> None:
    ones = np.ones(1024, bf16.storage)
    assert float(evaluate(tensor.CumulativeSum, ones, axis=0)[-1]) == 1024


@pytest.mark.parametrize("dtype", sorted(ORDERED, key=repr), ids=repr)
@pytest.mark.parametrize("axis", [0, 1])
def test_extremes_are_those_of_each_prefix(dtype: DType, axis: int) -> None:
    x = np.resize(special(dtype), (6, 7))
    pairs = (
        (tensor.CumulativeMaximum, tensor.ReduceMaximum),
        (tensor.CumulativeMinimum, tensor.ReduceMinimum),
    )
    for cls, reduction in pairs:
        stops = range(1, x.shape[axis] + 1)
        prefixes = [np.take(x, range(stop), axis) for stop in stops]
        wanted = np.stack([evaluate(reduction, each, axes=(axis,)) for each in prefixes], axis)
        assert same(evaluate(cls, x, axis=axis), wanted)


def test_zeros_and_nan_in_extremes() -> None:
    nan = math.nan
    x = np.array([-0.0, 0.0, -0.0, nan, 5], np.float32)
    larger = np.array([-0.0, 0.0, 0.0, nan, nan], np.float32)
    smaller = np.array([-0.0, -0.0, -0.0, nan, nan], np.float32)
    assert same(evaluate(tensor.CumulativeMaximum, x, axis=0), larger)
    assert same(evaluate(tensor.CumulativeMinimum, x, axis=0), smaller)


@pytest.mark.parametrize("cls", SCANS)
@pytest.mark.parametrize("axis", [0, 1])
def test_reverse(cls: type[Op], axis: int) -> None:
    x = np.random.default_rng(4).standard_normal((3, 5)).astype(np.float16)
    forward = evaluate(cls, np.flip(x, axis), axis=axis)
    assert same(evaluate(cls, x, axis=axis, reverse=True), np.flip(forward, axis))


@pytest.mark.parametrize("storage", [np.complex64, np.complex128])
def test_complex_numbers(storage: Any) -> None:
    z = np.array([1 + 1j, 2j, -1], storage)
    assert evaluate(tensor.CumulativeSum, z, axis=0).tolist() == [1 + 1j, 1 + 3j, 3j]
    assert evaluate(tensor.CumulativeProduct, z, axis=0).tolist() == [1 + 1j, -2 + 2j, 2 - 2j]


@pytest.mark.parametrize("cls", SCANS)
def test_shapes_and_strides(cls: type[Op]) -> None:
    for shape in ((0,), (3, 0, 2), (1,) * 8):
        assert evaluate(cls, np.ones(shape, np.float32), axis=0).shape == shape
    x = np.random.default_rng(5).standard_normal((5, 6)).astype(np.float32)
    assert same(evaluate(cls, np.asfortranarray(x), axis=1), evaluate(cls, x, axis=1))


def test_symbolic_sizes() -> None:
    x = np.arange(4, dtype=np.int32)
    found = evaluate_shaped(tensor.CumulativeSum, [(Symbol("n"),)], x, axis=0, reverse=True)
    assert found.tolist() == [6, 6, 5, 3]


def test_folding() -> None:
    x = np.array([1, 2, 3], np.int8)
    assert folded(tensor.CumulativeSum, x, axis=0)[0].tolist() == [1, 3, 6]


def test_wrong_axes_and_dtypes_are_refused() -> None:
    for axis in (-1, 2):
        with pytest.raises(VerifyError, match=rf"axis {axis} is outside 0\.\.1, the axes"):
            evaluate(tensor.CumulativeSum, np.zeros((2, 3)), axis=axis)
    with pytest.raises(VerifyError, match="axis 0 is outside a tensor of rank 0"):
        evaluate(tensor.CumulativeSum, np.zeros(()), axis=0)
    for cls, storage in (
        (tensor.CumulativeSum, np.bool_),
        (tensor.CumulativeMaximum, np.complex64),
    ):
        with pytest.raises(VerifyError, match="expected a dtype among"):
            evaluate(cls, np.zeros(3, storage), axis=0)
