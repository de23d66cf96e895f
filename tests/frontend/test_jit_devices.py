"""Compiled functions that take a tensor from outside, of another device than the usual one."""

from typing import Any

import pytest

import brimstone as bs

TIMES = 40
"""After so many calls a function is called the quickest way."""


@pytest.fixture
def outside() -> bs.Tensor:
    """A tensor of the interpreter; tests are called where the processor is usual."""
    with bs.device("reference"):
        return bs.asarray([1.0, 2.0]).sync()


def told(function: Any, *arguments: Any) -> tuple[list[float], str]:
    """What a function returns, and where that is, called where another device is usual."""
    with bs.device("cpu"):
        made = function(*arguments)
    return made.tolist(), str(made.device)


def test_it_runs_where_the_tensor_is(outside: bs.Tensor) -> None:
    double, times = bs.jit(lambda: outside * 2), bs.jit(lambda x, by: x * by + outside)
    with bs.device("reference"):
        x = bs.ones(2).sync()
    for _ in range(TIMES):
        assert told(double) == ([2.0, 4.0], "reference")
        assert told(times, x, 3.0) == ([4.0, 5.0], "reference")


def test_numbers_go_there(outside: bs.Tensor) -> None:
    times = bs.jit(lambda by: outside * by)
    for by in range(TIMES):
        assert told(times, float(by)) == ([by, 2.0 * by], "reference")


def test_a_tensor_of_another_device_is_refused(outside: bs.Tensor) -> None:
    plus = bs.jit(lambda x: x + outside)
    assert told(plus, outside) == ([2.0, 4.0], "reference")
    with bs.device("cpu"):
        elsewhere = bs.ones(2).sync()
    for _ in range(2):
        with pytest.raises(bs.DeviceError, match="different devices"):
            told(plus, elsewhere)


def test_a_context_ends_itself_whatever_others_have_begun() -> None:
    def inside() -> Any:
        with bs.device("cpu"):
            yield

    one = inside()
    with bs.device("reference"):
        next(one)
        with bs.device("reference"):
            one.close()
            assert str(bs.ones(2).device) == "reference"
        assert str(bs.ones(2).device) == "reference"
