"""Convolutions whose windows are bent: each element of each window is read at a place of its own.

Comes in: images, how far from its place each element is read, weights. Goes out: images.
Never: what is outside an image read as anything but 0.
"""

from __future__ import annotations

from math import prod as product
from typing import Any, NamedTuple

import numpy as np

from ...frontend.errors import ShapeError, fail
from ...frontend.functions.creation import asarray
from ...frontend.functions.grid import bilinear
from ...frontend.functions.space import Numbers, each_axis, pairs, refuse_no_place
from ...frontend.tensor import Tensor
from ...frontend.unseen import looked_at
from ...ir.tensor.windows import spread
from .common import along_channels, check_space, known_size, sizes_of, widened

NAME = "deform_conv2d"


def deform_conv2d(  # noqa: PLR0913 (each is a choice of the user's)
    x: Any, offset: Any, weight: Any, /, bias: Any = None, mask: Any = None, *, stride: Any = 1,
    padding: Any = 0, dilation: Any = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    """A convolution of images [N, C, H, W] by a weight [O, C / groups, h, w] over bent windows.

    `offset`, [N, G * h * w * 2, rows, columns], says of each element of each window of the result
    how far down and how far to the right of its place it is read, between elements of x if need be.
    Each of G groups of channels has offsets of its own. `mask`, [N, G * h * w, rows, columns], is
    what elements are multiplied by.
    """
    check_space(NAME, x, 2)
    wide, dtype = widened(NAME, x)
    moved, _ = widened(NAME, offset)
    steps = _steps(wide, tuple(weight.shape[2:]), stride, padding, dilation)
    apart = _groups(wide, moved, weight, steps, groups)
    count, channels, *space = sizes_of(wide)
    each = (count * apart, steps.elements)
    places = moved.reshape((*each, 2, steps.count)) + asarray(steps.places, dtype=moved.dtype)
    images = wide.reshape((count * apart, channels // apart, *space))
    read = bilinear(images, places[:, :, 1], places[:, :, 0])
    if mask is not None:
        read = read * _factors(mask, moved, steps).reshape((each[0], 1, each[1], steps.count))
    outputs = weight.shape[0]
    columns = read.reshape((count, groups, channels // groups * steps.elements, steps.count))
    made = weight.reshape((groups, outputs // groups, -1)) @ columns
    made = made.reshape((count, outputs, *steps.result))
    return (made if bias is None else made + along_channels(bias, 4)).astype(dtype)


class _Steps(NamedTuple):
    """How many elements a window has; the rows and columns of the result; and where each element of
    each window is read if nothing is bent, [elements, 2, windows]."""

    elements: int
    result: tuple[int, int]
    places: np.ndarray[Any, Any]

    @property
    def count(self) -> int:
        """How many windows there are."""
        return product(self.result)


def _steps(x: Tensor, window: Numbers, stride: Any, padding: Any, dilation: Any) -> _Steps:
    """How windows move over images."""
    strides, gaps = each_axis(NAME, "stride", stride, 2), each_axis(NAME, "dilation", dilation, 2)
    low, high = pairs(NAME, padding, 2)
    sizes = known_size(NAME, x, 2), known_size(NAME, x, 3)
    spans = tuple(map(spread, window, gaps))
    refuse_no_place(NAME, "weight", sizes, spans, (low, high), x)
    firsts = [
        np.arange(-before, size + after - span + 1, step)
        for before, size, after, span, step in zip(low, sizes, high, spans, strides, strict=True)
    ]
    inside = [np.arange(count) * gap for count, gap in zip(window, gaps, strict=True)]
    rows = inside[0][:, None, None, None] + firsts[0][:, None]
    columns = inside[1][:, None, None] + firsts[1]
    places = np.stack(np.broadcast_arrays(rows, columns), axis=2)
    elements, result = product(window), (len(firsts[0]), len(firsts[1]))
    return _Steps(elements, result, places.reshape(elements, 2, product(result)))


def _groups(x: Tensor, offset: Tensor, weight: Any, steps: _Steps, groups: int) -> int:
    """How many groups of channels have offsets of their own."""
    channels = known_size(NAME, x, 1)
    outputs, inputs = weight.shape[:2]
    if groups < 1 or outputs % groups or channels != inputs * groups:
        problem = f"x has {channels} channels, and the weight takes {inputs} in each of {groups}"
        fail(ShapeError, NAME, f"{problem} groups", x, weight)
    found = known_size(NAME, offset, 1) // (2 * steps.elements) if offset.ndim == 4 else 0
    wanted = (sizes_of(x)[0], found * 2 * steps.elements, *steps.result)
    if found < 1 or channels % found or looked_at(sizes_of(offset)) != looked_at(wanted):
        problem = f"offsets are [N, G * {2 * steps.elements}, {steps.result[0]}, {steps.result[1]}]"
        hint = "G divides the channels, and there are as many offsets as images"
        fail(ShapeError, NAME, f"{problem} for this x and this weight", x, offset, hint=hint)
    return found


def _factors(mask: Any, offset: Tensor, steps: _Steps) -> Tensor:
    """What elements are multiplied by, if there are as many of these as offsets are for."""
    wide, _ = widened(NAME, mask)
    count, offsets, *_ = sizes_of(offset)
    if looked_at(sizes_of(wide)) != looked_at((count, offsets // 2, *steps.result)):
        fail(ShapeError, NAME, "a mask has one number for each two of the offset", mask, offset)
    return wide
