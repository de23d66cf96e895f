"""Tensors from nothing, from numbers and from arrays: what the standard leaves to us, mistakes."""

import signal
from array import array
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from kit.mistakes import Mistake, check


@pytest.mark.parametrize(
    ("given", "dtype"),
    [
        (True, "bool"),
        (3, "int64"),
        (0.5, "float32"),
        (2j, "complex64"),
        ([1, 2.5], "float32"),
        ([], "float32"),
        (range(3), "int64"),
        (np.float64(1), "float64"),
        (np.int8(1), "int8"),
        (np.ones(2), "float64"),
        (np.ones(2, ">f4"), "float32"),
        (np.ones(2, "<i2")[::-1], "int16"),
    ],
)
def test_what_numbers_become(given: Any, dtype: str) -> None:
    made = bs.asarray(given)
    assert made.dtype == dtype
    np.testing.assert_array_equal(made.numpy(), np.asarray(given))


@pytest.mark.parametrize(
    ("made", "dtype", "values"),
    [
        (lambda: bs.arange(np.int64(3)), "int64", [0, 1, 2]),
        (lambda: bs.arange(bs.asarray(3)), "int64", [0, 1, 2]),
        (lambda: bs.arange(np.float32(2.5)), "float32", [0, 1, 2]),
        (lambda: bs.arange(5, 0, -2), "int64", [5, 3, 1]),
        (lambda: bs.arange(3, 3), "int64", []),
        (lambda: bs.arange(9, 2, -3, dtype=bs.uint8), "uint8", [9, 6, 3]),
        (lambda: bs.arange(-100, 101, 200, dtype=bs.int8), "int8", [-100, 100]),
        (lambda: bs.full(2, np.float64(3)), "float64", [3, 3]),
        (lambda: bs.full([2], np.int8(3)), "int8", [3, 3]),
        (lambda: bs.full((2,), bs.asarray(3)), "int64", [3, 3]),
        (lambda: bs.full((2,), 1.9, dtype=bs.int32), "int32", [1, 1]),
        (lambda: bs.asarray([bs.asarray(1.0), 2.0]), "float32", [1, 2]),
        (lambda: bs.asarray([1e300]), "float32", [np.inf]),
        (lambda: bs.linspace(0, 1, 3), "float32", [0, 0.5, 1]),
        (lambda: bs.linspace(5, -5, 7, dtype=bs.int32), "int32", [5, 3, 1, 0, -2, -4, -5]),
        (lambda: bs.linspace(0, 49, 50, dtype=bs.int8), "int8", [*range(50)]),
        (lambda: bs.linspace(np.nan, 1, 3)[2], "float32", 1),
        (lambda: bs.tensor([1.0], dtype="bfloat16"), "bfloat16", [1]),
        (lambda: bs.eye(2, k=1, dtype=bs.bool)[0], "bool", [False, True]),
        (lambda: bs.eye(2, k=1 << 63), "float32", [[0, 0], [0, 0]]),
        (lambda: bs.tril(bs.ones((2, 2)), k=-(1 << 80)), "float32", [[0, 0], [0, 0]]),
        (lambda: bs.triu(bs.ones((2, 2)), k=-(1 << 63) - 1), "float32", [[1, 1], [1, 1]]),
        (lambda: bs.tril(bs.ones((1, 2), dtype=bs.bool))[0], "bool", [True, False]),
        (lambda: bs.zeros_like(bs.ones(2, dtype=bs.float16)), "float16", [0, 0]),
        (lambda: bs.from_numpy(np.ones(1, np.uint8)), "uint8", [1]),
    ],
)
def test_what_is_made(made: Any, dtype: str, values: list[Any]) -> None:
    result = made()
    assert (result.dtype, result.tolist()) == (dtype, values)


def test_memory_is_copied_unless_it_is_asked_for() -> None:
    array = np.zeros(2, np.float32)
    copied, shared = bs.asarray(array), bs.asarray(array, copy=False)
    array[0] = 1
    assert copied.tolist() == [0, 0]
    assert np.shares_memory(shared.numpy(), array)


@pytest.mark.parametrize("device", ["reference", "cpu"])
@pytest.mark.parametrize("shape", [(), (2,)])
def test_a_tensor_is_made_on_the_device_that_is_asked_for(shape: Any, device: str) -> None:
    made = bs.zeros(shape, device=device)
    like = bs.ones_like(made)
    assert made.device == like.device == device
    bs.sync(made, like)
    assert made.device == like.device == device


NARROW = bs.asarray(1, dtype="bfloat16")
DOUBLE = bs.asarray([1.5, 2.5], dtype="float64")
LISTS: list[tuple[list[Any], str]] = [
    ([DOUBLE[0], DOUBLE[1]], "float64"), ([DOUBLE, DOUBLE], "float64"), ([DOUBLE[0], 1], "float64"),
    ([[DOUBLE[0]], [2.5]], "float64"), ([np.ones(2), np.ones(2)], "float64"),
    ([np.float16(1)], "float16"), ([np.float16(1), np.float32(2)], "float32"),
    ([np.float64(1), 2.0], "float32"), ([DOUBLE[0], 2j], "complex128"), ([1.5, 2j], "complex64"),
    ([bs.asarray(1, dtype="int32"), 2.5], "float32"), ([np.int8(1), np.int8(2)], "int8"),
    ([NARROW], "bfloat16"), ([NARROW, 2.5], "bfloat16"), ([NARROW, 2], "bfloat16"),
    ([np.int8(1), 2], "int8"), ([np.int8(1), 2.5], "float32"),
    ([range(2), range(2, 4)], "int64"), ([array("d", [1.0])], "float32"),
    ([signal.Signals.SIGINT, 2], "int64"), ([True, 2], "int64"),
    ([], "float32"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "dtype"), LISTS, ids=str)
def test_a_list_has_the_dtype_of_the_arrays_in_it(given: Any, dtype: str) -> None:
    made = bs.asarray(given)
    assert made.dtype == dtype
    np.testing.assert_array_equal(made.numpy(), np.array(bs.asarray(given, dtype=dtype)))


OF_TENSORS = [each for each in LISTS if any(isinstance(one, bs.Tensor) for one in each[0])]


@pytest.mark.parametrize(("given", "dtype"), OF_TENSORS, ids=str)
def test_a_traced_list_has_the_same_dtype(given: list[Any], dtype: str) -> None:
    traced = bs.jit(bs.asarray)([*given])
    assert traced.dtype == dtype


def test_a_list_of_tensors_that_are_traced_or_keep_a_history_is_put_together() -> None:
    turned = bs.jit(lambda x: bs.asarray([[x[1], 2.0], [x[0], 3]]))
    assert turned(bs.asarray([1.0, 2.0])).tolist() == [[2, 2], [1, 3]]
    weights = bs.tensor([1.0, 2.0], requires_grad=True)
    slopes = (bs.tensor([weights[1] * 3, weights[0], 1.0]) ** 2).sum().backward()
    assert slopes[weights].tolist() == [2, 36]


MISTAKES = [
    Mistake(lambda: bs.arange("a"), bs.DTypeError, "str"),
    Mistake(lambda: bs.asarray([np.int8(1), 300]), bs.DTypeError, "300 is not a value of int8"),
    Mistake(lambda: bs.asarray([np.uint64(1), np.int64(2)]), bs.DTypeError, "uint64 and int64"),
    Mistake(lambda: bs.arange(float("nan")), bs.ArgumentError, "cannot count from 0 to nan by 1"),
    Mistake(lambda: bs.device(None), bs.DeviceError, "a device has a name"),
    Mistake(lambda: bs.jvp(bs.sin, bs.ones(2), (bs.ones(2),)), bs.ArgumentError, "primals are a t"),
    Mistake(lambda: bs.jvp(bs.sin, (bs.ones(2),), bs.ones(2)), bs.ArgumentError, "tangents are a"),
    Mistake(lambda: bs.arange(0, 5, 0), bs.ArgumentError, "the step is 0"),
    Mistake(lambda: bs.full((2,), "a"), bs.DTypeError, "full"),
    Mistake(lambda: bs.full((2,), [1, 2]), bs.DTypeError, "full"),
    Mistake(
        lambda: bs.asarray(np.arange(3).astype(">f4"), copy=False),
        bs.ArgumentError,
        "cannot be shared",
    ),
    Mistake(lambda: bs.full((2,), 300, dtype=bs.int8), bs.DTypeError, "300 is not a value of int8"),
    Mistake(lambda: bs.full(2, np.inf, dtype=bs.int8), bs.DTypeError, "full: inf is not a value"),
    Mistake(lambda: bs.full(2, np.nan, dtype=bs.int8), bs.DTypeError, "full: nan is not a value"),
    Mistake(lambda: bs.arange(200, 202, dtype=bs.int8), bs.DTypeError, "arange: 200 is not a v"),
    Mistake(lambda: bs.linspace(0, 10**400, 3), bs.DTypeError, "linspace: 1000"),
    Mistake(lambda: bs.full(2.5, 1), bs.DTypeError, "a size is an integer"),
    Mistake(lambda: bs.full(-1, 1), bs.ArgumentError, "not negative"),
    Mistake(lambda: bs.zeros(2, dtype="no"), bs.DTypeError, "'no' is not a dtype"),
    Mistake(lambda: bs.zeros(2, device="moon"), bs.DeviceError, "moon"),
    Mistake(lambda: bs.asarray("hello"), bs.DTypeError, "got str"),
    Mistake(lambda: bs.asarray("hello", dtype=bs.float32), bs.DTypeError, "got str"),
    Mistake(lambda: bs.asarray(None), bs.DTypeError, "got NoneType"),
    Mistake(lambda: bs.asarray(["a"]), bs.DTypeError, "got list"),
    Mistake(lambda: bs.linspace("a", 1, 3), bs.DTypeError, "linspace: counts in numbers, not in s"),
    Mistake(lambda: bs.linspace(0, None, 3), bs.DTypeError, "NoneType"),
    Mistake(lambda: bs.asarray([[1], [1, 2]]), bs.ShapeError, "equal lengths"),
    Mistake(lambda: bs.asarray(-1, dtype=bs.uint8), bs.DTypeError, "-1"),
    Mistake(lambda: bs.asarray(np.ones(2)[::-1], copy=False), bs.ArgumentError, "shared"),
    Mistake(lambda: bs.linspace(0, 1, 2.5), bs.DTypeError, "a size is an integer"),
    Mistake(lambda: bs.eye(3, k=1.5), bs.DTypeError, "diagonal"),
    Mistake(lambda: bs.tril(bs.ones((2, 2)), k=1.5), bs.DTypeError, "diagonal"),
    Mistake(lambda: bs.triu(bs.ones(2)), bs.ShapeError, "at least two axes"),
    Mistake(lambda: bs.meshgrid(bs.ones((2, 2))), bs.ShapeError, "rank 1"),
    Mistake(lambda: bs.meshgrid(bs.ones(2), indexing="zz"), bs.ArgumentError, "zz"),
]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_explained(mistake: Mistake) -> None:
    check(mistake)
