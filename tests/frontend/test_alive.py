"""Which tensors are said to be alive: each that holds memory, once, and where it came from."""

import re
import sys
from typing import NamedTuple

import numpy as np
import pytest

import brimstone as bs
from brimstone.frontend.alive import MOST_LINES, alive, amount
from brimstone.frontend.lazy import bundle_of


class Pair(NamedTuple):
    """Some results."""

    one: bs.Tensor
    other: bs.Tensor


def pair(x: bs.Tensor) -> Pair:
    return Pair(x + 1, x + 2)


def table(x: bs.Tensor) -> dict[str, bs.Tensor]:
    return {name: x + place for place, name in enumerate("abcdef")}


def line() -> int:
    """The line that calls this."""
    return sys._getframe(1).f_lineno


def given(rows: int) -> bs.Tensor:
    """A tensor that no other test has made."""
    return bs.asarray(np.ones((rows, 256), np.float32))


def told(rows: int) -> list[str]:
    """What is said of tensors with so many rows, without spaces before it."""
    return [each.strip() for each in alive() if f"float32[{rows}, 256]" in each]


def test_what_is_computed_is_listed_by_its_line_for_as_long_as_it_is_needed() -> None:
    start = line()
    x = (given(773) + 1).sync()
    twice = x * 2
    said = f"773.0 KiB  float32[773, 256]  made at {__file__}:"
    assert told(773) == [f"{said}{start + 1}"]
    del x
    assert told(773) == [f"{said}{start + 1}"]
    twice.sync()
    assert told(773) == [f"{said}{start + 2}"]
    del twice
    assert told(773) == []


def test_what_comes_from_outside_is_listed_by_its_line() -> None:
    array = np.ones((774, 256), np.float32)
    start = line()
    made = [bs.asarray(array), bs.asarray(array, copy=False), bs.tensor(array, requires_grad=True)]
    said = f"2.3 MiB  3 × float32[774, 256]  made at {__file__}:{start + 1}"
    assert told(774) == [said]
    del made


def test_a_buffer_that_many_hold_counts_once() -> None:
    start = line()
    x = (given(775) + 1).sync()
    before, others = x.node, [bs.asarray(x), x]
    x.requires_grad_()
    assert x.node is not before
    assert told(775) == [f"775.0 KiB  float32[775, 256]  made at {__file__}:{start + 1}"]
    del others


def test_what_a_compiled_function_returned_is_listed_by_its_name() -> None:
    made = bs.jit(pair), given(776)
    both = made[0](made[1])
    del made
    first = pair.__code__.co_firstlineno
    assert told(776) == [f"1.5 MiB  2 × float32[776, 256]  made at {__file__}:{first}"]
    compiled = bs.jit(bs.vmap(pair))
    assert told(776) == [f"1.5 MiB  2 × float32[776, 256]  returned by pair, {__file__}:{first}"]
    del both, compiled


def test_a_tree_whose_leaves_are_still_to_be_made_is_listed() -> None:
    compiled = bs.jit(table)
    tree = compiled(given(777))
    first = table.__code__.co_firstlineno
    said = f"4.6 MiB  6 × float32[777, 256]  returned by table, {__file__}:{first}"
    assert told(777) == [said]
    assert bundle_of(tree) is not None
    assert tree["a"].shape == (777, 256)
    assert told(777) == [said]
    bs.jit(lambda tree: bs.sum(tree["a"]), donate="tree")(tree)
    assert told(777) == []


def test_a_tree_that_is_given_away_unseen_is_not_listed() -> None:
    tree = bs.jit(table)(given(778))
    bs.jit(lambda tree: bs.sum(tree["a"]), donate="tree")(tree)
    assert told(778) == []


def test_what_is_kept_for_a_derivative_is_listed() -> None:
    x = given(779).requires_grad_()
    start = line()
    y = bs.exp(x).sum().sync()
    assert any(f":{start + 1}" in each for each in told(779))
    del y
    assert len(told(779)) == 1


def test_the_largest_are_listed_and_the_others_counted() -> None:
    held = [bs.asarray(np.ones((300 - n, 1024), np.float32)) for n in range(MOST_LINES + 3)]
    total, *lines, last = alive()
    shapes = [f"float32[{300 - n}, 1024]" for n in range(MOST_LINES)]
    assert [line for line, shape in zip(lines, shapes, strict=True) if shape not in line] == []
    whole, rest = re.search(r"alive: (\d+) tensors, ", total), re.search(r"and (\d+) more, ", last)
    assert whole is not None
    assert rest is not None
    assert int(whole[1]) == int(rest[1]) + MOST_LINES
    del held


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 bytes"),
        (1023, "1023 bytes"),
        (1024, "1.0 KiB"),
        (1536, "1.5 KiB"),
        (1 << 20, "1.0 MiB"),
        (1 << 63, "8.0 EiB"),
        (1 << 75, "32768.0 EiB"),
    ],
)
def test_amounts_as_people_read_them(count: int, text: str) -> None:
    assert amount(count) == text
