"""Tensors of one element as numbers of Python: of each dtype, computed or not, on both devices."""

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.ir import dtypes as ir
from kit.both_devices import on_both_devices
from kit.mistakes import Mistake, check

device = on_both_devices()
DTYPES = [each for each in vars(ir).values() if isinstance(each, ir.DType)]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (1,), (1, 1, 1)], ids=str)
def test_a_number_is_what_numpy_makes_of_it(dtype: ir.DType, shape: tuple[int, ...]) -> None:
    held = np.array([0, 1, 3, 100]).astype(dtype.storage)
    for at in range(4):
        tensor = bs.reshape(bs.asarray(held)[at : at + 1], shape)
        for found in (tensor, tensor.sync()):
            value = found.item()
            assert type(value) is type(held[at].item())
            assert value == held[at].item()


@pytest.mark.parametrize("value", [-0.0, math.inf, -math.inf, math.nan, 5e-324, 1e308])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_edges_of_floats(value: float, dtype: str) -> None:
    with np.errstate(over="ignore", under="ignore"):
        expected = float(np.asarray(value).astype(dtype))
    found = bs.asarray(value, dtype=dtype)
    assert repr(found.item()) == repr(float(found)) == repr(expected)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_edges_of_integers(dtype: str) -> None:
    limits = np.iinfo(dtype)
    for value in (limits.min, -1, limits.max):
        tensor = bs.asarray(np.array(value, dtype))
        assert tensor.item() == int(tensor) == operator.index(tensor) == value


def test_what_python_makes_of_numbers() -> None:
    half, yes = bs.asarray(2.5) + 0, bs.asarray([3]) > 2
    assert (int(half), float(half), complex(half), bool(half)) == (2, 2.5, 2.5 + 0j, True)
    assert (int(yes), float(yes), bool(yes), bool(~yes)) == (1, 1.0, True, False)
    assert complex(bs.asarray(1 - 2j)) == 1 - 2j
    for value, problem in ((math.nan, ValueError), (math.inf, OverflowError)):
        with pytest.raises(problem):
            int(bs.asarray(value))


def test_what_is_not_one_number_is_none() -> None:
    for many in (bs.ones(2), bs.ones((0,)), bs.ones((1, 2))):
        for ask in (float, bool, complex, lambda x: x.item()):
            with pytest.raises(bs.ShapeError, match="not one element"):
                ask(many)


def test_a_number_that_was_given_away() -> None:
    step = bs.jit(lambda x: x + 1, donate="x")
    given = bs.asarray(1.0).sync()
    assert step(given).item() == 2
    with pytest.raises(bs.DeadTensorError, match="donated"):
        given.item()


MISTAKES = [
    Mistake(lambda: bs.argsort(2**200), bs.DTypeError, "argsort: 16069"),
    Mistake(lambda: bs.nonzero(bs.ones(3), size=2, fill_value=2**70), bs.DTypeError, "nonzero: 1"),
    Mistake(
        lambda: bs.argwhere(bs.ones(3), size=2, fill_value="x"), bs.DTypeError, "argwhere: 'x'"
    ),
    Mistake(
        lambda: bs.unique_values(bs.asarray([1], dtype=bs.int8), size=2, fill_value=999),
        bs.DTypeError,
        "unique_values: 999 is not a value of int8",
    ),
    Mistake(
        lambda: bs.unique_values(bs.ones(1), size=2, fill_value=[1]),
        bs.DTypeError,
        "unique_values: [1] is not a value of float32",
    ),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.words)
def test_a_number_that_no_dtype_holds_is_refused_by_the_function_called(mistake: Mistake) -> None:
    check(mistake)


def test_an_integer_that_is_an_argument_is_not_cut_off() -> None:
    """As without `jit`, it must be a value of the dtype that it meets, also at later calls."""
    x = bs.asarray(np.array([1, 100], "int8"))
    less = bs.jit(lambda x, k: x < k)
    twice = bs.jit(lambda x, k: less(x, k) | less(x, 2))
    each = bs.jit(bs.vmap(bs.maximum, in_axes=(0, None)))
    for step in (less, twice, each):
        for k in (*[50] * 40, 127, -128):
            assert step(x, k).dtype in (bs.bool, bs.int8)
        for k in (128, -129, 300):
            with pytest.raises(bs.DTypeError, match=f"{k} is not a value of int8"):
                step(x, k)
    assert less(x, 50).tolist() == [True, False]
    assert less(bs.asarray([1, 500]), 300).tolist() == [True, False]
    assert less(bs.asarray([1.0, 500.0]), 300).tolist() == [True, False]


@pytest.mark.parametrize(
    "use",
    [
        lambda x, k: bs.where(x < 0, x, k),
        lambda x, k: bs.full((2,), k, dtype=bs.int8),
        bs.full_like,
        lambda x, k: bs.asarray(k, dtype=bs.int8),
        lambda x, k: bs.pad(x, (1, 1), value=k),
    ],
)
def test_what_does_not_fit_is_refused_in_each_way_to_use_it(use: Callable[..., Any]) -> None:
    x, compiled = bs.asarray([1, -2], dtype=bs.int8), bs.jit(use)
    for _ in range(3):
        np.testing.assert_array_equal(compiled(x, 3).numpy(), use(x, 3).numpy())
        for run in (use, compiled):
            with pytest.raises(bs.DTypeError, match=r"300 (is not a value|out of bounds)"):
                run(x, 300)
