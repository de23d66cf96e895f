"""Single elements of what is computed, read without a step."""

from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import brimstone as bs
from brimstone.runtime.steps import STATISTICS

KINDS = [
    np.float32, np.float64, np.float16, ml_dtypes.bfloat16, np.int8, np.int64, np.uint8, np.uint64,
    np.bool_, np.complex64,
]  # fmt: skip
ELEMENTS: list[Callable[[Any], Any]] = [
    lambda x: x[1, 2, 3],
    lambda x: x[-1][0][-2],
    lambda x: x[1:, ::2, 1:4][0, 1, 2],
    lambda x: x[::-1, :, ::-2][1, 2, 1],
    lambda x: x.reshape(-1)[37],
    lambda x: x.transpose(2, 0, 1)[3, 1, 2],
    lambda x: x.transpose(1, 2, 0).reshape(5, 12)[3, 7],
    lambda x: x[1, None, 4:, 3:4].transpose(2, 1, 0),
    lambda x: x[1, 1:2, 2],
]


@pytest.fixture(autouse=True, params=["cpu", "reference"])
def device(request: pytest.FixtureRequest) -> Iterator[None]:
    with bs.device(request.param):
        yield


@pytest.fixture
def no_step() -> Iterator[None]:
    """Whatever a test does, no step is made for it."""
    before = STATISTICS.planned
    yield
    assert STATISTICS.planned == before


def numbers(kind: Any) -> Any:
    return np.arange(60).reshape(2, 5, 6).astype(kind)


@pytest.mark.usefixtures("no_step")
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: np.dtype(kind).name)
def test_each_is_the_one_that_numpy_has(kind: Any) -> None:
    array = numbers(kind)
    x = bs.asarray(array).sync()
    for at, pick in enumerate(ELEMENTS):
        found, expected = pick(x).item(), pick(array).reshape(-1)[0].item()
        assert (found, type(found)) == (expected, type(expected)), at


@pytest.mark.usefixtures("no_step")
def test_all_places() -> None:
    array = numbers(np.int64)
    x = bs.asarray(array).sync()
    assert [int(each) for block in x for row in block for each in row] == [*range(60)]
    assert [float(x[place]) for place in np.ndindex(2, 5, 6)] == [*range(60)]


@pytest.mark.usefixtures("no_step")
def test_two_are_compared() -> None:
    array = np.array([1.0, np.nan, -0.0, 0.0, np.inf, 1.0], np.float32)
    x = bs.asarray(array).sync()
    for one in range(6):
        for other in range(6):
            assert bool(x[one] < x[other]) == (array[one] < array[other])
            assert bool(x[one] <= x[other]) == (array[one] <= array[other])
            assert bool(x[one] == x[other]) == (array[one] == array[other])
            assert bool(x[one] != x[other]) == (array[one] != array[other])
        assert bool(x[one] > 0.5) == (array[one] > 0.5)
        assert bool(x[one] <= 0.5) == (array[one] <= 0.5)
    assert bool(bs.asarray(np.array([200, 3], np.uint8)).sync()[0] > 100)


def test_numbers_are_compared_in_their_dtype() -> None:
    x = bs.asarray(np.array([0.1, 1.0], np.float32)).sync()
    assert bool(x[0] == 0.1)
    assert not bool(x[0] == np.float64(0.1))
    assert bool(bs.asarray([3]).sync()[0] < 3.5)


def test_what_waits_goes_on_waiting() -> None:
    """Who looks at something else does not have it computed."""
    x = bs.asarray([1.0, 2.0]).sync()
    y = x * 3
    assert x[1].item() == 2
    assert y.node.buffer is None
    assert y[1].item() == 6
    assert y.node.buffer is not None


def test_what_was_donated_is_refused() -> None:
    x = bs.ones((3,)).sync()
    element = x[1]
    step = bs.jit(lambda x: x + 1, donate=(0,))
    step(x)
    assert element.item() == 1
    with pytest.raises(bs.DeadTensorError, match="donated"):
        x[1].item()


def test_what_failed_names_its_line() -> None:
    picked = bs.jit(lambda x, i: x[i] + bs.zeros((2,)))
    with pytest.raises(bs.PlaceError, match=r"index 7(.|\n)*test_elements\.py"):
        picked(bs.ones((3,)), bs.asarray([1, 7]))[0].item()


def test_they_are_values_of_what_is_traced_nowhere() -> None:
    x = bs.ones((3,)).sync()
    with pytest.raises(bs.TracedValueError):
        bs.jit(lambda x: float(x[1]))(x)
    assert bs.jit(lambda y: y * float(x[1]))(x).tolist() == [1, 1, 1]
    assert bs.grad(lambda y: y[0] * float(x[2]))(x).tolist() == [1, 0, 0]
