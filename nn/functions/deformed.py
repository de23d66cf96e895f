"""Convolutions whose windows are bent: each element of each window is read at a place of its own.

Comes in: images, how far from its place each element is read, weights. Goes out: images.
Never: what is outside an image read as anything but 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod as product
from typing import Any

import numpy as np

from ...frontend.errors import ShapeError, fail
from ...frontend.functions.creation import asarray
from ...frontend.functions.grid import bilinear
from ...frontend.tensor import Tensor
from ...frontend.unseen import looked_at
from .common import along_channels, check_space, known_size, sizes_of, widened
from .steps import Steps

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
    steps = Steps(NAME, 2, tuple(weight.shape[2:]), stride, padding, dilation)
    result = steps.places(steps.sizes(wide), wide, weight)
    elements, windows = product(steps.window), product(result)
    apart = _groups(wide, moved, weight, (elements, *result), groups)
    count, channels, *space = sizes_of(wide)
    places = moved.reshape((count * apart, elements, 2, windows)) + _unbent(steps, result, moved)
    images = wide.reshape((count * apart, channels // apart, *space))
    read = bilinear(images, places[:, :, 1], places[:, :, 0])
    if mask is not None:
        factors = _factors(mask, moved)
        read = read * factors.reshape((count * apart, 1, elements, windows))
    outputs = weight.shape[0]
    columns = read.reshape((count, groups, channels // groups * elements, windows))
    made = weight.reshape((groups, outputs // groups, -1)) @ columns
    made = made.reshape((count, outputs, *result))
    return (made if bias is None else made + along_channels(bias, 4)).astype(dtype)


def _unbent(steps: Steps, result: Sequence[int], like: Tensor) -> Tensor:
    """Where each element of each window is read if nothing is bent: [elements, 2, windows]."""
    gaps = zip(steps.window, steps.dilation, strict=True)
    inside = [np.arange(count) * gap for count, gap in gaps]
    axes = zip(result, steps.stride, steps.around, strict=True)
    first = [np.arange(count) * by - before for count, by, (before, _) in axes]
    rows = inside[0][:, None, None, None] + first[0][:, None]
    columns = inside[1][:, None, None] + first[1]
    places = np.stack(np.broadcast_arrays(rows, columns), axis=2)
    return asarray(places.reshape(-1, 2, product(result)), dtype=like.dtype)


def _groups(x: Tensor, offset: Tensor, weight: Any, shape: Sequence[int], groups: int) -> int:
    """How many groups of channels have offsets of their own: one for each element of each window,
    as `shape` counts them."""
    channels = known_size(NAME, x, 1)
    outputs, inputs = weight.shape[:2]
    if groups < 1 or outputs % groups or channels != inputs * groups:
        problem = f"x has {channels} channels, and the weight takes {inputs} in each of {groups}"
        fail(ShapeError, NAME, f"{problem} groups", x, weight)
    elements, rows, columns = shape
    found = known_size(NAME, offset, 1) // (2 * elements) if offset.ndim == 4 else 0
    wanted = (sizes_of(x)[0], found * 2 * elements, rows, columns)
    if found < 1 or channels % found or looked_at(sizes_of(offset)) != looked_at(wanted):
        problem = f"offsets are [N, G * {2 * elements}, {rows}, {columns}] for this x and weight"
        hint = "G divides the channels, and there are as many offsets as images"
        fail(ShapeError, NAME, problem, x, offset, hint=hint)
    return found


def _factors(mask: Any, offset: Tensor) -> Tensor:
    """What elements are multiplied by: one number for each two of the offset."""
    wide, _ = widened(NAME, mask)
    count, offsets, *result = sizes_of(offset)
    if looked_at(sizes_of(wide)) != looked_at((count, offsets // 2, *result)):
        fail(ShapeError, NAME, "a mask has one number for each two of the offset", mask, offset)
    return wide
