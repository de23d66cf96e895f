"""Schedules follow their formulas, written out in Python, on the host and in compiled steps."""

from collections.abc import Callable
from math import cos, pi, sqrt
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import train
from brimstone.train import schedules

STEPS = 40


def wave(start: float, end: float, way: float) -> float:
    """What lies a part of the way along half a cosine."""
    return end + (start - end) * (1 + cos(pi * min(way, 1))) / 2


def restarts(step: int, period: int, growth: int) -> float:
    """The part of its cycle that a step has behind it."""
    while step >= period:
        step, period = step - period, period * growth
    return step / period


def stable(step: int, fall: Callable[[float], float]) -> float:
    """Up in 5 steps, 10 at the top, down in 20, to 0.1."""
    way = min(max((step - 15) / 20, 0), 1)
    return 0.5 * step / 5 if step < 5 else fall(way)


EXPONENTIAL = schedules.Exponential(0.3, 0.9)
RISE = schedules.Linear(0.0, 0.2, 10)
CASES: dict[str, tuple[schedules.Schedule, Callable[[int], float]]] = {
    "constant": (schedules.Constant(0.3), lambda _: 0.3),
    "linear": (schedules.Linear(0.5, 0.1, 20), lambda t: 0.5 - 0.4 * min(t / 20, 1)),
    "cosine": (schedules.Cosine(0.5, 30, 0.1), lambda t: wave(0.5, 0.1, t / 30)),
    "polynomial": (
        schedules.Polynomial(0.5, 30, 2.0, 0.1), lambda t: 0.1 + 0.4 * max(0, 1 - t / 30) ** 2),
    "exponential": (EXPONENTIAL, lambda t: 0.3 * 0.9**t),
    "step": (schedules.Step(0.3, 7, 0.5), lambda t: 0.3 * 0.5 ** (t // 7)),
    "milestones": (
        schedules.Milestones(0.3, (4, 9, 30)),
        lambda t: 0.3 * 0.1 ** sum(t >= each for each in (4, 9, 30))),
    "noam": (
        schedules.Noam(2.0, 10, 64),
        lambda t: 2 * 64**-0.5 * min((t + 1) ** -0.5, (t + 1) * 10**-1.5)),
    "product": (schedules.Composed((RISE, EXPONENTIAL)), lambda t: RISE(t) * EXPONENTIAL(t)),
    "mean": (
        schedules.Composed((RISE, EXPONENTIAL, 0.4), "mean"),
        lambda t: (RISE(t) + EXPONENTIAL(t) + 0.4) / 3),
    "geometric mean": (
        schedules.Composed((0.2, EXPONENTIAL), "geometric mean"),
        lambda t: sqrt(0.2 * EXPONENTIAL(t))),
    "sequential": (
        schedules.Sequential((RISE, EXPONENTIAL, 0.01), (10, 30)),
        lambda t: RISE(t) if t < 10 else EXPONENTIAL(t - 10) if t < 30 else 0.01),
    "warm restarts": (
        schedules.WarmRestarts(0.5, 6, 1, 0.1), lambda t: wave(0.5, 0.1, restarts(t, 6, 1))),
    "growing restarts": (
        schedules.WarmRestarts(0.5, 3, 2, 0.1), lambda t: wave(0.5, 0.1, restarts(t, 3, 2))),
    "warm-up, stable, linear": (
        schedules.WarmupStableDecay(0.5, 5, 10, 20, 0.1),
        lambda t: stable(t, lambda x: 0.5 - 0.4 * x)),
    "warm-up, stable, cosine": (
        schedules.WarmupStableDecay(0.5, 5, 10, 20, 0.1, "cosine"),
        lambda t: stable(t, lambda x: wave(0.5, 0.1, x))),
    "warm-up, stable, root": (
        schedules.WarmupStableDecay(0.5, 5, 10, 20, 0.1, "root"),
        lambda t: stable(t, lambda x: 0.5 - 0.4 * sqrt(x))),
    "no warm-up": (schedules.WarmupStableDecay(0.5, 0, 0, 20), lambda t: 0.5 * max(0, 1 - t / 20)),
    "one cycle": (
        schedules.OneCycle(0.5, 41, 0.5),
        lambda t: wave(0.02, 0.5, t / 19.5) if t < 19.5 else wave(0.5, 2e-6, (t - 19.5) / 20.5)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_rates_follow_the_formula(name: str) -> None:
    schedule, formula = CASES[name]
    steps = bs.arange(STEPS)
    expected = [formula(step) for step in range(STEPS)]
    np.testing.assert_allclose(bs.vmap(schedule)(steps).numpy(), expected, rtol=3e-6, atol=1e-7)
    for step in (0, 7, STEPS - 1):
        assert schedule(step) == pytest.approx(expected[step], rel=1e-12)


def test_a_changing_rate_compiles_nothing() -> None:
    traced = []
    optimiser = train.SGD(lr=schedules.Linear(1.0, 0.0, 4))

    @bs.jit
    def step(model: Any, state: Any) -> Any:
        traced.append(1)
        return optimiser.update(model, {"w": bs.ones(2)}, state)

    model = {"w": bs.zeros(2)}
    state = optimiser.initial(model)
    seen = []
    for _ in range(5):
        model, state = step(model, state)
        seen.append(float(model["w"][0]))
    assert seen == [-1.0, -1.75, -2.25, -2.5, -2.5]
    assert len(traced) == 1
    assert float(optimiser.rate(state)) == 0


def test_rates_are_exact_after_many_steps() -> None:
    """0.999999 ** 1e6 in float32, had the base been rounded, would be 6 % off."""
    schedule = schedules.Exponential(1.0, 0.999999)
    assert float(schedule(bs.asarray(1_000_000))) == pytest.approx(0.999999**1_000_000, rel=1e-5)


def test_a_function_may_be_a_schedule() -> None:
    optimiser = train.SGD(lr=lambda step: 0.5 / (step + 1.0))
    state = optimiser.initial(bs.zeros(1))
    model, _ = optimiser.update(bs.zeros(1), bs.ones(1), state)
    assert model.tolist() == [-0.5]


def test_a_schedule_may_be_an_argument_of_a_compiled_function() -> None:
    rate = bs.jit(lambda schedule, step: schedule(step))(schedules.Step(0.5, 3), bs.asarray(4))
    assert float(rate) == pytest.approx(0.05)


def test_a_schedule_says_what_the_rate_is() -> None:
    with pytest.raises(TypeError, match=r"abstract method '?at'?"):
        schedules.Schedule()  # pyright: ignore[reportAbstractUsage]


BAD: dict[str, Callable[[], Any]] = {
    "lr": lambda: schedules.Constant(-1.0),
    "start": lambda: schedules.Linear(-1.0, 0.0, 3),
    "steps": lambda: schedules.Cosine(1.0, 0),
    "gamma": lambda: schedules.Exponential(1.0, 0.0),
    "size": lambda: schedules.Step(1.0, 0),
    "milestones is a tuple": lambda: schedules.Milestones(1.0, (3, 2)),
    "warmup": lambda: schedules.Noam(1.0, 0, 64),
    "combine": lambda: schedules.Composed((1.0,), "median"),
    "schedules is a tuple": lambda: schedules.Composed(()),
    "2 schedules have 1": lambda: schedules.Sequential((1.0, 2.0), (3, 4)),
    "pct_start": lambda: schedules.OneCycle(1.0, 10, 1.5),
    "three phases": lambda: schedules.OneCycle(1.0, 10, 0.7, three_phase=True),
    "anneal_strategy": lambda: schedules.OneCycle(1.0, 10, anneal_strategy="other"),
    "growth": lambda: schedules.WarmRestarts(1.0, 3, 0),
    "shape": lambda: schedules.WarmupStableDecay(1.0, 1, 1, 1, shape="other"),
    "step is a number": lambda: schedules.Constant(1.0)(-1),
    "factor": lambda: schedules.Plateau(factor=1.0),
    "mode": lambda: schedules.Plateau(mode="best"),
}


@pytest.mark.parametrize("word", BAD)
def test_settings_out_of_range_are_refused(word: str) -> None:
    with pytest.raises(bs.ArgumentError, match=word):
        BAD[word]()


def test_a_plateau_lowers_the_scale() -> None:
    plateau = schedules.Plateau(factor=0.5, patience=1, cooldown=1, minimum=0.2)
    state = plateau.initial()
    scales = []
    for metric in (3.0, 2.0, 2.0, float("nan"), 2.0, 2.0, 2.0, 1.0, 1.0, 1.0, 1.0):
        state = plateau.update(metric, state)
        scales.append(state.scale)
    assert scales == [1, 1, 1, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.2, 0.2]
    assert state.best == 1.0
