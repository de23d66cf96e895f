"""Errors that Python raised in its part of a step, kept for who reads what failed."""

import gc
from traceback import format_exception
from typing import Any
from weakref import ref

import pytest

import brimstone as bs
from brimstone.ir.errors import ExecutionError
from brimstone.runtime.arrays import use
from brimstone.runtime.scripts import ABOUT, raised
from brimstone.targets.script import Failure


class Much:
    """What is alive in the frame of a function that fails."""


def failed(inner: Exception, outer: Exception, is_cause: bool, frames: list[Any]) -> int:
    """The number of an error whose cause an error in a function was, which another one led to."""

    def function() -> None:
        much = Much()
        frames.append(ref(much))
        try:
            raise inner
        except ValueError as first:
            if is_cause:
                raise outer from first
            raise outer  # noqa: B904  # an error that comes in the handling of another

    try:
        function()
    except ValueError as problem:
        error = ExecutionError("step.host: it failed")
        error.__cause__ = problem
        return raised(error, None)
    raise AssertionError("it did not fail")


@pytest.mark.parametrize("is_cause", [False, True])
def test_errors_keep_nothing_of_the_functions_that_raised_them(is_cause: bool) -> None:
    """But the lines where they did."""
    frames: list[Any] = []
    first, second = ValueError("one"), ValueError("other")
    number = failed(first, second, is_cause, frames)
    gc.collect()
    assert [each() for each in frames] == [None]
    about = ABOUT[number]
    lines = format_exception(about.failed(Failure(0, 0, 0)))
    assert sum(["in function" in each for each in lines]) == 2


def test_what_a_user_handles_meanwhile_is_left_to_him() -> None:
    with bs.device("cpu"):
        fails = bs.jit(lambda x: bs.host_call(lambda x: 1 / 0, x, x * 2))
        x = bs.ones((3,)).sync()
        try:
            raise KeyError("his own")
        except KeyError as handled:
            failed = fails(x)
            assert handled.__traceback__ is not None
            assert not hasattr(handled, "__notes__")
        with pytest.raises(bs.OperationFailed) as caught:
            failed.numpy()
    assert "his own" not in "".join(format_exception(caught.value))


def test_errors_may_be_their_own_causes() -> None:
    own = ValueError("its own")
    assert failed(own, own, True, []) in ABOUT


def test_what_failed_keeps_no_arrays() -> None:
    """Nor need garbage be collected for that."""
    with bs.device("cpu"):
        fails = bs.jit(lambda x: bs.host_call(lambda x: 1 / 0, x, x * 2))
        x = bs.ones((1 << 18,)).sync()
        gc.collect()
        gc.disable()
        try:
            used = [_used_after(fails, x) for _ in range(8)]
        finally:
            gc.enable()
        assert max(used[2:]) <= used[1]


def _used_after(fails: Any, x: Any) -> int:
    """What arrays use after a call that fails."""
    try:
        fails(x).numpy()
    except bs.OperationFailed:
        return use().used
    raise AssertionError("it did not fail")
