"""Optimisers follow their formulas, written out in numpy, over a dozen steps."""

from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import nn
from kit.optimiser_formulas import FORMULAS
from kit.optimisers import CASES, followed, trained


@pytest.mark.parametrize("case", CASES)
def test_steps_follow_the_formula(case: str) -> None:
    expected = followed(case)
    for part, found in trained(case).items():
        np.testing.assert_allclose(found, expected[part], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", FORMULAS)
def test_float32_is_as_exact_as_it_can_be(name: str) -> None:
    """The corrections of averages too, which 1 - 0.999 ** step in float32 would not be."""
    expected = followed(f"{name}()")
    for part, found in trained(f"{name}()", bs.float32).items():
        np.testing.assert_allclose(found, expected[part], rtol=1e-5, atol=1e-6)


def test_a_state_is_what_initial_gives() -> None:
    model = bs.ones(2)
    with pytest.raises(bs.ArgumentError, match=r"Adam\.update: the state is NoneType"):
        bs.train.Adam().update(model, model, None)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("given", [nn.Linear(2, 2), nn.Linear(2, 2).params(), [bs.ones(3)]])
def test_an_optimiser_is_given_no_parameters(given: Any) -> None:
    for settings in ({}, {"lr": 1e-3}):
        with pytest.raises(bs.ArgumentError, match=r"(?s)^Adam: an optimiser is settings.*Learner"):
            bs.train.Adam(given, **settings)
