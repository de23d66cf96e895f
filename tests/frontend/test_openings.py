"""What was compiled for sizes at which a function never looked, found again for other sizes."""

from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.frontend import arguments, jit, openings
from brimstone.frontend.leading import is_known_as
from brimstone.runtime.steps import STATISTICS


def rows(count: int, width: int) -> Any:
    """As many rows of numbers, computed."""
    drawn = np.random.default_rng(count).normal(size=(count, width))
    return bs.asarray(drawn.astype(np.float32)).sync()


def test_trees_are_not_taken_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    traced: list[int] = []

    @bs.jit
    def step(state: dict[str, Any], batch: tuple[Any, Any]) -> tuple[dict[str, Any], Any]:
        traced.append(1)
        x, wanted = batch
        off = x @ state["weight"] + state["bias"] - wanted
        changed = {**state, "weight": state["weight"] - 1e-3 * (x.T @ off), "last": off.sum()}
        return changed, off

    def batch(count: int, wanted: int | None = None) -> tuple[Any, Any]:
        return rows(count, 4), rows(wanted or count, 3)

    zero = bs.asarray(np.float32(0))
    state = {"weight": rows(4, 3), "bias": bs.zeros(3), "last": zero, "other": zero}
    weight = rows(4, 3).numpy()
    for count in (6, 7, 4, 3, 7, 2, 1, 1024, 6):
        state, off = step(state, batch(count))
        x, wanted = [each.numpy() for each in batch(count)]
        expected = x @ weight - wanted
        np.testing.assert_allclose(off.numpy(), expected, rtol=1e-4, atol=1e-4)
        weight = weight - np.float32(1e-3) * (x.T @ expected)
    assert len(traced) == 2  # 1 is a fact
    assert len(step.plans) == 7
    step.memory(state, batch(7))
    assert len(step.plans) == 7  # it is the same one, whichever way leads to it
    with pytest.raises(bs.ShapeError, match="5"):
        step(state, batch(5, 6))
    with monkeypatch.context() as patched:
        patched.delattr(type(step), "_call")  # the other way, on which arguments are taken apart
        state, off = step(state, batch(9))
        assert off.shape == (9, 3)


def test_another_thread_may_add_to_what_is_looked_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it does where it calls the function with arguments of another kind for the first time."""
    f = bs.jit(lambda x, y: x + y)

    def sums(count: int) -> Any:
        given = rows(count, 4)
        return f(given, given).numpy() - 2 * given.numpy()

    sums(6)
    ways: dict[Any, None] = f._openings._ways

    def known_meanwhile(*given: Any) -> bool:
        ways.setdefault((None,) * (len(ways) + 2))
        return is_known_as(*given)

    for module in (openings, arguments):
        monkeypatch.setattr(module, "is_known_as", known_meanwhile)
    for count in (7, 1, 8):
        assert not sums(count).any()


@pytest.mark.parametrize("quick", [True, False])
def test_of_many_sizes_the_latest_are_kept(monkeypatch: pytest.MonkeyPatch, quick: bool) -> None:
    for module in (jit, openings):
        monkeypatch.setattr(module, "SIZES_AT_MOST", 8)

    @bs.jit
    def step(x: Any, by: Any) -> dict[str, Any]:
        return {"rows": x * 2, "sum": x.sum(axis=0), "more": [x[0], x.mean(), by]}

    step(rows(40, 3), 1)
    compiled, by = STATISTICS.compiled, 1 if quick else [rows(1, 1)] * 40
    for count in [*range(2, 60), *range(2, 60), 40]:
        made = step(rows(count, 3), by)
        np.testing.assert_allclose(made["rows"].numpy(), 2 * rows(count, 3).numpy())
        np.testing.assert_allclose(made["more"][0].numpy(), rows(count, 3).numpy()[0])
    assert STATISTICS.compiled <= compiled + (not quick)
    assert max(len(step._quick), len(step._entries), len(step._openings._at)) == 8


def test_what_was_compiled_stays_whatever_else_is(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (jit, openings):
        monkeypatch.setattr(module, "SIZES_AT_MOST", 4)
    traced: list[int] = []

    @bs.jit(static=("by",))
    def step(x: Any, by: int) -> Any:
        traced.append(by)
        return x * by

    x = rows(3, 2)
    for by in [*range(3, 20), *range(3, 20)]:
        np.testing.assert_array_equal(step(x, by).numpy(), x.numpy() * np.float32(by))
    assert traced == [*range(3, 20)]
