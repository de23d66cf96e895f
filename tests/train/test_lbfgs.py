"""L-BFGS: its two loops against numpy, its line search on functions that are hard to descend."""

from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import train

RANDOM = np.random.default_rng(8)
CURVATURE = np.diag([1.0, 3.0, 10.0, 0.5]) + 0.2
START = RANDOM.normal(0, 1, 4)
Array = np.ndarray[Any, np.dtype[Any]]


def slope(x: Array) -> Array:
    """The gradient of a loss that is nearly quadratic."""
    return CURVATURE @ x + 0.1 * np.cos(x)


def loss(model: Any) -> Any:
    x = bs.concat([model["a"], model["b"].reshape(2)])
    return 0.5 * (x * (bs.asarray(CURVATURE) @ x)).sum() + 0.1 * bs.sin(x).sum()


def model_of(x: Array) -> dict[str, Any]:
    return {"a": bs.asarray(x[:2]), "b": bs.asarray(x[2:].reshape(1, 2)), "n": bs.asarray(1)}


def vector_of(model: Any) -> Array:
    return np.concatenate([model["a"].numpy(), model["b"].numpy().reshape(2)])


def written_out(steps: int, rate: float, most: int) -> Array:
    """The steps of L-BFGS, with an explicit inverse of the curvature for what is remembered."""
    x, pairs, scale = START, [], 1.0
    before, old = x, slope(x)
    for step in range(steps):
        g = slope(x)
        if step:
            s, y = x - before, g - old
            if s @ y > 1e-10:
                pairs, scale = [*pairs, (s, y)][-most:], (s @ y) / (y @ y)
        inverse = scale * np.eye(4)
        for s, y in pairs:
            left = np.eye(4) - np.outer(s, y) / (s @ y)
            inverse = left @ inverse @ left.T + np.outer(s, s) / (s @ y)
        before, old = x, g
        x = x - inverse @ g * (rate if step else rate * min(1, 1 / np.abs(g).sum()))
    return x


@pytest.mark.parametrize(("rate", "most"), [(1.0, 10), (0.5, 2)])
def test_updates_follow_the_formula(rate: float, most: int) -> None:
    optimiser = train.LBFGS(lr=rate, history_size=most)

    @bs.jit(donate=("model", "state"))
    def step(model: Any, state: Any) -> Any:
        floats = {"a": model["a"], "b": model["b"]}
        return optimiser.update(model, {**bs.grad(loss)(floats), "n": None}, state)

    model, state = model_of(START), optimiser.initial(model_of(START))
    for _ in range(6):
        model, state = step(model, state)
    np.testing.assert_allclose(vector_of(model), written_out(6, rate, most), rtol=1e-9)
    assert int(state.step) == 6
    assert int(model["n"]) == 1


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_minimising_finds_the_minimum(search: str | None) -> None:
    optimiser = train.LBFGS(max_iter=30, history_size=5, line_search_fn=search)
    run = bs.jit(lambda model, state: optimiser.minimise(loss, model, state))
    model, state, value = run(model_of(START), optimiser.initial(model_of(START)))
    np.testing.assert_allclose(slope(vector_of(model)), 0, atol=1e-4)
    assert float(value) == pytest.approx(float(loss(model)), rel=1e-9)
    assert 0 < int(state.step) < 30


def rosenbrock(x: Any) -> Any:
    return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2


def test_a_line_search_goes_through_a_bent_valley() -> None:
    optimiser = train.LBFGS(
        max_iter=60, max_eval=200, history_size=8, line_search_fn="strong_wolfe"
    )
    start = bs.asarray([-1.2, 1.0], dtype=bs.float64)
    run = bs.jit(lambda model, state: optimiser.minimise(rosenbrock, model, state))
    model, state, value = run(start, optimiser.initial(start))
    np.testing.assert_allclose(model.numpy(), 1, rtol=1e-5)
    assert float(value) < 1e-10
    assert int(state.step) < 50


def test_where_it_is_flat_it_stays() -> None:
    optimiser = train.LBFGS(history_size=3)
    model = bs.ones(2)
    after, _ = optimiser.update(model, bs.zeros(2), optimiser.initial(model))
    assert after.tolist() == [1, 1]
    after, state, _ = optimiser.minimise(lambda x: (x * 0).sum(), model, optimiser.initial(model))
    assert after.tolist() == [1, 1]
    assert int(state.step) == 0


def test_leaves_without_a_gradient_stay() -> None:
    optimiser = train.LBFGS(history_size=3)
    model = model_of(START)
    state = optimiser.initial(model)
    after, _ = optimiser.update(model, {"a": bs.ones_like(model["a"]), "b": None, "n": None}, state)
    assert after["b"] is model["b"]
    assert after["n"] is model["n"]
    part = optimiser.initial({**model, "b": None})
    with pytest.raises(bs.ArgumentError, match="b has a gradient and no state"):
        optimiser.update(model, {"a": None, "b": model["b"], "n": None}, part)


def test_what_does_not_fit_is_refused() -> None:
    optimiser = train.LBFGS()
    with pytest.raises(bs.ArgumentError, match="no leaf of floats"):
        optimiser.initial({"n": bs.asarray(1)})
    with pytest.raises(bs.ArgumentError, match="the model has no b"):
        optimiser.minimise(loss, {"a": bs.ones(2)}, optimiser.initial(model_of(START)))
    with pytest.raises(bs.ArgumentError, match="line_search_fn"):
        train.LBFGS(line_search_fn="other")
    with pytest.raises(bs.ArgumentError, match="history_size"):
        train.LBFGS(history_size=0)
