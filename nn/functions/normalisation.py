"""Norms: elements less their mean, over their deviation, so that layers see numbers of one size.

Comes in: tensors, with a scale and a shift for each channel or element, if wanted. Goes out:
tensors of the shape and the dtype of x. Means and variances are taken in at least float32, and
results rounded once.
Never: a mean of earlier batches that nobody gave.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod as product
from typing import Any, NamedTuple

from ...frontend.errors import ArgumentError, ShapeError, fail
from ...frontend.functions.creation import asarray
from ...frontend.functions.elementwise import rsqrt
from ...frontend.functions.pooling import mean_pool
from ...frontend.functions.types import finfo
from ...frontend.tensor import Tensor
from ...frontend.unseen import looked_at
from .common import along_channels, as_images, check_channels, check_last, sizes_of, widened


class Statistics(NamedTuple):
    """What a batch says of each channel; `unbiased` is the variance that running means take."""

    mean: Tensor
    variance: Tensor
    unbiased: Tensor


def layer_norm(
    x: Any, /, normalized_shape: Sequence[int], weight: Any = None, bias: Any = None,
    eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Normalised over the last axes, which have the sizes `normalized_shape`."""
    wide, dtype = widened("layer_norm", x)
    check_last("layer_norm", wide, normalized_shape)
    axes = tuple(range(-len(normalized_shape), 0))
    return _scaled(_normalised(wide, axes, eps), weight, bias).astype(dtype)


def rms_norm(
    x: Any, /, normalized_shape: Sequence[int], weight: Any = None, eps: float | None = None
) -> Tensor:
    """Over the root of the mean square of the last axes, which have the sizes `normalized_shape`.

    Unless `eps` is stated, it is the distance from 1 to the next number of the dtype of x.
    """
    wide, dtype = widened("rms_norm", x)
    check_last("rms_norm", wide, normalized_shape)
    axes = tuple(range(-len(normalized_shape), 0))
    square = (wide * wide).mean(axes, keepdims=True)
    added = float(finfo(dtype).eps) if eps is None else eps
    return _scaled(wide * rsqrt(square + added), weight, None).astype(dtype)


def group_norm(
    x: Any, /, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Tensor:
    """Images [N, C, space…] normalised over space and the channels of each of `num_groups`."""
    wide, dtype = widened("group_norm", x)
    count, channels, *space = sizes_of(as_images("group_norm", wide))
    known = looked_at(channels)
    if num_groups < 1 or (isinstance(known, int) and known % num_groups):
        problem = f"{known} channels do not split into {num_groups} groups"
        fail(ShapeError, "group_norm", problem, wide, hint="`num_groups` divides the channels")
    grouped = wide.reshape((count, num_groups, known // num_groups, *space))
    made = _normalised(grouped, tuple(range(2, grouped.ndim)), eps)
    return _scaled_channels(made.reshape((count, channels, *space)), weight, bias).astype(dtype)


def instance_norm(x: Any, /, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Tensor:
    """Images [N, C, space…] normalised over space, each channel of each image by itself."""
    wide, dtype = widened("instance_norm", x)
    axes = tuple(range(2, as_images("instance_norm", wide).ndim))
    _refuse_one("instance_norm", wide, axes)
    return _scaled_channels(_normalised(wide, axes, eps), weight, bias).astype(dtype)


def batch_norm(
    x: Any, /, mean: Any, variance: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Tensor:
    """Images [N, C, space…], or vectors [N, C], less a mean and over a deviation of each channel.

    These may be those of the batch, which `batch_statistics` finds, or running means.
    """
    wide, dtype = widened("batch_norm", x)
    if mean is None or variance is None:
        hint = "`batch_statistics(x)` finds those of a batch"
        fail(ArgumentError, "batch_norm", "takes a mean and a variance, not None", x, hint=hint)
    mean, variance = asarray(mean), asarray(variance)
    check_channels("batch_norm", wide, mean.shape[0])
    center, spread = along_channels(mean, wide.ndim), along_channels(variance, wide.ndim)
    made = (wide - center) * rsqrt(spread + eps)
    return _scaled_channels(made, weight, bias).astype(dtype)


def batch_statistics(x: Any, /) -> Statistics:
    """The mean and the variance of each channel of images [N, C, space…] or vectors [N, C]."""
    wide, _ = widened("batch_statistics", x)
    rank = as_images("batch_statistics", wide).ndim
    axes = (0, *range(2, rank))
    _refuse_one("batch_statistics", wide, axes)
    return Statistics(wide.mean(axes), wide.var(axes), wide.var(axes, correction=1))


def local_response_norm(
    x: Any, /, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """x / (k + alpha * m) ** beta for the mean m of the squares of `size` channels around each.

    Beyond the first and the last channel of images [N, C, space…] there are zeros.
    """
    wide, dtype = widened("local_response_norm", x)
    if size < 1:
        fail(ArgumentError, "local_response_norm", f"`size` is at least 1, not {size}", x)
    count, channels, *space = sizes_of(as_images("local_response_norm", wide))
    lines = (wide * wide).reshape((count, 1, channels, product(space)))
    around = ((size // 2, (size - 1) // 2), 0)
    means = mean_pool(lines, (size, 1), stride=1, padding=around)
    means = means.reshape((count, channels, *space))
    return (wide / (means * alpha + k) ** beta).astype(dtype)


def _normalised(wide: Tensor, axes: tuple[int, ...], eps: float) -> Tensor:
    """Less the mean along the axes, and over the deviation."""
    center, spread = wide.mean(axes, keepdims=True), wide.var(axes, keepdims=True)
    return (wide - center) * rsqrt(spread + eps)


def _scaled(x: Tensor, weight: Any, bias: Any) -> Tensor:
    """x times the weight, plus the bias, as far as there are any."""
    made = x if weight is None else x * weight
    return made if bias is None else made + bias


def _scaled_channels(x: Tensor, weight: Any, bias: Any) -> Tensor:
    """The same with a number for each channel."""
    each = [None if by is None else along_channels(by, x.ndim) for by in (weight, bias)]
    return _scaled(x, *each)


def _refuse_one(name: str, x: Tensor, axes: tuple[int, ...]) -> None:
    """Refuse to normalise a number by itself: nothing would be left. A size that is still open is
    more than 1."""
    if all([sizes_of(x)[axis] == 1 for axis in axes]):
        problem = "normalises over one element, of which the norm is 0"
        fail(ShapeError, name, problem, x, hint="train with more than one, or call for inference")
