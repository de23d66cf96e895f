"""Activations: their formulas, values far out, bends, narrow floats, randomness, mistakes."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import nn
from kit.mistakes import Mistake, check

Array = np.ndarray[Any, np.dtype[Any]]
POINTS = np.array([-700.0, -7.0, -2.5, -0.4, 0.3, 0.9, 4.0, 700.0])
ENDS = np.array([-np.inf, np.inf, np.nan])
INF = np.inf


def sigmoid(x: Array) -> Array:
    return np.exp(-np.logaddexp(0, -x))


def shrunk(x: Array, bias: float) -> Array:
    return np.where(np.abs(x) > 0.5, x - bias * np.sign(x), 0)


def exponential(x: Array, alpha: float = 1.0) -> Array:
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def shares(x: Array) -> Array:
    return np.exp(x - x.max()) / np.exp(x - x.max()).sum()


def gaussian(x: Array) -> Array:
    return 0.5 * x * np.array([1 + math.erf(each / math.sqrt(2)) for each in x])


SCALE, ALPHA = 1.0507009873554804934, 1.6732632423543772848

# A module, its formula, and what becomes of -inf and inf.
FORMULAS: dict[str, tuple[nn.Module, Callable[[Array], Array], tuple[float, float]]] = {
    "ReLU": (nn.ReLU(), lambda x: np.maximum(x, 0), (0, INF)),
    "LeakyReLU": (nn.LeakyReLU(0.2), lambda x: np.where(x > 0, x, 0.2 * x), (-INF, INF)),
    "PReLU": (nn.PReLU(dtype=bs.float64), lambda x: np.where(x > 0, x, 0.25 * x), (-INF, INF)),
    "RReLU": (nn.RReLU(0.1, 0.3), lambda x: np.where(x > 0, x, 0.2 * x), (-INF, INF)),
    "ELU": (nn.ELU(0.5), lambda x: exponential(x, 0.5), (-0.5, INF)),
    "CELU": (nn.CELU(2.0), lambda x: 2 * exponential(x / 2), (-2, INF)),
    "SELU": (nn.SELU(), lambda x: SCALE * exponential(x, ALPHA), (-SCALE * ALPHA, INF)),
    "Threshold": (nn.Threshold(0.4, 7.0), lambda x: np.where(x > 0.4, x, 7), (7, INF)),
    "ThresholdedReLU": (nn.ThresholdedReLU(), lambda x: np.where(x > 1, x, 0), (0, INF)),
    "Hardtanh": (nn.Hardtanh(-1, 2.0), lambda x: np.clip(x, -1, 2), (-1, 2)),
    "ReLU6": (nn.ReLU6(), lambda x: np.clip(x, 0, 6), (0, 6)),
    "Hardsigmoid": (nn.Hardsigmoid(), lambda x: np.clip(x / 6 + 0.5, 0, 1), (0, 1)),
    "Hardswish": (nn.Hardswish(), lambda x: x * np.clip(x / 6 + 0.5, 0, 1), (0, INF)),
    "Shrink": (nn.Shrink(0.5, 0.2), lambda x: shrunk(x, 0.2), (-INF, INF)),
    "Hardshrink": (nn.Hardshrink(), lambda x: shrunk(x, 0), (-INF, INF)),
    "Softshrink": (nn.Softshrink(), lambda x: shrunk(x, 0.5), (-INF, INF)),
    "Tanhshrink": (nn.Tanhshrink(), lambda x: x - np.tanh(x), (-INF, INF)),
    "Sigmoid": (nn.Sigmoid(), sigmoid, (0, 1)),
    "LogSigmoid": (nn.LogSigmoid(), lambda x: -np.logaddexp(0, -x), (-INF, 0)),
    "Tanh": (nn.Tanh(), np.tanh, (-1, 1)),
    "Softplus": (nn.Softplus(0.5), lambda x: 2 * np.logaddexp(0, x / 2), (0, INF)),
    "Softsign": (nn.Softsign(), lambda x: x / (1 + np.abs(x)), (-1, 1)),
    "SiLU": (nn.SiLU(), lambda x: x * sigmoid(x), (np.nan, INF)),
    "GELU": (nn.GELU(), gaussian, (np.nan, INF)),
    "Mish": (nn.Mish(), lambda x: x * np.tanh(np.logaddexp(0, x)), (0, INF)),
}


def total(module: nn.Module) -> Callable[[Any], Any]:
    return lambda x: module(x).sum()


@pytest.mark.parametrize("name", FORMULAS)
def test_formulas(name: str) -> None:
    module, formula, ends = FORMULAS[name]
    found = module(bs.asarray(POINTS)).numpy()
    np.testing.assert_allclose(found, formula(POINTS), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(module(bs.asarray(ENDS)).numpy(), [*ends, np.nan], rtol=1e-12)


@pytest.mark.parametrize("name", FORMULAS)
def test_gradients_are_slopes(name: str) -> None:
    module, formula, _ = FORMULAS[name]
    found = bs.grad(total(module))(bs.asarray(POINTS)).numpy()
    step = 1e-5 * np.maximum(np.abs(POINTS), 1)
    slopes = (formula(POINTS + step) - formula(POINTS - step)) / (2 * step)
    np.testing.assert_allclose(found, slopes, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_floats_keep_their_dtype_and_stay_finite(name: str, dtype: str) -> None:
    module, formula, _ = FORMULAS[name]
    module = module.map(lambda weight: weight.astype(dtype))
    found = module(bs.asarray(POINTS).astype(dtype))
    assert found.dtype == dtype
    np.testing.assert_allclose(
        found.astype(bs.float64).numpy(), formula(POINTS), rtol=0.02, atol=0.02
    )


BENDS = {
    "ReLU": (nn.ReLU(), [0.0], [0.0]),
    "LeakyReLU": (nn.LeakyReLU(0.2), [0.0], [0.2]),
    "PReLU": (nn.PReLU(), [0.0, INF], [0.25, 1]),
    "RReLU": (nn.RReLU(0.1, 0.3), [0.0], [0.2]),
    "CELU": (nn.CELU(2.0), [0.0, INF, -INF], [1, 1, 0]),
    "SELU": (nn.SELU(), [0.0, INF, -INF], [SCALE * ALPHA, SCALE, 0]),
    "Threshold": (nn.Threshold(0.5, 7.0), [0.5], [0]),
    "Hardtanh": (nn.Hardtanh(), [-1.0, 1.0, INF], [0, 0, 0]),
    "ReLU6": (nn.ReLU6(), [0.0, 6.0], [0, 0]),
    "Hardsigmoid": (nn.Hardsigmoid(), [-3.0, 3.0], [0, 0]),
    "Hardswish": (nn.Hardswish(), [-3.0, 3.0, 0.0, INF, -INF], [0, 1, 0.5, 1, 0]),
    "Hardshrink": (nn.Hardshrink(), [-0.5, 0.5, INF], [0, 0, 1]),
    "Softshrink": (nn.Softshrink(), [-0.5, 0.5, 0.0], [0, 0, 0]),
    "Softsign": (nn.Softsign(), [0.0, INF, -INF], [1, 0, 0]),
    "Mish": (nn.Mish(), [0.0, -INF, -1e30], [0.6, 0, 0]),
}


@pytest.mark.parametrize("name", BENDS)
def test_derivatives_at_bends(name: str) -> None:
    module, points, expected = BENDS[name]
    found = bs.grad(total(module))(bs.asarray(points, dtype=bs.float64)).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_what_makes_shares() -> None:
    x = bs.asarray(POINTS[1:7])
    np.testing.assert_allclose(nn.Softmax()(x).numpy(), shares(POINTS[1:7]), rtol=1e-12)
    np.testing.assert_allclose(nn.Softmin()(x).numpy(), shares(-POINTS[1:7]), rtol=1e-12)
    logs = nn.LogSoftmax()(x.reshape(2, 3)).numpy()
    np.testing.assert_allclose(np.exp(logs).sum(axis=1), [1, 1], rtol=1e-12)
    np.testing.assert_allclose(nn.Softmax(dim=0)(x.reshape(2, 3)).sum(axis=0).numpy(), [1] * 3)


def test_gelu_by_tanh_is_an_estimate() -> None:
    x = bs.linspace(-4, 4, 9)
    estimate, exact = nn.GELU(approximate="tanh")(x).numpy(), nn.GELU()(x).numpy()
    assert 0 < np.abs(estimate - exact).max() < 5e-4


def test_weights_of_prelu_are_learned_by_channel() -> None:
    model = nn.PReLU(3, 0.5)
    x = bs.asarray(np.arange(-6.0, 6.0, dtype=np.float32).reshape(2, 3, 2))
    expected = np.where(x.numpy() > 0, x.numpy(), 0.5 * x.numpy())
    np.testing.assert_allclose(model(x).numpy(), expected)
    found = bs.grad(lambda model: model(x).sum())(model).weight.numpy()
    np.testing.assert_allclose(found, np.minimum(x.numpy(), 0).sum(axis=(0, 2)))


def test_an_infinity_gives_the_weight_of_prelu_no_gradient() -> None:
    x = bs.asarray([np.inf, -2.0])
    assert bs.grad(lambda model: model(x).sum())(nn.PReLU()).weight.tolist() == [-2]


def test_slopes_of_rrelu_are_drawn_in_training() -> None:
    x, model = -bs.ones((4, 8)), nn.RReLU(0.2, 0.4)
    with nn.training(7):
        first, second = model(x).numpy(), model(x).numpy()
    with nn.training(7):
        again = model(x).numpy()
    assert (first == again).all() and (first != second).any()
    assert len(np.unique(first)) > 16
    assert first.min() >= -0.4 and first.max() <= -0.2
    np.testing.assert_allclose(model(x).numpy(), np.full((4, 8), -0.3), rtol=1e-6)
    with nn.training(7):
        assert nn.rrelu(bs.ones(3)).tolist() == [1, 1, 1]


def test_gates() -> None:
    x = np.arange(8.0).reshape(2, 4)
    found = nn.GLU()(bs.asarray(x)).numpy()
    np.testing.assert_allclose(found, x[:, :2] * sigmoid(x[:, 2:]), rtol=1e-12)
    along_rows = nn.glu(bs.asarray(x), axis=0).numpy()
    np.testing.assert_allclose(along_rows, x[:1] * sigmoid(x[1:]), rtol=1e-12)
    assert nn.glu(bs.zeros((3, 0))).shape == (3, 0)


def test_swiglu_has_two_layers() -> None:
    model = nn.SwiGLU(4, 3, key=bs.random.key(1), dtype=bs.float64)
    x = np.linspace(-1, 1, 8).reshape(2, 4)
    inner, outer = (each.weight.numpy() for each in (model.linear_inner, model.linear_outer))
    assert not np.allclose(inner, outer)
    gate = x @ inner.T
    expected = gate * sigmoid(gate) * (x @ outer.T)
    np.testing.assert_allclose(model(bs.asarray(x)).numpy(), expected, rtol=1e-12)
    assert nn.SwiGLU(4, 3, bias=True).linear_outer.bias is not None


def test_nothing_stays_nothing() -> None:
    for module, _, _ in FORMULAS.values():
        assert module(bs.zeros((0, 3))).shape == (0, 3)


SPELLING: Any = "tahn"
MISTAKES = [
    Mistake(lambda: nn.glu(bs.ones((2, 3))), bs.ShapeError, "an axis of size 3 has no halves"),
    Mistake(lambda: nn.glu(bs.asarray(1.0)), bs.AxisError, "rank 0 has no axis"),
    Mistake(lambda: nn.PReLU(2)(bs.ones((2, 3))), bs.ShapeError, "one for each channel"),
    Mistake(lambda: nn.prelu(bs.ones(2), bs.ones(2)), bs.ShapeError, "axis 1"),
    Mistake(lambda: nn.hardtanh(bs.ones(2), 1.0, -1.0), bs.ArgumentError, "max_val is more than"),
    Mistake(lambda: nn.softshrink(bs.ones(2), -1.0), bs.ArgumentError, "lambd is 0 or more"),
    Mistake(lambda: nn.rrelu(bs.ones(2), 0.5, 0.1), bs.ArgumentError, "upper is 0.5 or more"),
    Mistake(lambda: nn.CELU(0.0)(bs.ones(2)), bs.ArgumentError, "alpha is more than 0"),
    Mistake(lambda: nn.Softplus(0.0)(bs.ones(2)), bs.ArgumentError, "beta is more than 0"),
    Mistake(lambda: nn.GELU(approximate=SPELLING)(bs.ones(2)), bs.ArgumentError, "'none', 'tanh'"),
    Mistake(lambda: nn.Softmax(3)(bs.ones(2)), bs.AxisError, "-1..0"),
]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_explained(mistake: Mistake) -> None:
    check(mistake)
