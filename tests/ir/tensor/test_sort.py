"""Sorting, against Python's stable sort."""

import math
from typing import Any

import numpy as np
import pytest

from brimstone.ir import tensor
from brimstone.ir.dims import Symbol
from brimstone.ir.dtypes import ORDERED, DType
from brimstone.ir.errors import VerifyError
from kit.evaluate import Array, evaluate, evaluate_shaped, folded, same
from kit.special import special


def key(number: Any, descending: bool) -> tuple[bool, Any]:
    """What Python sorts by: numbers by size, NaN after them whichever way."""
    exact = int(number) if number.dtype.kind in "biu" else float(number)
    if exact != exact:  # noqa: PLR0124 (so is NaN)
        return True, 0
    return False, -exact if descending else exact


def places(keys: list[Array], descending: bool) -> list[int]:
    """The order of one line by several keys."""
    return sorted(
        range(len(keys[0])), key=lambda place: [key(each[place], descending) for each in keys]
    )


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", sorted(ORDERED, key=repr), ids=repr)
def test_one_tensor(dtype: DType, descending: bool) -> None:
    x = np.random.default_rng(6).permutation(special(dtype))
    wanted = x[places([x], descending)]
    found = evaluate(tensor.Sort, x, axis=0, keys=1, descending=descending)
    assert same(found, wanted)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("keys", [1, 2, 3])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_several_tensors(axis: int, keys: int, descending: bool) -> None:
    random = np.random.default_rng(axis)
    shape = (4, 5, 3)
    coarse = random.choice(np.array([0.0, -0.0, 1.0, np.nan, -np.inf], np.float16), shape)
    middle = random.integers(0, 2, shape).astype(np.bool_)
    fine = random.integers(0, 3, shape).astype(np.uint64)
    along = np.arange(60).reshape(shape)
    tensors = (coarse, middle, fine, along)
    found = evaluate(tensor.Sort, *tensors, axis=axis, keys=keys, descending=descending)
    for line in np.ndindex(*(size for at, size in enumerate(shape) if at != axis)):
        where = (*line[:axis], slice(None), *line[axis:])
        order = places([each[where] for each in tensors[:keys]], descending)
        for before, after in zip(tensors, found, strict=True):
            assert same(after[where], before[where][order])


def test_equal_keys_keep_their_order() -> None:
    keys = np.array([1, 0, 1, 0, 1], np.int8)
    along = np.arange(5)
    for descending, wanted in ((False, [1, 3, 0, 2, 4]), (True, [0, 2, 4, 1, 3])):
        found = evaluate(tensor.Sort, keys, along, axis=0, keys=1, descending=descending)
        assert found[1].tolist() == wanted


def test_zeros_are_equal_and_nan_is_last() -> None:
    nan = math.nan
    x = np.array([nan, 0.0, -0.0, 1.0, -nan, -1.0], np.float32)
    ascending = evaluate(tensor.Sort, x, axis=0, keys=1)
    assert same(ascending, np.array([-1, 0.0, -0.0, 1, nan, nan], np.float32))
    descending = evaluate(tensor.Sort, x, axis=0, keys=1, descending=True)
    assert same(descending, np.array([1, 0.0, -0.0, -1, nan, nan], np.float32))


def test_the_ends_of_64_bits() -> None:
    for storage in (np.int64, np.uint64):
        limits = np.iinfo(storage)
        x = np.array([limits.max, limits.min, limits.max - 1, 5], storage)
        descending = evaluate(tensor.Sort, x, axis=0, keys=1, descending=True)
        assert descending.tolist() == sorted(x.tolist(), reverse=True)


@pytest.mark.parametrize("shape", [(0,), (3, 0, 2), (1,) * 8, (2,) * 8], ids=str)
def test_shapes(shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(8).standard_normal(shape).astype(np.float32)
    for axis in range(len(shape)):
        assert same(evaluate(tensor.Sort, x, axis=axis, keys=1), np.sort(x, axis))


def test_strides_and_symbolic_sizes() -> None:
    x = np.array([[3, 1, 2], [9, 8, 7]], np.int32)
    assert evaluate(tensor.Sort, x.T, axis=0, keys=1).tolist() == [[1, 7], [2, 8], [3, 9]]
    found = evaluate_shaped(tensor.Sort, [(2, Symbol("n"))], x, axis=1, keys=1)
    assert found.tolist() == [[1, 2, 3], [7, 8, 9]]


def test_a_complex_tensor_may_go_along() -> None:
    z = np.array([1j, 2, 3 + 1j], np.complex64)
    assert evaluate(tensor.Sort, np.array([3, 1, 2]), z, axis=0, keys=1)[1].tolist() == [
        2,
        3 + 1j,
        1j,
    ]


def test_folding() -> None:
    numbers, along = np.array([2, 1], np.int8), np.array([0.5, 1.5])
    made = folded(tensor.Sort, numbers, along, axis=0, keys=1)
    assert [each.tolist() for each in made] == [[1, 2], [1.5, 0.5]]


X, Y, Z = np.zeros((2, 3)), np.zeros((3, 2)), np.zeros((2, 3), np.complex64)
REFUSED: list[tuple[list[Array], dict[str, int], str]] = [
    ([X], {"axis": 2, "keys": 1}, r"axis 2 is outside 0\.\.1"),
    ([X], {"axis": -1, "keys": 1}, r"axis -1 is outside 0\.\.1"),
    ([X], {"axis": 0, "keys": 0}, "keys is 0, expected 1 to 1, the number of tensors"),
    ([X, X], {"axis": 0, "keys": 3}, "keys is 3, expected 1 to 2"),
    ([], {"axis": 0, "keys": 1}, "keys is 1, expected 1 to 0"),
    ([X, Y], {"axis": 0, "keys": 1}, r"the shapes differ: tensor<\[2, 3\], f64>, tensor<\[3, 2\]"),
    ([X, Z], {"axis": 0, "keys": 2}, "a key is of a dtype that has no order.*c64"),
    ([X[0, 0]], {"axis": 0, "keys": 1}, "axis 0 is outside a tensor of rank 0"),
]


@pytest.mark.parametrize(("tensors", "attributes", "message"), REFUSED)
def test_wrong_operands_are_refused(
    tensors: list[Array], attributes: dict[str, int], message: str
) -> None:
    with pytest.raises(VerifyError, match=message):
        evaluate(tensor.Sort, *(np.asarray(each) for each in tensors), **attributes)


@pytest.mark.parametrize("count", [0, 1, 3, 5])
def test_the_first_few(count: int) -> None:
    x = np.random.default_rng(count).integers(0, 3, (2, 5, 2))
    named = {"axis": 1, "keys": 1, "descending": True}
    along = np.arange(20).reshape(x.shape)
    every = evaluate(tensor.Sort, x, along, **named)
    found = evaluate(tensor.Sort, x, along, count=count, **named)
    for whole, part in zip(every, found, strict=True):
        assert same(part, whole[:, :count])


@pytest.mark.parametrize("count", [6, -1])
def test_no_more_than_there_are(count: int) -> None:
    with pytest.raises(VerifyError, match=f"the first {count} are wanted of 5"):
        evaluate(tensor.Sort, np.zeros(5), axis=0, keys=1, count=count)
