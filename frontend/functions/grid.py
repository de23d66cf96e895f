"""Images read at places between their elements, and the places of affine maps.

Comes in: images [N, C, H, W] and grids [N, h, w, 2] of places (x, y) in -1..1. Goes out: images.
Never: a place outside read as anything but zeros, the border, or a reflection, as asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...ir import dtypes as ir
from ..dtypes import int64
from ..errors import ArgumentError, ShapeError, fail
from ..handle import wrap
from ..node import Node
from .common import as_node, as_shape, promote
from .creation import arange
from .elementwise import abs, clip
from .logic import where
from .manipulation import stack
from .products import matmul
from .rounding import floor, round

if TYPE_CHECKING:
    from ..tensor import Tensor

MODES = ("bilinear", "nearest")
BORDERS = ("zeros", "border", "reflection")


def affine_grid(theta: Any, size: Any, /, align_corners: bool = False) -> Tensor:
    """Where affine maps [N, 2, 3] find, in their input, each element of an output [N, C, H, W]."""
    node, size = as_node(theta, "affine_grid"), as_shape(size, "affine_grid")
    if len(size) != 4 or node.type.shape[1:] != (2, 3) or node.type.shape[0] != size[0]:
        fail(
            ShapeError, "affine_grid", f"needs maps [N, 2, 3] for a size of 4, {list(size)}", theta
        )
    _, _, height, width = size
    dtype = wrap(node).dtype
    columns = _spread(width, align_corners, dtype)
    rows = _spread(height, align_corners, dtype)
    xs = columns[None, :] + 0 * rows[:, None]
    ys = rows[:, None] + 0 * columns[None, :]
    places = stack([xs, ys, xs * 0 + 1], axis=-1).reshape(height * width, 3)
    mapped = matmul(places, wrap(node).mT)
    return mapped.reshape(size[0], height, width, 2)


def _spread(count: int, align_corners: bool, dtype: Any) -> Tensor:
    """The centres of `count` elements in -1..1; with `align_corners` the outermost are at ±1."""
    line = arange(count, dtype=dtype)
    if align_corners:
        return line * (2.0 / max(count - 1, 1)) - 1.0
    return (line * 2.0 + 1.0) / float(count) - 1.0


def grid_sample(
    x: Any, grid: Any, /, mode: str = "bilinear", padding_mode: str = "zeros",
    align_corners: bool = False,
) -> Tensor:  # fmt: skip
    """The image x at each place of the grid."""
    if mode not in MODES or padding_mode not in BORDERS:
        problem = f"mode is one of {MODES}, padding_mode one of {BORDERS}"
        fail(ArgumentError, "grid_sample", problem)
    image, places = as_node(x, "grid_sample"), as_node(grid, "grid_sample")
    _check(image, places, x, grid)
    height, width = image.type.shape[2:]
    ends = [
        _reflected_or_clipped(
            _unscaled(wrap(places)[..., at], size, align_corners), size, padding_mode, align_corners
        )
        for at, size in ((0, width), (1, height))
    ]
    if mode == "nearest":
        return _read(wrap(image), round(ends[0]), round(ends[1]), padding_mode)
    return bilinear(wrap(image), ends[0], ends[1], padding_mode)


def bilinear(image: Tensor, column: Tensor, row: Tensor, border: str = "zeros") -> Tensor:
    """Images [N, C, H, W] at places [N, h, w], counted in elements; the border is zeros, or any
    other where no place is outside."""
    columns, rows = _around(column), _around(row)
    total: Any = 0
    for left, along in columns:
        for top, across in rows:
            weight = (along * across)[:, None]
            total = total + _read(image, left, top, border) * weight
    return total


def _check(image: Node, places: Node, x: Any, grid: Any) -> None:
    promote("grid_sample", x, 0.0, among=ir.FLOATS)
    shapes = image.type.shape, places.type.shape
    if len(shapes[0]) != 4 or len(shapes[1]) != 4 or shapes[1][3] != 2:
        problem = "takes an image [N, C, H, W] and a grid [N, h, w, 2]"
        fail(ShapeError, "grid_sample", problem, x, grid)
    if shapes[0][0] != shapes[1][0]:
        problem = f"{shapes[0][0]} images and {shapes[1][0]} grids are given"
        fail(ShapeError, "grid_sample", problem, x, grid)


def _unscaled(place: Tensor, size: int, align_corners: bool) -> Tensor:
    """-1..1 as places counted in elements."""
    if align_corners:
        return (place + 1.0) * (0.5 * (size - 1))
    return ((place + 1.0) * float(size) - 1.0) * 0.5


def _reflected_or_clipped(place: Tensor, size: int, border: str, align_corners: bool) -> Tensor:
    """Places brought inside, unless what is outside is zero."""
    if border == "zeros":
        return place
    if border == "reflection":
        low, span = (0.0, float(size - 1)) if align_corners else (-0.5, float(size))
        if span == 0:
            return place * 0
        apart = abs(place - low) % (2 * span)
        place = where(apart > span, 2 * span - apart, apart) + low
    return clip(place, 0.0, float(size - 1))


def _around(place: Tensor) -> list[tuple[Tensor, Tensor]]:
    """The whole places on both sides, with their weights."""
    below = floor(place)
    above = place - below
    return [(below, 1.0 - above), (below + 1.0, above)]


def _read(image: Tensor, column: Tensor, row: Tensor, border: str) -> Tensor:
    """The elements at whole places; zeros outside."""
    height, width = image.shape[2:]
    inside = (column >= 0) & (column <= width - 1) & (row >= 0) & (row <= height - 1)
    columns = clip(column, 0.0, float(width - 1)).astype(int64)
    rows = clip(row, 0.0, float(height - 1)).astype(int64)
    batch = arange(image.shape[0])[:, None, None]
    found = image.permute_dims((0, 2, 3, 1))[batch, rows, columns].permute_dims((0, 3, 1, 2))
    return where(inside[:, None], found, 0.0) if border == "zeros" else found
