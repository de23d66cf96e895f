"""PSNR and SSIM, against the formulas written out in numpy."""

from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.train import metrics

RANDOM = np.random.default_rng(4)
X = RANDOM.uniform(0, 1, (2, 2, 16, 13))
Y = np.clip(X + RANDOM.normal(0, 0.1, X.shape), 0, 1)
Array = np.ndarray[Any, np.dtype[Any]]


def gauss(window: int, sigma: float) -> Array:
    line = np.exp(-((np.arange(window) - (window - 1) / 2) ** 2) / (2 * sigma**2))
    square = np.outer(line, line)
    return square / square.sum()


def similarity(x: Array, y: Array, weights: Array, data_range: float = 1.0) -> tuple[float, float]:
    """The mean over windows of SSIM, and of its second factor alone."""
    size, found = len(weights), []
    small, little = (0.01 * data_range) ** 2, (0.03 * data_range) ** 2
    for top in range(x.shape[0] - size + 1):
        for left in range(x.shape[1] - size + 1):
            a, b = (each[top : top + size, left : left + size] for each in (x, y))
            m, n = (weights * a).sum(), (weights * b).sum()
            spread = (weights * (a - m) ** 2).sum() + (weights * (b - n) ** 2).sum()
            both = (weights * (a - m) * (b - n)).sum()
            second = (2 * both + little) / (spread + little)
            found.append(((2 * m * n + small) / (m * m + n * n + small) * second, second))
    means = np.mean(found, axis=0)
    return means[0], means[1]


def test_psnr_is_in_decibels() -> None:
    errors = ((X - Y) ** 2).mean(axis=(1, 2, 3))
    expected = 10 * np.log10(4 / errors)
    np.testing.assert_allclose(metrics.psnr(X, Y, data_range=2.0).numpy(), expected, rtol=1e-12)
    metric = metrics.PSNR(data_range=2.0)
    metric.update(bs.asarray(X), bs.asarray(Y))
    assert metric.value() == pytest.approx(expected.mean())
    assert float(metrics.psnr(X, X)[0]) == np.inf


def test_ssim_is_the_mean_over_windows() -> None:
    weights = gauss(11, 1.5)
    expected = [
        np.mean([similarity(x, y, weights)[0] for x, y in zip(*pair, strict=True)])
        for pair in zip(X, Y, strict=True)
    ]
    np.testing.assert_allclose(metrics.ssim(X, Y).numpy(), expected, rtol=1e-9)
    metric = metrics.SSIM()
    metric.update(X[:1], Y[:1])
    other = metrics.SSIM()
    other.update(X[1:], Y[1:])
    metric.merge(other)
    assert metric.value() == pytest.approx(np.mean(expected))
    np.testing.assert_allclose(metrics.ssim(X, X).numpy(), 1, rtol=1e-9)


def test_ms_ssim_goes_through_the_scales() -> None:
    weights, scales = gauss(5, 1.0), (0.3, 0.7)
    expected = []
    for x, y in zip(X, Y, strict=True):
        halves = [each[:, :16, :12].reshape(2, 8, 2, 6, 2).mean(axis=(2, 4)) for each in (x, y)]
        each = [
            max(similarity(x[at], y[at], weights)[1], 0) ** 0.3
            * max(similarity(halves[0][at], halves[1][at], weights)[0], 0) ** 0.7
            for at in range(2)
        ]  # fmt: skip
        expected.append(np.mean(each))
    metric = metrics.MSSSIM(window=5, sigma=1.0, scales=scales)
    metric.update(X, Y)
    assert metric.value() == pytest.approx(np.mean(expected), rel=1e-9)


def test_ssim_is_differentiable() -> None:
    slope = bs.grad(lambda x: -metrics.ssim(x, Y, window=5).mean())(bs.asarray(X))
    step = 1e-6
    moved = X.copy()
    moved[1, 0, 3, 4] += step
    change = (metrics.ssim(X, Y, window=5) - metrics.ssim(moved, Y, window=5)).mean()
    assert float(slope[1, 0, 3, 4]) == pytest.approx(float(change) / step, rel=1e-3)


def test_images_that_do_not_fit_are_refused() -> None:
    with pytest.raises(bs.ShapeError, match="two stacks of images"):
        metrics.psnr(X, Y[:1])
    with pytest.raises(bs.ShapeError, match="smaller than the window"):
        metrics.ssim(X[..., :5], Y[..., :5])
    with pytest.raises(bs.ShapeError, match="fewer `scales`"):
        metrics.ms_ssim(X, Y)
    with pytest.raises(bs.ArgumentError, match="data_range"):
        metrics.PSNR(data_range=0)
