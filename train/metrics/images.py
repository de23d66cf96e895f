"""How alike images are: PSNR, SSIM, MS-SSIM, as functions of tensors and as metrics.

Comes in: images [N, C, H, W] whose values lie in a range of a known size. Goes out: one value for
each image; metrics give the mean over images. The functions are differentiable: losses, too.
Never: a window that reaches beyond an image.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10 as log
from typing import Any

import numpy as np

from ... import Tensor, asarray, concat, convolve, float32, log10, maximum, mean_pool, result_type
from ...frontend.errors import ShapeError, fail
from ..checks import expect_positive, expect_whole
from .metric import Array, Totals, ratio

SCALES = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)
"""How much each scale counts in MS-SSIM, the finest first (Wang, Simoncelli and Bovik, 2003)."""


def psnr(outputs: Any, targets: Any, data_range: float = 1.0) -> Tensor:
    """The peak of the signal over the noise, in decibels, of each image; infinite without noise."""
    x, y = _images("psnr", outputs, targets)
    error = ((x - y) ** 2).mean(axis=(1, 2, 3))
    return 10.0 * (2.0 * log(data_range) - log10(error))


def ssim(
    outputs: Any, targets: Any, data_range: float = 1.0, window: int = 11, sigma: float = 1.5
) -> Tensor:
    """How alike the means, spreads and patterns of images are, in windows of Gaussian weights
    (Wang et al., 2004); of each image the mean."""
    x, y = _images("ssim", outputs, targets)
    light, pattern = _similarities("ssim", x, y, data_range, _gauss(window, sigma))
    return (light * pattern).mean(axis=(1, 2, 3))


def ms_ssim(
    outputs: Any, targets: Any, data_range: float = 1.0, window: int = 11, sigma: float = 1.5,
    scales: Sequence[float] = SCALES,
) -> Tensor:  # fmt: skip
    """SSIM at several scales, each half as fine as the one before: the product of the patterns of
    all and of the means at the last, each to the power of its weight. Negative ones count as 0."""
    x, y = _images("ms_ssim", outputs, targets)
    weights, found = _gauss(window, sigma), []
    for place, share in enumerate(scales):
        if place:
            x, y = mean_pool(x, 2), mean_pool(y, 2)
        light, pattern = _similarities("ms_ssim", x, y, data_range, weights)
        whole = light * pattern if place == len(scales) - 1 else pattern
        found.append(maximum(whole.mean(axis=(2, 3)), 0.0) ** share)
    product = found[0]
    for each in found[1:]:
        product = product * each
    return product.mean(axis=1)


@dataclass
class PSNR(Totals):
    """The mean of `psnr` over images."""

    data_range: float = 1.0

    def __post_init__(self) -> None:
        expect_positive(self, data_range=self.data_range)
        super().__post_init__()

    def of(self, outputs: Any, targets: Any) -> Tensor:
        """The value of each image."""
        return psnr(outputs, targets, self.data_range)

    def count(self, outputs: Any, targets: Any) -> tuple[Any, Any]:
        """The sum over images, and how many there are."""
        each = self.of(outputs, targets).numpy().astype(np.float64)
        return each.sum(), each.size

    def result(self, totals: Array) -> Any:
        """The mean."""
        return ratio(*totals)


@dataclass
class SSIM(PSNR):
    """The mean of `ssim` over images."""

    window: int = 11
    sigma: float = 1.5

    def __post_init__(self) -> None:
        expect_whole(self, 1, window=self.window)
        expect_positive(self, sigma=self.sigma)
        super().__post_init__()

    def of(self, outputs: Any, targets: Any) -> Tensor:
        """The value of each image."""
        return ssim(outputs, targets, self.data_range, self.window, self.sigma)


@dataclass
class MSSSIM(SSIM):
    """The mean of `ms_ssim` over images."""

    scales: tuple[float, ...] = SCALES

    def of(self, outputs: Any, targets: Any) -> Tensor:
        """The value of each image."""
        settings = self.data_range, self.window, self.sigma, self.scales
        return ms_ssim(outputs, targets, *settings)


def _images(operation: str, outputs: Any, targets: Any) -> tuple[Tensor, Tensor]:
    """Two stacks of images, in float32 at least."""
    x, y = asarray(outputs), asarray(targets)
    if x.ndim != 4 or tuple(x.shape) != tuple(y.shape):
        fail(ShapeError, operation, "takes two stacks of images [N, C, H, W]", x, y)
    dtype = result_type(x.dtype, y.dtype, float32)
    return x.astype(dtype), y.astype(dtype)


def _gauss(window: int, sigma: float) -> Array:
    """The weights along one axis of a window."""
    apart = np.arange(window) - (window - 1) / 2
    weights = np.exp(-(apart**2) / (2 * sigma**2))
    return weights / weights.sum()


def _similarities(
    operation: str, x: Tensor, y: Tensor, data_range: float, weights: Array
) -> tuple[Tensor, Tensor]:
    """How alike the means are in each window, and how alike spreads and patterns."""
    if min(x.shape[2:]) < weights.size:
        problem = f"images are smaller than the window of {weights.size}"
        hint = "give a smaller `window`" + (", or fewer `scales`" if operation == "ms_ssim" else "")
        fail(ShapeError, operation, problem, x, hint=hint)
    small, little = (0.01 * data_range) ** 2, (0.03 * data_range) ** 2
    smooth = _smoothed(concat([x, y, x * x, y * y, x * y]), weights)
    count = x.shape[0]
    mean_x, mean_y, *rest = [smooth[at * count : (at + 1) * count] for at in range(5)]
    square_x, square_y, both = mean_x * mean_x, mean_y * mean_y, mean_x * mean_y
    spread = rest[0] - square_x + rest[1] - square_y
    light = (2.0 * both + small) / (square_x + square_y + small)
    return light, (2.0 * (rest[2] - both) + little) / (spread + little)


def _smoothed(x: Tensor, weights: Array) -> Tensor:
    """Weighted means of all windows inside the images, one axis after the other."""
    channels = x.shape[1]
    for shape in ((1, 1, weights.size, 1), (1, 1, 1, weights.size)):
        kernel = np.broadcast_to(weights.reshape(shape), (channels, *shape[1:]))
        kernel = asarray(np.ascontiguousarray(kernel), dtype=x.dtype, device=x.device)
        x = convolve(x, kernel, groups=channels)
    return x
