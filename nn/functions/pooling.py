"""Pooling as layers ask for it: windows that reach over the end, and largest elements of windows of
about one size.

Comes in: images [N, C, space…]. Goes out: images of the same channels, with one number a window.
Never: a mean over what lies beyond the padding.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod as product

import numpy as np

from ...frontend.errors import ShapeError, fail
from ...frontend.functions import pooling
from ...frontend.functions.indexing import take
from ...frontend.functions.padding import pad
from ...frontend.tensor import Tensor
from ...ir.tensor.windows import spread
from .common import known_size, widened

Numbers = Sequence[int]
Pairs = tuple[tuple[int, int], ...]


def max_pool(
    x: Tensor, window: Numbers, stride: Numbers, padding: Numbers, dilation: Numbers,
    ceil_mode: bool = False,
) -> Tensor:  # fmt: skip
    """The largest element of each window; in `ceil_mode` a last one may reach over the end."""
    spans = [spread(*each) for each in zip(window, dilation, strict=True)]
    ends = _ends(x, spans, stride, padding) if ceil_mode else _pairs(padding)
    return pooling.max_pool(x, window, stride=stride, padding=ends, dilation=dilation)


def mean_pool(
    x: Tensor, window: Numbers, stride: Numbers, padding: Numbers, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor: int | None = None,
) -> Tensor:  # fmt: skip
    """The mean of each window; in `ceil_mode` a last one may reach over the end.

    Zeros that `padding` adds count as elements, unless `count_include_pad` is false; what is beyond
    them never does. If a `divisor` is given, sums are divided by it instead.
    """
    ends = _ends(x, window, stride, padding) if ceil_mode else _pairs(padding)
    if divisor is not None:
        wide, dtype = widened("mean_pool", x)
        made = pooling.mean_pool(wide, window, stride=stride, padding=ends)
        return (made * (product(window) / divisor)).astype(dtype)
    if count_include_pad and ends != _pairs(padding):
        x = pad(x, ((0, 0), (0, 0), *_pairs(padding)))
        ends = tuple([(0, high - own) for (_, high), own in zip(ends, padding, strict=True)])
        count_include_pad = False
    counted = count_include_pad
    return pooling.mean_pool(x, window, stride=stride, padding=ends, count_padding=counted)


def adaptive_max_pool(x: Tensor, size: Numbers) -> Tensor:
    """The largest elements of the windows of which `adaptive_mean_pool` takes means.

    Windows that are shorter than others see their last element again.
    """
    window: list[int] = []
    for axis, count in enumerate(size, 2):
        length = known_size("adaptive_max_pool", x, axis)
        if length == 0:
            fail(ShapeError, "adaptive_max_pool", f"axis {axis} has no elements", x)
        first = np.arange(count) * length // count
        end = (np.arange(1, count + 1) * length + count - 1) // count
        window.append(int(np.max(end - first)))
        if length != count * window[-1]:
            places = first[:, None] + np.arange(window[-1])
            x = take(x, np.minimum(places, end[:, None] - 1).ravel(), axis)
    return pooling.max_pool(x, window)


def _pairs(padding: Numbers) -> Pairs:
    """What is put before and behind each axis."""
    return tuple([(each, each) for each in padding])


def _ends(x: Tensor, spans: Numbers, stride: Numbers, padding: Numbers) -> Pairs:
    """The same, with as much behind as a last window needs that begins before the end."""
    sizes = [known_size("pooling in ceil_mode", x, axis) for axis in range(2, x.ndim)]
    axes = zip(sizes, spans, stride, padding, strict=True)
    return tuple([(own, _behind(size, span, step, own)) for size, span, step, own in axes])


def _behind(size: int, span: int, step: int, padding: int) -> int:
    """What is put behind an axis of so many elements."""
    last = -(-(size + 2 * padding - span) // step) * step
    if last >= size + padding:
        last -= step
    return max(last + span - size - padding, padding)
