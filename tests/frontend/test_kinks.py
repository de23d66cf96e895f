"""Derivatives where a function is made of pieces, or where its formula divides by zero."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import brimstone as bs

X, PLAIN = np.array([0.0, -0.0, 2.0]), np.array([3.0, 3.0, 3.0])
Function = Callable[[Any], Any]

# A function, arguments, and its slope at each; equals share, and what has no slope has 0.
FIRST: dict[str, tuple[Function, np.ndarray, list[float]]] = {
    "relu": (bs.relu, X, [0, 0, 1]),
    "leaky_relu": (lambda x: bs.leaky_relu(x, 0.5), X, [0.5, 0.5, 1]),
    "elu": (bs.elu, X, [1, 1, 1]),
    "elu of less": (lambda x: bs.elu(x, 0.3), X, [0.3, 0.3, 1]),
    "softplus": (bs.softplus, X[:2], [0.5, 0.5]),
    "log_sigmoid": (bs.log_sigmoid, X[:2], [0.5, 0.5]),
    "sigmoid": (bs.sigmoid, X[:2], [0.25, 0.25]),
    "sinc close to nothing": (
        bs.sinc, np.array([1e-9, -1e-200]), [np.pi**2 / -3e9, np.pi**2 / 3e200]
    ),
    "logaddexp of equals": (lambda x: bs.logaddexp(x, x[::-1]), PLAIN, [1, 1, 1]),
    "logaddexp of infinities": (
        lambda x: bs.logaddexp(x, -np.inf), np.array([0.0, -np.inf]), [1, 1]
    ),
    "a remainder of nothing": (lambda x: x % 2.0, np.array([0.0, -0.0, 4.0, 5.0]), [1, 1, 1, 1]),
    "a multiple of the divisor": (lambda x: bs.remainder(6.0, x), np.array([2.0, -3.0]), [-3, 2]),
    "an angle of nothing": (lambda x: bs.atan2(x, x * 0), np.zeros(2), [0, 0]),
    "an angle close to nothing": (
        lambda x: bs.atan2(x, 3e-200), np.array([4e-200]), [0.12 * 1e200]
    ),
    "an angle far away": (lambda x: bs.atan2(x, 3e200), np.array([4e200]), [0.12e-200]),
    "nothing of a logarithm": (lambda x: bs.xlogy(x, 0.5), X, [np.log(0.5)] * 3),
    "nothing of no logarithm": (lambda x: bs.xlogy(x, x * 0), X[:2], [0, 0]),
    "std of equals": (bs.std, PLAIN, [0, 0, 0]),
    "std of one": (lambda x: bs.std(x[None], axis=0), X, [0, 0, 0]),
    "a cubic length of 0": (lambda x: bs.linalg.vector_norm(x, ord=3), X * 0, [0, 0, 0]),
    "clip at its ends": (lambda x: bs.clip(x, 0, 2), X, [0.5, 0.5, 0.5]),
}  # fmt: skip

SECOND: dict[str, tuple[Function, np.ndarray, list[float]]] = {
    "softplus": (bs.softplus, X[:2], [0.25, 0.25]),
    "log_sigmoid": (bs.log_sigmoid, X[:2], [-0.25, -0.25]),
    "logaddexp": (lambda x: bs.logaddexp(x, 3.0), PLAIN, [0.25, 0.25, 0.25]),
    "sigmoid": (bs.sigmoid, X[:2], [0, 0]),
    "sinc": (bs.sinc, X[:2], [-(np.pi**2) / 3] * 2),
    "std of equals": (bs.std, PLAIN, [0, 0, 0]),
}


def slope(function: Function) -> Function:
    return bs.grad(lambda x: function(x).sum())


@pytest.mark.parametrize("name", FIRST)
def test_slopes(name: str) -> None:
    function, x, expected = FIRST[name]
    np.testing.assert_allclose(slope(function)(bs.asarray(x)).numpy(), expected, rtol=1e-14)
    compiled = bs.jit(slope(function))(bs.asarray(x)).numpy()
    np.testing.assert_allclose(compiled, expected, rtol=1e-14)


@pytest.mark.parametrize("name", SECOND)
def test_curvatures(name: str) -> None:
    function, x, expected = SECOND[name]
    found = slope(slope(function))(bs.asarray(x)).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-14)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
def test_remainders_of_nothing_have_the_sign_of_the_divisor(dtype: str) -> None:
    x = bs.asarray([0.0, -0.0, 4.0, -4.0], dtype=dtype)
    for divisor in (2.0, -2.0):
        for found in (x % divisor, bs.jit(lambda x, by=divisor: x % by)(x)):
            assert (found == 0).all()
            assert (bs.signbit(found) == (divisor < 0)).all()


def test_sums_of_powers_that_are_infinite() -> None:
    x, y = np.array([[np.inf, -np.inf, np.inf, 0, np.nan], [np.inf, -np.inf, -np.inf, -np.inf, 1]])
    expected = [np.inf, -np.inf, np.inf, 0, np.nan]
    for left, right in ((x, y), (y, x)):
        np.testing.assert_array_equal(bs.logaddexp(left, right).numpy(), expected)
