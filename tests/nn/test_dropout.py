"""Dropout and noise: in training, by the key of the context, and nowhere else."""

from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import nn
from kit.mistakes import Mistake, check

NOISY = [
    nn.Dropout(0.25), nn.AlphaDropout(0.25), nn.Dropout1d(0.25), nn.Dropout2d(0.25),
    nn.Dropout3d(0.25), nn.GaussianNoise(0.5),
]  # fmt: skip
SHAPES = {"Dropout1d": (2, 8, 3), "Dropout3d": (2, 8, 3, 2, 2)}


def trained(layer: Any, x: Any, key: Any = 0) -> Any:
    with nn.training(key):
        return layer(x)


@pytest.mark.parametrize("layer", NOISY, ids=lambda layer: type(layer).__name__)
def test_noise_is_for_training(layer: Any) -> None:
    x = bs.ones(SHAPES.get(type(layer).__name__, (2, 8, 3, 2)))
    assert layer(x) is x
    with nn.training(1), nn.inference():
        assert layer(x) is x
    first, again, other = trained(layer, x, 1), trained(layer, x, 1), trained(layer, x, 2)
    assert bs.array_equal(first, again)
    assert not bs.array_equal(first, other)
    assert not bs.array_equal(first, x)


def test_elements_are_dropped_one_by_one() -> None:
    found = trained(nn.Dropout(0.25), bs.ones((64, 64))).numpy()
    np.testing.assert_array_equal(np.unique(found), np.asarray([0, 4 / 3], np.float32))
    assert abs(found.mean() - 1) < 0.04
    narrow = trained(nn.Dropout(0.1), bs.ones(64, dtype=bs.bfloat16))
    assert float(narrow.max()) == float(bs.asarray(1 / 0.9, dtype=bs.bfloat16))


@pytest.mark.parametrize("layer", [nn.Dropout1d, nn.Dropout2d, nn.Dropout3d])
def test_channels_are_dropped_whole(layer: Any) -> None:
    space = (2,) * layer.space
    found = trained(layer(), bs.ones((8, 16, *space))).numpy().reshape(8, 16, -1)
    assert (found == found[..., :1]).all()
    np.testing.assert_array_equal(np.unique(found), [0, 2])


def test_mean_and_variance_stay() -> None:
    x = bs.random.normal(bs.random.key(3), (128, 128))
    found = trained(nn.AlphaDropout(0.3), x).numpy()
    assert abs(found.mean()) < 0.03
    assert abs(found.var() - 1) < 0.04


def test_noise_of_a_deviation() -> None:
    found = trained(nn.GaussianNoise(0.5), bs.ones((64, 64), dtype=bs.float64)).numpy()
    assert abs(found.mean() - 1) < 0.03
    assert abs(found.std() - 0.5) < 0.03


@pytest.mark.parametrize("kind", [nn.Dropout, nn.AlphaDropout, nn.Dropout2d])
def test_nothing_and_all_dropped(kind: Any) -> None:
    x = bs.asarray(np.arange(16.0).reshape(1, 4, 2, 2))
    assert trained(kind(0.0), x) is x
    value, slope = bs.value_and_grad(lambda x: trained(kind(1.0), x).sum())(x)
    assert (float(value), bs.array_equal(slope, x * 0)) == (0, True)


def test_the_gradient_is_dropped_where_the_element_is() -> None:
    layer, x = nn.Dropout(0.5), bs.ones((4, 8))
    slope = bs.grad(lambda x: trained(layer, x).sum())(x)
    assert bs.array_equal(slope, trained(layer, x))


def test_layers_of_a_model_drop_other_elements_at_every_call() -> None:
    model = nn.Sequential(nn.Dropout(), nn.Dropout())
    x = bs.ones((4, 16))
    step = bs.jit(lambda model, x: (model[0](x), model[1](x), model[0](x)))
    with nn.training(5):
        made = step(model, x)
        assert len({each.numpy().tobytes() for each in made}) == 3
    with nn.training(5):
        assert all(bs.array_equal(*pair) for pair in zip(made, step(model, x), strict=True))


MISTAKES = {
    "no probability": Mistake(lambda: nn.Dropout(1.5), bs.ArgumentError, "from 0 to 1, not 1.5"),
    "no number": Mistake(
        lambda: nn.AlphaDropout(float("nan")), bs.ArgumentError, "from 0 to 1, not nan"),
    "no deviation": Mistake(lambda: nn.GaussianNoise(-1), bs.ArgumentError, "`std` is at least 0"),
    "a line": Mistake(
        lambda: trained(nn.Dropout2d(), bs.ones((2, 3, 4))), bs.ShapeError, "of 4 axes, not 3"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name: str) -> None:
    check(MISTAKES[name])
