"""Loops and branches on the CPU: what they compute is what the reference does, on any number of
threads, and nothing of it is done by Python."""

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.runtime import steps
from brimstone.targets.llvm.program import Program

WIDTH, STEPS = 8, 6


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def cell(weights: Any) -> Callable[[Any, Any], tuple[Any, Any]]:
    def step(hidden: Any, x: Any) -> tuple[Any, Any]:
        hidden = bs.tanh(hidden @ weights + x)
        return hidden, hidden * 2

    return step


def rnn(weights: Any, xs: Any) -> Any:
    return bs.scan(cell(weights), bs.zeros((WIDTH,)), xs)


def backwards(weights: Any, xs: Any) -> Any:
    return bs.scan(cell(weights), bs.zeros((WIDTH,)), xs, reverse=True)


def layers(weights: Any, xs: Any) -> Any:
    """A scan over layers, in each of which a scan over steps."""

    def layer(xs: Any, weights: Any) -> tuple[Any, Any]:
        last, ys = bs.scan(cell(weights), bs.zeros((WIDTH,)), xs)
        return ys, last

    return bs.scan(layer, xs, bs.stack([weights, weights * 0.5, -weights]))


def halvings(weights: Any, xs: Any) -> Any:
    return bs.while_loop(
        lambda state: state[0].sum() > 1e-3,
        lambda state: (state[0] * 0.5, state[1] + 1),
        (bs.abs(xs), bs.asarray(0)),
    )


def powers(weights: Any, xs: Any) -> Any:
    return bs.fori_loop(0, 5, lambda at, x: x @ weights / (at + 1), xs)


def choices(weights: Any, xs: Any) -> Any:
    """A branch in each round, and one around a loop."""

    def step(total: Any, x: Any) -> tuple[Any, Any]:
        total = bs.cond(x.sum() > 0, lambda: total @ weights, lambda: total - x)
        return total, total.max()

    return bs.cond(
        xs.sum() > 100, lambda: (xs[0], xs[:, 0]), lambda: bs.scan(step, bs.ones((WIDTH,)), xs)
    )


def collatz(weights: Any, xs: Any) -> Any:
    """A loop that data ends, in each round of another one."""

    def steps(count: Any, number: Any) -> tuple[Any, Any]:
        def one(state: Any) -> Any:
            n, taken = state
            return bs.where(n % 2 == 0, n // 2, 3 * n + 1), taken + 1

        taken = bs.while_loop(lambda state: state[0] > 1, one, (number, bs.asarray(0)))[1]
        return count + taken, taken

    return bs.scan(steps, bs.asarray(0), bs.arange(1, 12))


def lookups(weights: Any, xs: Any) -> Any:
    """Rows that data choose, in each round."""

    def step(at: Any, x: Any) -> tuple[Any, Any]:
        return (at * 3 + 1) % WIDTH, weights[at] * x

    return bs.scan(step, bs.asarray(0), xs)


def table(weights: Any, xs: Any) -> Any:
    """Cells of a table, each of its neighbours, in a loop in a loop."""

    def row(i: Any, cells: Any) -> Any:
        def cell(j: Any, cells: Any) -> Any:
            least = bs.minimum(cells[i, j + 1], cells[i + 1, j])
            return cells.at[i + 1, j + 1].set(bs.abs(xs[i, j]) + least)

        return bs.fori_loop(0, WIDTH, cell, cells)

    return bs.fori_loop(0, STEPS, row, bs.zeros((STEPS + 1, WIDTH + 1)))


def nothing(weights: Any, xs: Any) -> Any:
    return rnn(weights, xs[:0])


def large(weights: Any, xs: Any) -> Any:
    """Kernels that threads share."""
    wide = bs.broadcast_to(xs.sum(), (600, 700)) + bs.arange(700) / 700
    return bs.scan(lambda x, row: (bs.exp(-x) + row.mean(), x.sum()), wide, xs)


FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    each.__name__: each
    for each in (
        rnn, backwards, layers, halvings, powers, choices, collatz, lookups, table, nothing, large,
    )
}  # fmt: skip
SLOPES = ["rnn", "backwards", "layers", "powers", "choices", "lookups"]


def slopes(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def loss(weights: Any, xs: Any) -> Any:
        made = function(weights, xs)
        return sum(each.sum() for each in (made if isinstance(made, tuple) else (made,)))

    return bs.grad(loss, argnums=(0, 1))


ALL = {**FUNCTIONS, **{f"slopes of {name}": slopes(FUNCTIONS[name]) for name in SLOPES}}


def results(name: str, device: str) -> list[np.ndarray]:
    with bs.device(device):
        given = bs.asarray(numbers(WIDTH, WIDTH) * 0.4), bs.asarray(numbers(STEPS, WIDTH))
        made = bs.jit(ALL[name])(*given)
        return [each.numpy() for each in (made if isinstance(made, tuple) else (made,))]


@pytest.mark.parametrize("name", ALL)
def test_they_agree_with_the_reference(name: str) -> None:
    for found, expected in zip(results(name, "cpu"), results(name, "reference"), strict=True):
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-5)


BITS = """
import hashlib, sys
sys.path[:0] = sys.argv[1:]
from test_native_loops import ALL, results
for name in ALL:
    made = b"".join(each.tobytes() for each in results(name, "cpu"))
    print(name, hashlib.sha256(made).hexdigest())
"""


def test_the_bits_are_the_same_on_any_number_of_threads() -> None:
    here = os.path.dirname(__file__)
    told = [
        subprocess.run(
            [sys.executable, "-c", BITS, here, os.path.dirname(here)],
            env={**os.environ, "BRIMSTONE_THREADS": threads},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout
        for threads in ("1", "3")
    ]
    assert told[0] == told[1]
    assert len(told[0].splitlines()) == len(ALL)


@pytest.mark.parametrize("name", ALL)
def test_each_is_one_call(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def play(*_: object) -> None:
        raise AssertionError("Python has a part in it")

    monkeypatch.setattr(Program, "play", play)
    monkeypatch.setattr(steps, "_STEPS", {})  # what is compiled already would not ask again
    results(name, "cpu")


def twice(x: np.ndarray) -> np.ndarray:
    return x * 2


def test_a_loop_with_a_call_of_python_in_it() -> None:
    """Python runs the outer loop, and the core the inner one."""

    def outer(x: Any, row: Any) -> tuple[Any, Any]:
        x = bs.host_call(twice, bs.ShapeDtype((WIDTH,), bs.float32), x)
        return bs.scan(lambda x, number: (bs.sin(x + number), x.sum()), x, row)

    def run(device: str) -> list[np.ndarray]:
        with bs.device(device):
            xs = bs.asarray(numbers(STEPS, 3))
            made = bs.jit(lambda xs: bs.scan(outer, bs.ones((WIDTH,)), xs))(xs)
            return [each.numpy() for each in made]

    for found, expected in zip(run("cpu"), run("reference"), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_an_index_in_a_loop_that_names_no_place() -> None:
    def step(at: Any, x: Any) -> tuple[Any, Any]:
        return at + 3, x[bs.reshape(at, (1,))]

    with bs.device("cpu"):
        made = bs.jit(lambda xs: bs.scan(step, bs.asarray(0), xs))(
            bs.asarray(numbers(STEPS, WIDTH))
        )
        for each in made:
            with pytest.raises(
                bs.PlaceError, match=r"index 9 at \[0\] is outside axis 0"
            ) as caught:
                each.numpy()
            assert "test_native_loops.py" in str(caught.value)


def test_an_update_in_a_loop_that_names_no_place() -> None:
    with bs.device("cpu"):
        x = bs.asarray(numbers(STEPS))
        made = bs.jit(lambda x: bs.fori_loop(0, 9, lambda i, x: x.at[i].set(0.0), x))(x)
        with pytest.raises(bs.PlaceError, match=r"index 6 .*is outside axis 0"):
            made.numpy()
        assert np.array_equal(x.numpy(), numbers(STEPS))


def test_a_profile_names_what_is_in_a_loop() -> None:
    with bs.device("cpu"):
        run = bs.jit(rnn)
        given = bs.asarray(numbers(WIDTH, WIDTH)), bs.asarray(numbers(STEPS, WIDTH))
        bs.sync(run(*given))
        with bs.profile() as profile:
            bs.sync(run(*given))
    rows = [row for row in profile.rows() if row.kind == "kernel" and row.count == STEPS]
    assert rows
    assert all("test_native_loops.py" in row.lines and row.bytes > 0 for row in rows)
