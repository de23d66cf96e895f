"""Running averages of models, against the formula."""

import numpy as np
import pytest

import brimstone as bs
from brimstone import train

VALUES = np.random.default_rng(3).normal(0, 1, (6, 3))


@pytest.mark.parametrize("warm", [False, True])
def test_the_average_follows_its_formula(warm: bool) -> None:
    average = train.EMA(decay=0.7, warm=warm)
    update = bs.jit(average.update, donate="state")
    state = average.initial({"w": bs.asarray(VALUES[0])})
    expected = VALUES[0]
    for step, value in enumerate(VALUES[1:]):
        state = update({"w": bs.asarray(value)}, state)
        decay = min(0.7, (1 + step) / (10 + step)) if warm else 0.7
        expected = decay * expected + (1 - decay) * value
    np.testing.assert_allclose(state.model["w"].numpy(), expected, rtol=1e-12)
    assert int(state.step) == 5


def test_what_is_no_float_is_the_last_models() -> None:
    average = train.EMA()
    state = average.initial({"w": bs.ones(2, dtype=bs.bfloat16), "n": bs.asarray(1), "no": None})
    assert state.model["w"].dtype == bs.float32
    last = {"w": bs.zeros(2, dtype=bs.bfloat16), "n": bs.asarray(7), "no": None}
    state = average.update(last, state)
    assert int(state.model["n"]) == 7
    averaged = average.averaged(last, state)
    assert averaged["w"].dtype == bs.bfloat16
    assert averaged["no"] is None


def test_the_average_has_memory_of_its_own() -> None:
    model = bs.ones(2)
    state = train.EMA().initial(model)
    bs.jit(lambda model: model * 2, donate="model")(model)
    assert state.model.tolist() == [1, 1]


def test_settings_and_models_that_do_not_fit_are_refused() -> None:
    with pytest.raises(bs.ArgumentError, match="decay"):
        train.EMA(decay=1.0)
    average = train.EMA()
    with pytest.raises(bs.ArgumentError, match="at b: it is missing"):
        average.update({"a": bs.ones(1), "b": bs.ones(1)}, average.initial({"a": bs.ones(1)}))
