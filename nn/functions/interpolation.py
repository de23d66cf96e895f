"""Images of other sizes: elements between those of an image, as sums of the ones around them.

Comes in: images [N, C, space…], and the sizes that are wanted, or by how much they grow. Goes out:
images of these sizes. Axes of space are taken one after the other.
Never: a size that is left open, as places and weights are computed while a function is traced.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from math import floor
from operator import add
from typing import Any, NamedTuple

import numpy as np

from ...frontend.errors import ArgumentError, ShapeError, fail
from ...frontend.functions.common import as_node
from ...frontend.functions.creation import asarray
from ...frontend.functions.indexing import take
from ...frontend.functions.pooling import adaptive_mean_pool
from ...frontend.functions.repeating import repeat
from ...frontend.functions.space import each_axis
from ...frontend.handle import wrap
from ...frontend.tensor import Tensor
from .common import known_size, widened

Array = np.ndarray[Any, np.dtype[Any]]


class Kernel(NamedTuple):
    """How much an element weighs by its distance, and how far away it is at most.

    Beyond an end stands the outermost element; or nothing, if weights are `divided` by their sum.
    """

    weight: Callable[[Array], Array]
    radius: int
    divided: bool = False


class Axis(NamedTuple):
    """`count` places along an axis of `extent` elements: place i is at (i + ½) * step - ½, or if
    the corners meet at i * step; the step is a ratio."""

    at: int
    extent: int
    count: int
    step: tuple[float, float]

    def places(self, shift: float) -> Array:
        """Where they are, with the `shift` of the middle of an element."""
        above, below = self.step
        return (np.arange(self.count) + shift) * above / below - shift


def interpolate(
    x: Any, /, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:  # fmt: skip
    """Images [N, C, space…] with `size` elements along each axis of space, or `scale_factor` times
    as many, rounded down.

    The mode is "nearest", which rounds places down, "nearest-exact", "linear" (for two axes also
    "bilinear", for three "trilinear"), "cubic" (or "bicubic"), "lanczos", six elements wide, or
    "area", means of all that a place covers. With `align_corners` the first and the last elements
    stay where they are, else the edges of images do.
    """
    image = wrap(as_node(x, "interpolate"))
    kind = _kind(mode, image)
    if align_corners is not None and kind not in KERNELS:
        problem = f"`align_corners` means nothing to the mode {mode!r}"
        fail(ArgumentError, "interpolate", problem, image)
    axes = _axes(image, size, scale_factor)
    if kind == "area":
        return adaptive_mean_pool(image, [axis.count for axis in axes])
    if kind not in KERNELS:
        return reduce(lambda made, axis: _nearest(made, axis, kind), axes, image)
    wide, dtype = widened("interpolate", image)
    corners = bool(align_corners)
    return reduce(lambda made, axis: _mixed(made, axis, kind, corners), axes, wide).astype(dtype)


def _kind(mode: str, x: Tensor) -> str:
    """The mode without the number of axes in its name, which is checked."""
    kind, count = NAMES.get(mode, (mode, x.ndim - 2))
    if kind not in (*KERNELS, "nearest", "nearest-exact", "area"):
        known = "nearest, nearest-exact, linear, cubic, lanczos and area"
        fail(ArgumentError, "interpolate", f"there is no mode {mode!r}", x, hint=f"use {known}")
    if x.ndim < 3 or x.ndim - 2 != count:
        fail(ShapeError, "interpolate", f"takes [N, C, space…], for {mode} of {count + 2} axes", x)
    return kind


def _axes(x: Tensor, size: Any, scale_factor: Any) -> list[Axis]:
    """How many places each axis of space gets, and how far they are apart."""
    if (size is None) == (scale_factor is None):
        fail(ArgumentError, "interpolate", "takes `size` or `scale_factor`, and one of them", x)
    extents = [known_size("interpolate", x, axis) for axis in range(2, x.ndim)]
    if 0 in extents:
        fail(ShapeError, "interpolate", "an image has no elements", x)
    if size is not None:
        counts = each_axis("interpolate", "size", size, len(extents))
        steps = zip(extents, counts, strict=True)
    else:
        scales = _scales(scale_factor, len(extents))
        counts = [floor(extent * by) for extent, by in zip(extents, scales, strict=True)]
        steps = [(1.0, by) for by in scales]
    if min(counts) < 1:
        fail(ArgumentError, "interpolate", f"nothing is left: the sizes would be {counts}", x)
    return [Axis(at, *each) for at, each in enumerate(zip(extents, counts, steps, strict=True), 2)]


def _scales(given: Any, count: int) -> list[float]:
    """One factor for each axis."""
    listed = [*given] if isinstance(given, Sequence) else [given] * count
    if len(listed) != count or not all([isinstance(by, int | float) and by > 0 for by in listed]):
        problem = f"`scale_factor` is {given!r}, and takes a number above 0, or {count} of them"
        fail(ArgumentError, "interpolate", problem)
    return [float(by) for by in listed]


def _nearest(x: Tensor, axis: Axis, kind: str) -> Tensor:
    """The elements at places rounded down, or that cover the middle of each place."""
    places = axis.places(0.0) if kind == "nearest" else axis.places(0.5) + 0.5
    nearest = np.minimum(np.floor(places).astype(np.int64), axis.extent - 1)
    times = axis.count // axis.extent
    if np.array_equal(nearest, np.repeat(np.arange(axis.extent), times)):
        return repeat(x, times, axis=axis.at)
    return take(x, nearest, axis.at)


def _mixed(x: Tensor, axis: Axis, kind: str, corners: bool) -> Tensor:
    """The elements around each place times their weights, added."""
    kernel, last = KERNELS[kind], axis.extent - 1
    if corners:
        axis = axis._replace(step=(last, max(axis.count - 1, 1)))
    places = axis.places(0.0 if corners else 0.5)[:, None]
    around = np.floor(places).astype(np.int64) + np.arange(1 - kernel.radius, kernel.radius + 1)
    weights = kernel.weight(np.abs(places - around))
    if kernel.divided:
        weights = weights * ((around >= 0) & (around <= last))
        weights = weights / weights.sum(1, keepdims=True)
    behind = (-1, *[1] * (x.ndim - axis.at - 1))
    pairs = zip(np.clip(around, 0, last).T, weights.T, strict=True)
    return reduce(add, [
        take(x, at, axis.at) * asarray(by, dtype=x.dtype).reshape(behind) for at, by in pairs
    ])  # fmt: skip


def _triangle(distance: Array) -> Array:
    return 1 - distance


def _cubic(distance: Array) -> Array:
    """Two cubic polynomials, by R. Keys, that go on smoothly; -¾ is the slope between them."""
    slope = -0.75
    near = ((slope + 2) * distance - (slope + 3)) * distance**2 + 1
    far = slope * (((distance - 5) * distance + 8) * distance - 4)
    return np.where(distance <= 1, near, far)


def _lanczos(distance: Array) -> Array:
    """A sine wave that fades out over three periods."""
    return np.sinc(distance) * np.sinc(distance / 3)


KERNELS = {
    "linear": Kernel(_triangle, 1),
    "cubic": Kernel(_cubic, 2),
    "lanczos": Kernel(_lanczos, 3, divided=True),
}
NAMES = {"bilinear": ("linear", 2), "trilinear": ("linear", 3), "bicubic": ("cubic", 2)}
"""Names of modes that say how many axes of space there are."""
