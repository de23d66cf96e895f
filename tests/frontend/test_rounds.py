"""Long loops that nobody reads: done some turns at a time, and nobody can tell."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.frontend import rounds as module
from brimstone.frontend.recording import gather
from brimstone.frontend.rounds import rounds
from brimstone.runtime.device import current_device
from brimstone.runtime.steps import STATISTICS
from kit.unprepared import nothing_is_prepared


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is compiled yet, and little is long."""
    nothing_is_prepared(monkeypatch)
    monkeypatch.setattr(module, "LONG", 60)
    monkeypatch.setattr(module, "ROUND", 12)


def start(size: int = 5) -> bs.Tensor:
    return bs.asarray(np.linspace(-1, 1, size))


def walk(x: Any, turns: int) -> list[Any]:
    """A loop of five ops, with results of each turn, and something before and after it."""
    seen: list[Any] = []
    x, other = np.sin(x) if isinstance(x, np.ndarray) else bs.sin(x), x * 0.5
    for _ in range(turns):
        x, other = x * 0.5 + other, x - other * 0.25
        seen.append(x.sum())
    return [*seen[::7], x * 2, other]


@pytest.mark.parametrize("turns", [3, 12, 13, 50, 101])
def test_a_loop_gives_what_it_gave_before(turns: int) -> None:
    found = walk(start(), turns)
    expected = walk(start().numpy(), turns)
    bs.sync(*found[::-1])
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.numpy(), other, rtol=1e-12)


def test_a_round_is_compiled_once() -> None:
    def compiled(turns: int) -> int:
        before, x = STATISTICS.planned, start()
        for _ in range(turns):
            x = bs.tanh(x * 1.25) + x * 0.5 - 0.125
        x.sync()
        return STATISTICS.planned - before

    assert compiled(200) <= 3
    assert compiled(999) <= 3


def test_sizes_may_be_others_in_each_turn() -> None:
    draws = np.random.default_rng(3)
    batches = [draws.normal(size=(int(draws.integers(1, 9)), 3)) for _ in range(60)]
    w, expected = bs.zeros(3, dtype="float64"), np.zeros(3)
    for batch in batches:
        x = bs.asarray(batch)
        w = w - 0.01 * (bs.tanh(x @ w + 1.0) @ x)
        expected = expected - 0.01 * (np.tanh(batch @ expected + 1.0) @ batch)
    np.testing.assert_allclose(w.numpy(), expected, rtol=1e-12)


def test_what_is_compiled_together_is_alike() -> None:
    x = start()
    y = x - 1
    for _ in range(50):
        z = x * 0.5 + y
        x, y = bs.sin(z), bs.cos(z)
    recording = gather([(x + y).node])
    found = rounds(recording, current_device())
    assert len(found) > 10
    sizes = {
        len(gather(each).nodes) - len(gather(before).nodes) for before, each in pairwise(found)
    }
    assert len(sizes) == 1
    assert {len(each) for each in found} == {1}, "turns begin where z alone is handed on"


def no_loop(x: bs.Tensor) -> bs.Tensor:
    """Eighty ops and more, each at a line of its own."""
    names = [("sin", "cos", "tanh")[(at * at // 3) % 3] for at in range(80)]
    text = "\n".join([f"x = bs.{name}(x) + x * {at % 5}" for at, name in enumerate(names)])
    known = {"bs": bs, "x": x}
    exec(compile(text, "straight", "exec"), known)
    return known["x"]


def short_loop(x: bs.Tensor) -> bs.Tensor:
    for _ in range(5):
        x = x * 0.5 + 1
    return x


@pytest.mark.parametrize("run", [no_loop, short_loop])
def test_what_is_no_long_loop_is_one(run: Callable[[bs.Tensor], bs.Tensor]) -> None:
    assert not rounds(gather([run(start()).node]), current_device())


def test_loops_in_loops() -> None:
    x, expected = start(), start().numpy()
    for _ in range(12):
        for _ in range(4):
            x, expected = x * 0.5 + 0.25, expected * 0.5 + 0.25
        x, expected = bs.sin(x) - 1, np.sin(expected) - 1
    np.testing.assert_allclose(x.numpy(), expected, rtol=1e-12)


def test_a_history_goes_through_all_rounds() -> None:
    w = bs.tensor(np.linspace(0.1, 0.5, 4), requires_grad=True)
    x, slope = w * 1, np.ones(4)
    value = w.detach().numpy()
    for _ in range(60):
        x = bs.sin(x) * 1.5
        slope, value = slope * np.cos(value) * 1.5, np.sin(value) * 1.5
    x.sync()
    np.testing.assert_allclose(x.numpy(), value, rtol=1e-12)
    np.testing.assert_allclose(x.sum().backward()[w].numpy(), slope, rtol=1e-10)


def test_what_fails_in_a_round_is_told_of_who_reads_it() -> None:
    x, place = start(), bs.asarray(7)
    good, kept = x, None
    for turn in range(40):
        good = good * 0.5 + 1
        x = x + (good[place] if turn == 20 else good[0])
        kept = kept if turn else x
    with pytest.raises(bs.BrimstoneError, match="index"):
        x.numpy()
    assert good.numpy().shape == (5,)
    assert kept is not None and kept.numpy().shape == (5,)


@pytest.mark.parametrize("tracked", [False, True])
def test_results_of_one_op_are_handed_on_one_by_one(tracked: bool) -> None:
    """The op itself has no value that could be."""
    x = bs.tensor(np.array([0.5, 1.0]), requires_grad=tracked)
    y = x * 1
    for _ in range(60):
        x, y = bs.cond(y.sum() > 0, lambda a, b: (a * 0.5, b - a), lambda a, b: (a, b + 1), x, y)
    a, b = np.array([0.5, 1.0]), np.array([0.5, 1.0])
    for _ in range(60):
        a, b = (a * 0.5, b - a) if b.sum() > 0 else (a, b + 1)
    np.testing.assert_allclose(x.numpy(), a, rtol=1e-12)
    np.testing.assert_allclose(y.numpy(), b, rtol=1e-12)


def test_carries_of_scans_in_a_loop() -> None:
    h, c = start(), start() * 2
    expected = [h.numpy(), c.numpy()]
    for _ in range(50):
        (h, c), _ = bs.scan(lambda both, _: ((both[1] * 0.5, both[0] + 1), None), (h, c), length=3)
        for _ in range(3):
            expected = [expected[1] * 0.5, expected[0] + 1]
    np.testing.assert_allclose(h.numpy(), expected[0], rtol=1e-12)
    np.testing.assert_allclose(c.numpy(), expected[1], rtol=1e-12)


def test_what_belongs_to_no_device_goes_to_the_usual_one() -> None:
    before, x = STATISTICS.planned, bs.zeros(3)
    for _ in range(200):
        x = bs.cos(x * 0.5) + 0.25
    assert x.numpy().shape == (3,)
    assert STATISTICS.planned - before <= 4


def eliminated(a: Any, at: Callable[..., Any]) -> Any:
    """The rows of a matrix, each less what it takes to have zeros below the diagonal."""
    for k in range(a.shape[0] - 1):
        for i in range(k + 1, a.shape[0]):
            a = at(a, (i, slice(k, None)), a[i, k:] - a[i, k] / a[k, k] * a[k, k:])
    return a


def test_loops_whose_turns_are_not_alike() -> None:
    def put(a: Any, place: Any, values: Any) -> Any:
        if isinstance(a, bs.Tensor):
            return a.at[place].set(values)
        a[place] = values
        return a

    matrix = np.random.default_rng(0).normal(size=(14, 14)) + 14 * np.eye(14)
    made = eliminated(bs.asarray(matrix), put)
    found = rounds(gather([made.node]), current_device())
    assert len(found) > 20
    assert max(map(len, found)) <= 4
    np.testing.assert_allclose(made.numpy(), eliminated(matrix, put), rtol=1e-10, atol=1e-12)


def test_functions_that_call_themselves() -> None:
    def transformed(x: bs.Tensor) -> bs.Tensor:
        count = x.shape[0]
        if count == 1:
            return x
        even, odd = transformed(x[::2]), transformed(x[1::2])
        turned = odd * bs.exp(-2j * np.pi * bs.arange(count // 2) / count)
        return bs.concat([even + turned, even - turned])

    x = np.random.default_rng(0).normal(size=128) + 0j
    made = transformed(bs.asarray(x))
    assert len(rounds(gather([made.node]), current_device())) > 20
    np.testing.assert_allclose(made.numpy(), np.fft.fft(x), rtol=1e-6, atol=1e-6)


def test_calls_count_as_what_they_do() -> None:
    """A turn that takes a gradient is a node or two, of many ops."""

    def loss(w: bs.Tensor, x: bs.Tensor) -> bs.Tensor:
        for _ in range(8):
            x = bs.tanh(x * w) + 0.125
        return (x * x).sum()

    def compiled(turns: int) -> int:
        before, w = STATISTICS.planned, start()
        for _ in range(turns):
            w = w - 0.125 * bs.grad(loss)(w, x)
        w.sync()
        return STATISTICS.planned - before

    x = start() + 1
    assert compiled(12) <= 4
    assert compiled(20) <= 3


def test_many_results_of_one_call_are_no_loop() -> None:
    weights = [(start() + at).sync() for at in range(80)]
    slopes = bs.grad(lambda weights: sum([(each * each).sum() for each in weights]))(weights)
    bs.sync(slopes)
    for weight, slope in zip(weights, slopes, strict=True):
        np.testing.assert_allclose(slope.numpy(), 2 * weight.numpy())
