"""Recordings that differ in numbers alone: nothing is prepared again, and nobody can tell."""

import math
from collections.abc import Callable
from random import Random
from threading import Thread
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.frontend.handle import wrap
from brimstone.frontend.node import record
from brimstone.ir.dtypes import f64
from brimstone.ir.payloads import payload
from brimstone.ir.tensor import Constant
from brimstone.runtime.steps import STATISTICS
from kit.unprepared import nothing_is_prepared


@pytest.fixture(autouse=True)
def unprepared(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing_is_prepared(monkeypatch)


def planned_by(work: Callable[[], Any]) -> int:
    """How many steps were made ready for some work."""
    before = STATISTICS.planned
    work()
    return STATISTICS.planned - before


def start(dtype: str = "float64") -> bs.Tensor:
    return bs.asarray(np.linspace(-3, 3, 7).astype(dtype))


def adam(number: int) -> list[float]:
    """A step of an optimiser, whose numbers are others each time."""
    x, mean, square = start(), start() * 0.5, start() * start()
    rate, first, second = 0.01 / number, 1 - 0.9**number, 1 - 0.999**number
    return (x - rate * (mean / first) / (bs.sqrt(square / second) + 1e-8)).tolist()


def test_other_numbers_need_no_step_of_their_own() -> None:
    expected = [adam(number) for number in range(2, 6)]  # each made alone, by what follows
    assert planned_by(lambda: adam(7)) == 0
    x, mean = np.linspace(-3, 3, 7), np.linspace(-3, 3, 7) * 0.5
    for number, found in enumerate(expected, 2):
        first, second = 1 - 0.9**number, 1 - 0.999**number
        known = x - 0.01 / number * (mean / first) / (np.sqrt(x * x / second) + 1e-8)
        np.testing.assert_array_equal(found, known)


@pytest.mark.parametrize("number", [0.0, -0.0, 1, -1, 2.0, math.inf, -math.inf, math.nan, True])
def test_numbers_that_rules_look_for(number: float) -> None:
    x = np.linspace(-3, 3, 7)
    for each in (3.5, number, 4.5, number):
        with np.errstate(invalid="ignore"):
            np.testing.assert_array_equal((start() * each).numpy(), x * each)
        np.testing.assert_array_equal((start() + each).numpy(), x + each)


def test_equal_numbers_tell_recordings_apart() -> None:
    x = np.linspace(-3, 3, 7)
    for one, other in [(3.5, 3.5), (3.5, 4.5), (4.5, 3.5), (5.5, 5.5), (6.5, 7.5)]:
        np.testing.assert_array_equal(((start() * one) - other).numpy(), x * one - other)


def test_the_order_of_numbers_is_that_of_their_places() -> None:
    x = np.linspace(-3, 3, 7)
    for a, b, c in [(3.5, 4.5, 5.5), (5.5, 3.5, 4.5), (4.5, 5.5, 3.5)]:
        found = bs.where(start() > a - 4, start() * b, c - start())
        np.testing.assert_array_equal(found.numpy(), np.where(x > a - 4, x * b, c - x))


@pytest.mark.parametrize("dtype", ["int32", "float16", "float32", "complex64"])
def test_numbers_of_every_dtype(dtype: str) -> None:
    for number in (3, 5, 7):
        given = start(dtype).numpy()
        found = start(dtype) * number + number
        np.testing.assert_array_equal(found.numpy(), given * number + number)
        assert found.numpy().dtype == given.dtype


def test_more_digits_than_a_dtype_has() -> None:
    for number in (1 + 1e-9, 1 + 1e-3, 1 + 2e-9, 1e300, 1e-300):
        with np.errstate(over="ignore", invalid="ignore"):
            known = start("float32").numpy() * np.asarray(number).astype(np.float32)
        np.testing.assert_array_equal((start("float32") * number).numpy(), known)


def test_gradients_are_those_of_their_own_numbers() -> None:
    def slope(number: float, watched: bool) -> list[float]:
        x = start().requires_grad_()
        y = (x * number + number).sum()
        if watched:
            y.item()
        return y.backward()[x].tolist()

    for number in (3.5, 4.5, 5.5):
        (start() * number + number).sum().item()  # the same without a derivative
        assert slope(number, True) == slope(number, False) == [number] * 7


def test_what_has_no_func_is_no_piece_of_what_is_differentiated() -> None:
    def long(x: Any) -> Any:
        for _ in range(12):
            x = bs.sin(x)
        return x

    x = np.linspace(0.5, 1, 7)
    long(bs.asarray(x)).sync()
    bs.exp(bs.asarray(x) * 3.5).sum().item()
    bs.exp(long(bs.asarray(x)) * 5.5).sum().item()  # in pieces: the second differs in its number
    pending, weight = long(bs.asarray(x)), bs.asarray(x).requires_grad_()
    slope = bs.exp(weight * 5.5).sum().backward()[weight]
    np.testing.assert_allclose(slope.numpy(), 5.5 * np.exp(5.5 * x), rtol=1e-13)
    del pending


def test_an_array_that_is_the_same_number() -> None:
    """Which becomes one argument with it."""
    x, values = bs.asarray(np.ones(7)), payload(np.full(7, 3.5), f64)
    for number in (3.5, 4.5):
        array = record(Constant, (), (values,))
        assert (x * number + wrap(array)).tolist() == [number + 3.5] * 7


def test_powers_are_those_of_their_own_numbers() -> None:
    x = np.linspace(0.5, 3, 7)
    for power in (0.5, 1.5, 2, 2.5, 3, 3.5, -1, -1.5):
        np.testing.assert_allclose((bs.asarray(x) ** power).numpy(), x**power, rtol=1e-13)
        y = bs.asarray(x).requires_grad_()
        slope = (y**power).sum().backward()[y]
        np.testing.assert_allclose(slope.numpy(), power * x ** (power - 1), rtol=1e-13)


def test_attention_with_another_scale() -> None:
    q = np.random.default_rng(0).normal(size=(1, 2, 4, 8))
    for scale in (0.25, 0.3, 0.7):
        x = bs.asarray(q)
        found = bs.softmax(x @ x.mT * scale, axis=-1) @ x
        scores = np.exp(q @ q.swapaxes(-1, -2) * scale)
        known = scores / scores.sum(-1, keepdims=True) @ q
        np.testing.assert_allclose(found.numpy(), known, rtol=1e-12)


def test_numbers_in_loops_are_those_of_their_own() -> None:
    x = np.linspace(-3, 3, 7)
    for number in (3.5, 4.5):
        found = bs.fori_loop(0, 3, lambda _, x, by=number: x * by, start())
        np.testing.assert_array_equal(found.numpy(), x * number * number * number)


def program(rng: Random, library: Any, x: Any) -> Any:
    """A program with numbers, of one form for one seed but for the numbers."""
    shape = Random(rng.random())
    for _ in range(shape.randint(1, 6)):
        number = rng.choice([0, 1, -1, 2, 3, 0.5, 2.5, rng.uniform(-4, 4)])
        kind = shape.randrange(5)
        if kind == 0:
            x = x * number
        elif kind == 1:
            x = number - x
        elif kind == 2:
            x = library.maximum(x, number * library.ones_like(x))
        elif kind == 3:
            x = library.where(x > number, x, number)
        else:
            x = x + number * library.sum(x)
    return x


@pytest.mark.parametrize("seed", range(40))
def test_random_programs(seed: int) -> None:
    given = np.linspace(-3, 3, 7)
    for other in range(5):
        found, known = (
            program(_Both(Random(seed), Random(seed * 100 + other)), library, x)
            for library, x in ((bs, bs.asarray(given)), (np, given))
        )
        np.testing.assert_allclose(found.numpy(), known, rtol=1e-12, atol=1e-12)


class _Both(Random):
    """Random numbers of two sources: what comes first is of the first, which is always the same."""

    def __init__(self, form: Random, numbers: Random) -> None:
        super().__init__()
        self.form, self.numbers = form, numbers

    def random(self) -> float:
        return self.form.random()

    def uniform(self, a: float, b: float) -> float:
        return self.numbers.uniform(a, b)

    def choice(self, seq: Any) -> Any:
        return self.numbers.choice(seq)


def test_threads_with_numbers_of_their_own() -> None:
    wrong: list[float] = []

    def work(own: int) -> None:
        for step in range(200):
            number = 3 + own + step / 1000
            found = (start() * number - number).numpy()
            if (found != np.linspace(-3, 3, 7) * number - number).any():
                wrong.append(number)

    threads = [Thread(target=work, args=(own,)) for own in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
