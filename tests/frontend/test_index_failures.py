"""Indices that name no place, in calls that return before they are done."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brimstone as bs

TABLE = np.arange(12, dtype=np.float32).reshape(4, 3)


@pytest.fixture(autouse=True)
def cpu() -> Any:
    with bs.device("cpu"):
        yield


@bs.jit
def embed(table: Any, ids: Any) -> Any:
    return table[ids] * 2  # here


def table() -> Any:
    return bs.asarray(TABLE).sync()


def ids(*places: int) -> Any:
    return bs.asarray(np.array(places)).sync()


def failure_of(read: Callable[[], object]) -> str:
    """What a person is told who reads a value that could not be computed."""
    with pytest.raises(bs.PlaceError) as caught:
        read()
    assert isinstance(caught.value, IndexError)
    return str(caught.value)


def test_who_reads_a_result_is_told() -> None:
    made = embed(table(), ids(3, 0, 9))
    line = Path(__file__).read_text().split("# here")[0].count("\n") + 1
    for read in (made.numpy, made.sync, lambda: float(made[0, 0]), made.tolist):
        told = failure_of(read)
        assert "index: index 9 at [2] is outside axis 0 of size 4" in told
        assert f"test_index_failures.py:{line}" in told


@pytest.mark.parametrize("place", [-5, -9, 4])
def test_an_index_is_shown_as_it_was_given(place: int) -> None:
    for made in (
        embed(table(), ids(0, place)),
        bs.take_along_axis(table(), ids(0, place)[:, None], 0),
    ):
        assert f"index {place} at [" in failure_of(made.numpy)


@bs.jit
def embed_again(table: Any, ids: Any) -> Any:
    return table[ids] * 2  # and here


def test_functions_that_say_the_same_are_told_of_by_their_own_lines() -> None:
    for function, mark in ((embed, "# here"), (embed_again, "# and here")):
        line = Path(__file__).read_text().split(mark)[0].count("\n") + 1
        made = function(table(), ids(9))
        assert f"test_index_failures.py:{line}" in failure_of(made.numpy)


def test_a_failure_is_handed_on() -> None:
    product = bs.jit(lambda x, y: (x @ y, y + 1))
    broken, sound = product(embed(table(), ids(4)), bs.ones((3, 3)).sync())
    for each in (broken, sound, product(broken, broken.T)[0]):
        assert "index 4 at [0] is outside axis 0 of size 4" in failure_of(each.numpy)
    assert embed(table(), ids(1)).tolist() == [(TABLE[1] * 2).tolist()]


def test_a_failure_on_the_way_to_what_is_recorded() -> None:
    broken = embed(table(), ids(4)) + 1
    assert "index 4 at [0]" in failure_of((broken * 2).numpy)


@pytest.mark.parametrize("change", ["set", "add", "max"])
def test_updates(change: str) -> None:
    update = bs.jit(lambda x, at, y: getattr(x.at[at], change)(y))
    made = update(table(), ids(0, 7), bs.ones((2, 3)))
    assert "index 7 at [1] is outside axis 0 of size 4" in failure_of(made.numpy)


def test_a_large_step_fails_behind_the_caller() -> None:
    """The check comes after more work than a caller does by himself."""

    @bs.jit
    def late(x: Any, at: Any) -> Any:
        for _ in range(5):
            x = x @ x / 600
        return x[at]

    x = bs.ones((600, 600)).sync()
    made = [late(x, ids(at)) for at in (599, 600, -601, 0)]
    assert made[0].tolist() == made[3].tolist() == [[1.0] * 600]
    assert "index 600 at" in failure_of(made[1].numpy)
    assert re.search(r"index -\d+ at", failure_of(made[2].numpy))


def test_counts_that_the_host_reads() -> None:
    picked = bs.jit(lambda x, at: x[x[at] > 4].sum())
    x = bs.asarray(np.arange(6.0)).sync()
    assert "index 6 at [0]" in failure_of(lambda: picked(x, ids(6, 1, 2, 3, 4, 5)).numpy())


def test_gradients_of_what_failed() -> None:
    loss = bs.jit(bs.value_and_grad(lambda table, ids: (table[ids] ** 2).sum()))
    value, slope = loss(table(), ids(1, 5))
    for each in (value, slope):
        assert "index 5 at [1]" in failure_of(each.numpy)
