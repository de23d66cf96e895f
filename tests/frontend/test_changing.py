"""Functions that are traced again and again, as what is no tensor changes, are told of."""

import warnings
from typing import Any

import pytest

import brimstone as bs
from brimstone.frontend.changing import OFTEN, RetracedWarning


def calls(function: Any, count: int) -> None:
    for number in range(count):
        function(bs.ones(3), {"file": [f"a{number}", "b"], "n": 3}, way="u")


def test_what_changes_is_named_once() -> None:
    traced: list[int] = []

    def twice(x: Any, batch: Any, *, way: str) -> Any:
        traced.append(1)
        return x * 2

    step = bs.jit(twice)
    calls(step, OFTEN - 1)
    with pytest.warns(RetracedWarning, match=r"twice.*argument 1\.file\.0 changes.*'a31'") as told:
        calls(step, OFTEN)
    assert len(told) == 1 and told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        calls(step, 2 * OFTEN)
    assert len(traced) == 2 * OFTEN


def test_arguments_by_name_are_named() -> None:
    step = bs.jit(lambda x, *, way: x)
    with pytest.warns(RetracedWarning, match="the argument way changes"):
        for number in range(OFTEN):
            step(bs.ones(3), way=str(number))


def test_what_is_traced_anew_though_nothing_changes_is_not_meant() -> None:
    """A function that reads what keeps a history is traced at each call."""
    weight = bs.tensor([1.0, 2.0, 3.0], requires_grad=True)
    step = bs.jit(lambda x, way: x * weight)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2 * OFTEN):
            made = step(bs.ones(3), "u")
    assert made.tolist() == [1.0, 2.0, 3.0]


def test_what_is_said_to_be_static_may_change() -> None:
    step = bs.jit(lambda x, number: x * number, static="number")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for number in range(2 * OFTEN):
            assert step(bs.ones(1), number).item() == number
