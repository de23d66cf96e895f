"""Steps that pass: of a loop in which each turn is another one, the interpreter runs the small ones
until they come again and again."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.frontend.prefixes import Prefixes
from brimstone.ir.shared.cache import Cache
from brimstone.runtime import passing, steps

LATE = 12
"""After so many turns steps pass."""
TURNS = 20


@pytest.fixture(autouse=True)
def _nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Of lines, or of steps; on a device that compiles."""
    found = passing.Passing()
    found.wanted = True
    monkeypatch.setattr(passing, "OPS", 64)
    monkeypatch.setattr(steps, "PASSING", found)
    monkeypatch.setattr("brimstone.runtime.steps._STEPS", {})
    beginnings = Prefixes()
    for module in ("force", "cuts"):
        monkeypatch.setattr(f"brimstone.frontend.{module}.COMPILED", beginnings)
    for table in ("_STEPS", "_ALIKE"):
        monkeypatch.setattr(f"brimstone.frontend.ready.{table}", Cache[Any, Any](4096))
    with bs.device("cpu"):
        yield


def mixed(x: bs.Tensor, turn: int) -> bs.Tensor:
    """A chain of ops, another one in each turn."""
    for by in range(5):
        x = bs.sin(x) if turn >> by & 1 else x * bs.cos(x)
    return x


def read(x: bs.Tensor) -> bs.Tensor:
    """At one line, whoever asks."""
    return x.sync()


def compiles(x: bs.Tensor) -> bool:
    """Whether something is compiled to read a tensor."""
    before = steps.STATISTICS.compiled
    read(x)
    return steps.STATISTICS.compiled > before


def test_a_loop_of_new_steps_compiles_the_first_ones_and_computes_the_same() -> None:
    def run() -> list[bool]:
        x, found = bs.arange(4.0), list[bool]()
        for turn in range(TURNS):
            x = mixed(x, turn).at[turn % 3].add(x[turn % 4])
            found.append(compiles(x))
            values.append(x.numpy())
        return found

    values = list[np.ndarray]()
    found = run()
    assert found == [place < found.index(False) for place in range(TURNS)]
    assert 3 <= found.index(False) <= LATE
    with bs.device("reference"):
        run()
    np.testing.assert_allclose(values[:TURNS], values[TURNS:], rtol=1e-5)


def test_what_comes_again_and_again_is_compiled() -> None:
    x = bs.arange(4.0)
    for turn in range(LATE):
        read(mixed(x, turn))
    times = passing.TIMES
    found = [compiles(mixed(x, TURNS)) for _ in range(times + 2)]
    assert found == [False] * times + [True, False]


def test_a_loop_whose_steps_are_known_compiles_a_new_one() -> None:
    x = bs.arange(4.0)
    for turn in range(LATE):
        read(mixed(x, turn))
    for _ in range(100):
        read(mixed(x, 0))
    assert compiles(mixed(x, TURNS))


def test_steps_with_much_to_do_are_compiled() -> None:
    for turn in range(LATE):
        read(mixed(bs.ones(4), turn))
    assert compiles(mixed(bs.ones((600, 600)), TURNS))
    assert compiles(mixed(bs.ones((70, 300)) @ bs.ones((300, 70)), TURNS))


def test_loops_are_compiled() -> None:
    for turn in range(LATE):
        read(mixed(bs.ones(4), turn))
    assert compiles(bs.fori_loop(0, 3, lambda _, x: x * 2, bs.ones(4)))


def test_gradients_pass_too() -> None:
    def slopes(turn: int) -> list[float]:
        x = bs.tensor([0.3, 0.7], requires_grad=True)
        return mixed(bs.multiply(x, x), turn).sum().backward()[x].tolist()

    found = [slopes(turn) for turn in range(LATE)]
    before = steps.STATISTICS.compiled
    found += [slopes(turn) for turn in range(LATE, TURNS)]
    assert steps.STATISTICS.compiled == before
    with bs.device("reference"):
        expected = [slopes(turn) for turn in range(TURNS)]
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_an_index_that_names_no_place_is_told_with_its_line() -> None:
    places = bs.asarray([1, 7])
    for turn in range(LATE):
        read(mixed(bs.arange(5.0), turn))
    with pytest.raises(bs.PlaceError, match="7") as caught:
        read(mixed(bs.arange(5.0), TURNS)[places])
    assert __file__ in str(caught.value)
