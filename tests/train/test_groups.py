"""Groups: each leaf goes by the optimiser of the first rule that fits."""

from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import train


def model() -> dict[str, Any]:
    return {"inner": {"weight": bs.ones((2, 2)), "bias": bs.ones(2)}, "head": bs.ones((2, 1))}


def step(optimiser: train.Optimiser, gradients: Any = None) -> tuple[dict[str, Any], Any]:
    before = model()
    slopes = bs.tree_map(bs.ones_like, before) if gradients is None else gradients
    run = bs.jit(optimiser.update)
    return run(before, slopes, optimiser.initial(before))


def test_the_first_rule_that_fits_decides() -> None:
    groups = train.Groups(
        {"bias$": train.SGD(lr=0.1), "inner": train.SGD(lr=0.2)}, train.SGD(lr=0.3)
    )
    after, _ = step(groups)
    assert after["inner"]["bias"].tolist() == pytest.approx([0.9, 0.9])
    assert after["inner"]["weight"].tolist()[0] == pytest.approx([0.8, 0.8])
    assert after["head"].tolist()[0] == pytest.approx([0.7])


def test_what_no_rule_fits_stays() -> None:
    before = model()
    groups = train.Groups({"inner": train.Adam()})
    slopes = bs.tree_map(bs.ones_like, before)
    after, state = groups.update(before, slopes, groups.initial(before))
    assert after["head"] is before["head"]
    assert after["inner"]["weight"] is not before["inner"]["weight"]
    assert len(state) == 1
    assert state[0].slots["mean"]["head"] is None


def test_rules_may_be_functions_of_leaves() -> None:
    groups = train.Groups({"head": train.AdamW(), train.is_matrix: train.Muon()}, train.AdamW())
    after, state = step(groups)
    alone = train.Muon()
    weight = bs.ones((2, 2))
    expected, _ = alone.update(weight, weight, alone.initial(weight))
    np.testing.assert_allclose(after["inner"]["weight"].numpy(), expected.numpy(), rtol=1e-6)
    assert [int(each.step) for each in state] == [1, 1, 1]


def test_a_scale_multiplies_all_rates() -> None:
    groups = train.Groups({"bias": train.SGD(lr=0.1)}, train.SGD(lr=0.2))
    before = model()
    slopes = bs.tree_map(bs.ones_like, before)
    after, state = groups.update(before, slopes, groups.initial(before), scale=0.5)
    assert after["inner"]["bias"].tolist() == pytest.approx([0.95, 0.95])
    assert after["head"].tolist()[0] == pytest.approx([0.9])
    assert groups.rate(state) == (0.1, 0.2)


def test_groups_may_hold_groups() -> None:
    inside = train.Groups({"bias": train.SGD(lr=0.1)}, train.SGD(lr=0.2))
    after, _ = step(train.Groups({"inner": inside}, train.SGD(lr=0.3)))
    assert after["inner"]["bias"].tolist() == pytest.approx([0.9, 0.9])
    assert after["inner"]["weight"].tolist()[0] == pytest.approx([0.8, 0.8])
    assert after["head"].tolist()[0] == pytest.approx([0.7])


def test_gradients_may_be_none_in_a_group() -> None:
    slopes = {"inner": None, "head": bs.ones((2, 1))}
    after, _ = step(train.Groups({"bias": train.Adam()}, train.SGD(lr=0.5)), slopes)
    assert after["inner"]["bias"].tolist() == [1, 1]
    assert after["head"].tolist()[0] == [0.5]
