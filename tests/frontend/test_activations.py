"""Activations: values far out, narrow floats, axes, gradients by differences."""

from typing import Any

import numpy as np
import pytest

import brimstone as bs
from kit.mistakes import Mistake, check

NAMES = (
    "relu", "sigmoid", "log_sigmoid", "softplus", "silu", "gelu", "elu", "leaky_relu", "softmax",
    "log_softmax",
)  # fmt: skip
POINTS = np.array([-50.0, -3.0, -0.5, 0.25, 2.0, 60.0])


@pytest.mark.parametrize("name", NAMES)
def test_gradients_are_slopes(name: str) -> None:
    function = getattr(bs, name)
    weights = bs.asarray(np.array([1.0, -2.0, 0.5, 3.0, -1.0, 2.0]))

    def total(x: Any) -> Any:
        return (function(x) * weights).sum()

    found = bs.grad(total)(bs.asarray(POINTS)).numpy()
    for at in range(len(POINTS)):
        step = np.where(np.arange(len(POINTS)) == at, 1e-6, 0)
        ends = [total(bs.asarray(POINTS + sign * step)).item() for sign in (1, -1)]
        np.testing.assert_allclose(found[at], (ends[0] - ends[1]) / 2e-6, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_large_numbers_stay_finite_in_every_float(name: str, dtype: str) -> None:
    wide = getattr(bs, name)(bs.asarray(POINTS)).numpy()
    narrow = getattr(bs, name)(bs.asarray(POINTS).astype(dtype))
    assert narrow.dtype == dtype
    found = narrow.astype(bs.float64).numpy()
    np.testing.assert_allclose(found, wide, rtol=0.02, atol=0.02)
    compiled = bs.jit(getattr(bs, name))(bs.asarray(POINTS))
    np.testing.assert_allclose(compiled.numpy(), wide, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_narrow_floats_are_rounded_once(name: str, dtype: str) -> None:
    x = bs.linspace(-9, 9, 333).astype(dtype)
    expected = getattr(bs, name)(x.astype("float32")).astype(dtype)
    assert bs.all(getattr(bs, name)(x) == expected).item()


@pytest.mark.parametrize("device", ["cpu", "reference"])
def test_a_sigmoid_and_its_slope_are_accurate_where_they_are_small(device: str) -> None:
    x = np.array([-np.inf, -85.0, -40.0, -17.0, -1.0, -0.0, 0.0, 1.0, 17.0, 40.0, np.inf])
    power = np.exp(-np.abs(x))
    expected = np.where(x < 0, power, 1) / (1 + power)
    with bs.device(device):
        given = bs.asarray(x.astype(np.float32))
        slopes = bs.grad(lambda x: bs.sigmoid(x).sum())
        np.testing.assert_allclose(bs.sigmoid(given).numpy(), expected, rtol=1e-6)
        np.testing.assert_allclose(slopes(given).numpy(), power / (1 + power) ** 2, rtol=1e-6)
        assert bs.grad(lambda x: -bs.log(bs.sigmoid(x)))(bs.asarray(-40.0)).item() == -1
        bends = bs.grad(lambda x: slopes(x).sum())(given[1:-1]).numpy()
        slope = (power / (1 + power) ** 2)[1:-1]
        np.testing.assert_allclose(bends, slope * (1 - 2 * expected[1:-1]), rtol=2e-6, atol=1e-7)
        assert np.isnan(bs.sigmoid(bs.asarray(np.nan)).item())


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("activation", [bs.softmax, bs.log_softmax])
def test_softmax_of_a_row_with_an_infinity_is_nan(activation: Any, axis: int) -> None:
    """Nowhere is one of its elements 0, which would be a certainty."""
    rows = np.array([[0, 1, np.inf], [np.inf] * 3, [np.inf, 0, -np.inf], [0, np.nan, 1]])
    given = bs.asarray(rows if axis == 1 else rows.T)
    assert np.isnan(activation(given, axis=axis).numpy()).all()
    assert np.isnan(bs.grad(lambda x: activation(x, axis=axis)[0, 0])(given)[0, 0].item())


def test_softmax_along_axes() -> None:
    x = bs.asarray([[1.0, 2.0], [-np.inf, -np.inf]])
    np.testing.assert_allclose(x.softmax(dim=0).sum(axis=0).numpy(), 1, rtol=1e-6)
    np.testing.assert_allclose(bs.softmax(x[:1], axis=(0, 1)).sum().item(), 1, rtol=1e-6)
    assert np.isnan(bs.softmax(x).numpy()[1]).all()
    assert bs.softmax(bs.asarray(1.0)).item() == 1
    assert bs.softmax(bs.zeros((0, 3))).shape == (0, 3)
    assert np.isnan(bs.relu(bs.asarray(np.nan)).item())


MISTAKES = [
    Mistake(lambda: bs.softmax(bs.ones(2), axis=5), bs.AxisError, "-1..0"),
    Mistake(lambda: bs.softmax(bs.ones(2), axis=0, dim=0), bs.ArgumentError, "not both"),
    Mistake(lambda: bs.softmax(bs.asarray([1j])), bs.DTypeError, "does not take complex64"),
    Mistake(lambda: bs.relu(bs.asarray([True])), bs.DTypeError, "does not take bool"),
]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_explained(mistake: Mistake) -> None:
    check(mistake)
