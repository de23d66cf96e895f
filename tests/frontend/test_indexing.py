"""What stands between brackets, as numpy has it; places out of range; `at[...]`."""

from copy import copy, deepcopy
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from kit.mistakes import Mistake, check

ARRAY = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
MASK = ARRAY % 3 == 0
PLACES = np.array([[1, 0], [-1, 1]])
KEYS: list[Any] = [
    0, -1, (), (1, 2, 3), ..., (..., 1), (1, ...), (..., 0, slice(None)), None,
    (None, ..., None), slice(None, None, -1), (slice(None), slice(5, 1, -2)), slice(5, 9),
    slice(-100, 100), slice(1, 1), (slice(None), [0, 2]), [[1, 0], [0, 1]], [], PLACES,
    (PLACES, 0), (0, PLACES), (PLACES, PLACES), (PLACES, slice(None), PLACES),
    (slice(None), PLACES, PLACES), (slice(None), None, PLACES), (PLACES, None, 1),
    (0, None, PLACES), MASK, MASK[0, 0], MASK[:, :, 0], (slice(None), MASK[0]),
    (0, MASK[0]), (..., MASK[0, 0]),
    [True, False], True, False, np.int8(1), (np.int64(1), slice(1, None, 2)),
    (slice(None, None, -1),) * 3,
    (slice(1), [0, 1], ..., -1), (slice(1), -1, ..., PLACES), (slice(1), PLACES, ..., PLACES),
    (slice(None), PLACES, PLACES, ...), (..., PLACES, PLACES, slice(None)),
]  # fmt: skip


def fits(key: Any) -> bool:
    """Whether numpy takes a key."""
    try:
        return ARRAY[key] is not None
    except IndexError:
        return False


KEYS = [key for key in KEYS if fits(key)]


def ours(key: Any) -> Any:
    """A key whose arrays are tensors."""
    if isinstance(key, tuple):
        return tuple(ours(each) for each in key)
    return bs.asarray(key) if isinstance(key, np.ndarray) else key


@pytest.mark.parametrize("key", KEYS, ids=repr)
@pytest.mark.parametrize("change", [ours, lambda key: key], ids=["tensors", "arrays"])
def test_elements_are_those_of_numpy(key: Any, change: Any) -> None:
    np.testing.assert_array_equal(bs.asarray(ARRAY)[change(key)].numpy(), ARRAY[key])


@pytest.mark.parametrize("key", [key for key in KEYS if key is not False], ids=repr)
def test_elements_are_set_as_in_numpy(key: Any) -> None:
    expected, x = ARRAY.copy(), bs.asarray(ARRAY)
    expected[key] = -1
    np.testing.assert_array_equal(x.at[ours(key)].set(-1).numpy(), expected)
    x[ours(key)] = -1
    np.testing.assert_array_equal(x.numpy(), expected)


@pytest.mark.parametrize("key", [(slice(1), [0, 1], ..., -1), (slice(2), 0, ..., [3, 1])], ids=repr)
def test_an_ellipsis_of_no_axis_stands_between_places(key: Any) -> None:
    expected, values = ARRAY.copy(), np.arange(ARRAY[key].size).reshape(ARRAY[key].shape)
    expected[key] = values
    np.testing.assert_array_equal(bs.asarray(ARRAY).at[key].set(values).numpy(), expected)


def test_a_function_being_traced_changes_nothing_outside() -> None:
    """The line is told that would; what it makes, is given or has copied it may change."""
    outside = bs.zeros(3)

    def change(x: bs.Tensor) -> bs.Tensor:
        outside[0] = x.sum()
        return x

    def accumulate(carry: bs.Tensor, x: bs.Tensor) -> Any:
        outside[1] = x
        return carry + x, x

    @bs.jit
    def allowed(x: bs.Tensor) -> Any:
        given, made, number = x * 1, bs.zeros(3), bs.asarray(1.0)
        copies = [copy(outside), deepcopy(outside), bs.asarray(outside, copy=True)]
        for each in (x, given, made, *copies):
            each[0] = each[1] + x.sum()
        number[()] = x[1]
        return x, given, made, number, *copies

    for call in (
        lambda: bs.jit(change)(bs.ones(2)),
        lambda: bs.grad(lambda x: change(x).sum())(bs.ones(2)),
        lambda: bs.scan(accumulate, bs.asarray(0.0), bs.ones(3)),
    ):
        with pytest.raises(bs.TracedValueError, match="would be changed while it is traced"):
            call()
    x, *others = allowed(bs.ones(2))
    assert x.tolist() == [3, 1]
    assert [each.tolist() for each in others] == [
        [5, 1], [4, 0, 0], 1, [4, 0, 0], [4, 0, 0], [4, 0, 0],
    ]  # fmt: skip
    assert outside.tolist() == [0, 0, 0]


def test_generic_functions() -> None:
    x = bs.asarray(ARRAY)
    assert bs.take(x, [-1], axis=1).shape == (2, 1, 4)
    assert x.nonzero()[0].shape == (23,)
    assert x.argwhere().shape == (23, 3)
    assert bs.nonzero(x, size=2)[2].tolist() == [1, 2]
    assert bs.nonzero(bs.zeros(2), size=3, fill_value=-1)[0].tolist() == [-1, -1, -1]
    assert bs.one_hot(bs.asarray([1, 5]), 2).tolist() == [[0, 1], [0, 0]]


@pytest.mark.parametrize("key", [0, (slice(None), 1), ([0, 1], 2), MASK], ids=repr)
def test_jit_indexes_too(key: Any) -> None:
    set_there = bs.jit(lambda x: x.at[ours(key)].add(1.0))
    expected = ARRAY.copy()
    expected[key] += 1
    np.testing.assert_array_equal(set_there(bs.asarray(ARRAY)).numpy(), expected)


def x() -> bs.Tensor:
    return bs.asarray(ARRAY)


MISTAKES = [
    Mistake(lambda: x()[5], bs.PlaceError, "index 5 is outside axis 0 of size 2"),
    Mistake(lambda: x()[0, -4], bs.PlaceError, "index -4 is outside axis 1 of size 3"),
    Mistake(lambda: x()[0, 0, 0, 0], bs.PlaceError, "4 axes are indexed"),
    Mistake(lambda: x()[1.0], bs.PlaceError, "float"),
    Mistake(lambda: x()[True, 0], bs.PlaceError, "True is a mask of no axis"),
    Mistake(lambda: x()["a"], bs.PlaceError, "str"),
    Mistake(lambda: x()[0:1.5], bs.PlaceError, "ends and the step of a slice are integers"),
    Mistake(lambda: x()[::0], bs.PlaceError, "is 0"),
    Mistake(lambda: x()[..., ...], bs.PlaceError, "more than once"),
    Mistake(lambda: x()[[0, 5]], bs.PlaceError, "index 5 is outside axis 0"),
    Mistake(lambda: x()[bs.asarray([0, 5])], IndexError, "outside axis 0 of size 2"),
    Mistake(lambda: x()[bs.asarray([0, 5])], bs.PlaceError, "index: index 5 at [1]"),
    Mistake(lambda: bs.take(x(), bs.asarray([5]), axis=0), bs.PlaceError, "index: index 5"),
    Mistake(
        lambda: bs.take_along_axis(x(), bs.asarray([[[5]]]), axis=0),
        bs.PlaceError,
        "index: index 5",
    ),
    Mistake(lambda: bs.jit(lambda t, at: t[at])(x(), bs.asarray([9])), IndexError, "index: index"),
    Mistake(lambda: x()[bs.asarray([0.5])], bs.PlaceError, "not float32"),
    Mistake(lambda: x()[bs.asarray([True] * 3)], bs.PlaceError, "the mask has shape [3]"),
    Mistake(lambda: bs.take(x(), 0), bs.ArgumentError, "needs an axis"),
    Mistake(lambda: bs.take(x(), [5], axis=0), bs.PlaceError, "index 5"),
    Mistake(
        lambda: bs.take_along_axis(x()[0], bs.zeros((5, 1), dtype=bs.int64)),
        bs.ShapeError,
        "do not broadcast",
    ),
    Mistake(lambda: bs.take_along_axis(x(), bs.asarray([0])), bs.ShapeError, "one rank"),
    Mistake(lambda: bs.take_along_axis(x(), x()), bs.DTypeError, "integers"),
    Mistake(lambda: bs.one_hot(bs.asarray([1]), 2.5), bs.DTypeError, "a size is an integer"),
    Mistake(lambda: bs.one_hot(bs.asarray([1]), -1), bs.ArgumentError, "not negative"),
    Mistake(lambda: bs.nonzero(x(), size=-1), bs.ArgumentError, "not negative"),
    Mistake(lambda: bs.nonzero(bs.asarray(1)), bs.ShapeError, "rank 0"),
    Mistake(lambda: bs.vmap(lambda t: t.nonzero())(x()), bs.TracedValueError, "size="),
]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_explained(mistake: Mistake) -> None:
    check(mistake)
