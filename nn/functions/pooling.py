"""Pooling as layers ask for it: windows that reach over the end, and largest elements of windows of
about one size.

Comes in: images [N, C, space…]. Goes out: images of the same channels, with one number a window.
Never: a mean over what lies beyond the padding.
"""

from __future__ import annotations

from math import prod as product
from typing import Any

import numpy as np

from ...frontend.errors import ShapeError, fail
from ...frontend.functions import pooling
from ...frontend.functions.indexing import take
from ...frontend.functions.padding import pad
from ...frontend.functions.space import each_axis
from ...frontend.tensor import Tensor
from .common import as_images, known_size, widened
from .steps import Pairs, Steps


def max_pool(
    x: Any, /, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, *,
    ceil_mode: bool = False,
) -> Tensor:  # fmt: skip
    """The largest element of each window; in `ceil_mode` a last one may reach over the end."""
    steps = _steps("max_pool", x, kernel_size, stride, padding, dilation)
    around = _to_the_end(steps, x) if ceil_mode else steps.around
    apart = steps.dilation
    return pooling.max_pool(x, steps.window, stride=steps.stride, padding=around, dilation=apart)


def mean_pool(
    x: Any, /, kernel_size: Any, stride: Any = None, padding: Any = 0, *, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: float | None = None,
) -> Tensor:  # fmt: skip
    """The mean of each window; in `ceil_mode` a last one may reach over the end.

    Zeros that `padding` adds count as elements, unless `count_include_pad` is false; what is beyond
    them never does. If there is a `divisor_override`, sums are divided by it instead.
    """
    steps = _steps("mean_pool", x, kernel_size, stride, padding, 1)
    around = _to_the_end(steps, x) if ceil_mode else steps.around
    if divisor_override is not None:
        wide, dtype = widened("mean_pool", x)
        made = pooling.mean_pool(wide, steps.window, stride=steps.stride, padding=around)
        return (made * (product(steps.window) / divisor_override)).astype(dtype)
    if count_include_pad and around != steps.around:
        x = pad(x, ((0, 0), (0, 0), *steps.around))
        pairs = zip(around, steps.around, strict=True)
        around = tuple([(0, behind - own) for (_, behind), (_, own) in pairs])
        count_include_pad = False
    return pooling.mean_pool(
        x, steps.window, stride=steps.stride, padding=around, count_padding=count_include_pad
    )


def adaptive_max_pool(x: Any, /, output_size: Any) -> Tensor:
    """The largest elements of the windows of which `bs.adaptive_mean_pool` takes means.

    Windows that are shorter than others see their last element again.
    """
    name, made = "adaptive_max_pool", as_images("adaptive_max_pool", x, space=1)
    window: list[int] = []
    for axis, count in enumerate(each_axis(name, "output_size", output_size, made.ndim - 2), 2):
        length = known_size(name, made, axis)
        if length == 0:
            fail(ShapeError, name, f"axis {axis} has no elements", x)
        first = np.arange(count) * length // count
        end = (np.arange(1, count + 1) * length + count - 1) // count
        window.append(int(np.max(end - first)))
        if length != count * window[-1]:
            places = first[:, None] + np.arange(window[-1])
            made = take(made, np.minimum(places, end[:, None] - 1).ravel(), axis)
    return pooling.max_pool(made, window)


def _steps(name: str, x: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any) -> Steps:
    """How windows move over x; by their size unless a stride is stated."""
    count = as_images(name, x, space=1).ndim - 2
    by = kernel_size if stride is None else stride
    return Steps(name, count, kernel_size, by, padding, dilation)


def _to_the_end(steps: Steps, x: Any) -> Pairs:
    """The padding, with as much behind as a last window needs that begins before the end."""
    sizes = steps.sizes(as_images(steps.name, x))
    axes = zip(sizes, steps.spans, steps.stride, steps.around, strict=True)
    return tuple([(own[0], _behind(size, span, by, own)) for size, span, by, own in axes])


def _behind(size: int, span: int, step: int, padding: tuple[int, int]) -> int:
    """What is put behind an axis of so many elements."""
    before, behind = padding
    last = -(-(before + size + behind - span) // step) * step
    if last >= before + size:
        last -= step
    return max(last + span - before - size, behind)
