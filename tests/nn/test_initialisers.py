"""Initialisers: moments, bounds, shapes, the same numbers from the same key."""

from math import sqrt
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import nn

SHAPE = (64, 48)
DEVIATIONS: dict[str, tuple[Any, float]] = {
    "uniform": (nn.Uniform(-3.0, 3.0), sqrt(3)),
    "normal": (nn.Normal(0.0, 2.0), 2.0),
    "truncated": (nn.TruncatedNormal(0.0, 1.0, 2.0), 0.8796),
    "kaiming uniform": (nn.KaimingUniform(), sqrt(2 / 48)),
    "kaiming normal": (nn.KaimingNormal(fan="out"), sqrt(2 / 64)),
    "xavier uniform": (nn.XavierUniform(), sqrt(2 / (48 + 64))),
    "xavier normal": (nn.XavierNormal(gain=2.0), 2 * sqrt(2 / (48 + 64))),
}


@pytest.mark.parametrize("name", DEVIATIONS)
def test_moments(name: str) -> None:
    initialiser, deviation = DEVIATIONS[name]
    made = initialiser(SHAPE, bs.random.key(1)).numpy().astype(np.float64)
    assert made.shape == SHAPE
    assert abs(made.mean()) < 4 * deviation / sqrt(made.size)
    assert made.std() == pytest.approx(deviation, rel=0.06)
    assert np.array_equal(made, initialiser(SHAPE, bs.random.key(1)).numpy())
    assert not np.array_equal(made, initialiser(SHAPE, bs.random.key(2)).numpy())
    assert not np.array_equal(initialiser(SHAPE).numpy(), initialiser(SHAPE).numpy())


def test_bounds() -> None:
    assert np.abs(nn.Uniform(2.0, 3.0)(SHAPE, bs.random.key(0)).numpy() - 2.5).max() <= 0.5
    cut = nn.TruncatedNormal(1.0, 0.5, 2.0)(SHAPE, bs.random.key(0)).numpy()
    assert np.abs(cut - 1.0).max() <= 1.0
    assert nn.Ones()((2,)).tolist() == [1.0, 1.0]
    assert nn.Zeros()((2,), dtype=bs.float64).dtype == bs.float64
    assert nn.Constant(3.0)(()).item() == 3.0


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (4, 4), (2, 3, 2)], ids=str)
def test_orthogonal_rows_or_columns(shape: tuple[int, ...]) -> None:
    made = nn.Orthogonal(2.0)(shape, bs.random.key(3)).numpy().reshape(shape[0], -1)
    square = made @ made.T if made.shape[0] <= made.shape[1] else made.T @ made
    np.testing.assert_allclose(square, 4 * np.eye(len(square)), atol=1e-5)


def test_windows_count_as_inputs() -> None:
    made = nn.KaimingNormal()((64, 8, 3, 3), bs.random.key(0)).numpy()
    assert made.std() == pytest.approx(sqrt(2 / 72), rel=0.05)


def test_mistakes() -> None:
    with pytest.raises(bs.ShapeError, match="two axes or more"):
        nn.Orthogonal()((3,))
    with pytest.raises(bs.ShapeError, match="two axes or more have inputs"):
        nn.KaimingNormal()((3,))
    with pytest.raises(ValueError, match='fan is "in", "out" or "both"'):
        nn.KaimingNormal(fan="up")((3, 3))  # pyright: ignore[reportArgumentType]


def test_a_layer_is_a_function_of_its_key() -> None:
    one, two = nn.Linear(3, 4, key=bs.random.key(1)), nn.Linear(3, 4, key=bs.random.key(1))
    assert one.weight.tolist() == two.weight.tolist()
    assert np.abs(one.weight.numpy()).max() <= 1 / sqrt(3)
    assert one.bias is not None
    assert two.bias is not None
    assert one.bias.tolist() == two.bias.tolist()
    assert one.bias.tolist() != nn.Linear(3, 4, key=bs.random.key(2)).bias.tolist()  # pyright: ignore[reportOptionalMemberAccess]
