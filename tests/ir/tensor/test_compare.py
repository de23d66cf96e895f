"""Comparisons, tests and select, against Python's own on every pair of special numbers."""

import math
import operator
from typing import Any

import numpy as np
import pytest

from brimstone.ir import tensor
from brimstone.ir.declare import Op
from brimstone.ir.dims import Symbol
from brimstone.ir.dtypes import ALL, FLOATS, ORDERED, DType
from brimstone.ir.errors import VerifyError
from kit.evaluate import evaluate, evaluate_shaped, folded, same
from kit.special import special

EQUALITIES = [(tensor.Equal, operator.eq), (tensor.NotEqual, operator.ne)]
ORDERS = [(tensor.Less, operator.lt), (tensor.LessEqual, operator.le)]
EVERY = sorted(ALL, key=repr)


def plain(number: Any) -> Any:
    return number.item() if number.dtype.kind in "biuc" else float(number)


@pytest.mark.parametrize("dtype", EVERY, ids=repr)
def test_pairs(dtype: DType) -> None:
    left, right = np.meshgrid(special(dtype)[:24], special(dtype)[:24])
    pairs = [(plain(a), plain(b)) for a, b in zip(left.flat, right.flat, strict=True)]
    for cls, function in EQUALITIES + (ORDERS if dtype in ORDERED else []):
        wanted = np.array([function(a, b) for a, b in pairs]).reshape(left.shape)
        assert same(evaluate(cls, left, right), wanted)


@pytest.mark.parametrize("dtype", sorted(FLOATS, key=repr), ids=repr)
def test_properties(dtype: DType) -> None:
    x = special(dtype)
    nan, finite = [[f(float(each)) for each in x] for f in (math.isnan, math.isfinite)]
    assert same(evaluate(tensor.IsNan, x), np.array(nan))
    assert same(evaluate(tensor.IsFinite, x), np.array(finite))


@pytest.mark.parametrize("dtype", EVERY, ids=repr)
def test_select(dtype: DType) -> None:
    on_true = special(dtype)
    on_false = on_true[::-1]
    predicate = np.arange(len(on_true)) % 3 == 0
    found = evaluate(tensor.Select, predicate, on_true, on_false)
    chosen = [t if p else f for p, t, f in zip(predicate, on_true, on_false, strict=True)]
    assert same(found, np.array(chosen, dtype.storage))


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1,) * 8], ids=str)
def test_shapes(shape: tuple[int, ...]) -> None:
    x = np.ones(shape, np.float32)
    assert same(evaluate(tensor.LessEqual, x, x), np.ones(shape, np.bool_))
    assert same(evaluate(tensor.IsNan, x), np.zeros(shape, np.bool_))
    assert same(evaluate(tensor.Select, np.zeros(shape, np.bool_), x, -x), -x)


def test_symbolic_sizes() -> None:
    n = Symbol("n")
    x = np.arange(3.0)
    found = evaluate_shaped(tensor.Select, [(n,), (n,), (n,)], x < 1, x, -x)
    assert found.tolist() == [0, -1, -2]


def test_folding() -> None:
    x = np.array([1, 2], np.int32)
    assert folded(tensor.Less, x, x[::-1].copy())[0].tolist() == [True, False]
    assert folded(tensor.Select, np.array([True, False]), x, -x)[0].tolist() == [1, -2]


REFUSED: list[tuple[type[Op], list[Any], str]] = [
    (tensor.Less, [np.complex64, np.complex64], "left has type tensor.*expected a dtype among"),
    (tensor.Equal, [np.float32, np.int32], "right has type tensor<.*, i32>, expected"),
    (tensor.IsNan, [np.int32], "x has type tensor.*expected a dtype among"),
    (tensor.Select, [np.int8, np.int32, np.int32], "predicate has type tensor.*, i8>, expected"),
    (tensor.Select, [np.bool_, np.int32, np.int8], "on_false has type tensor.*, i8>, expected"),
]


@pytest.mark.parametrize(("cls", "storages", "message"), REFUSED)
def test_wrong_dtypes_are_refused(cls: type[Op], storages: list[Any], message: str) -> None:
    with pytest.raises(VerifyError, match=message):
        evaluate(cls, *(np.zeros(2, storage) for storage in storages))


def test_a_predicate_of_another_shape_is_refused() -> None:
    x = np.zeros((2, 3))
    with pytest.raises(VerifyError, match=r"expected tensor<\[2, 3\], bool> \(from on_true\)"):
        evaluate(tensor.Select, np.zeros(3, np.bool_), x, x)
