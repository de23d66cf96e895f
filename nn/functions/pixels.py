"""Channels in the place of pixels, and the other way round.

Comes in: images […, C, height, width] and a factor. Goes out: the same elements elsewhere.
Never: arithmetic.
"""

from __future__ import annotations

from typing import Any

from ...frontend.errors import ArgumentError, ShapeError, fail
from ...frontend.functions.common import as_integer, as_node
from ...frontend.handle import wrap
from ...frontend.tensor import Tensor
from .common import known_size, sizes_of


def pixel_shuffle(x: Any, /, upscale_factor: int) -> Tensor:
    """[…, C * factor², height, width] -> […, C, height * factor, width * factor]"""
    image, by = _checked("pixel_shuffle", x, upscale_factor)
    *batch, channels, height, width = sizes_of(image)
    if known_size("pixel_shuffle", image, -3) % by**2:
        problem = f"{channels} channels do not make squares of {by} * {by} pixels"
        fail(ShapeError, "pixel_shuffle", problem, image)
    rank, left = len(batch), known_size("pixel_shuffle", image, -3) // by**2
    apart = image.reshape((*batch, left, by, by, height, width))
    order = [*range(rank), *[rank + each for each in (0, 3, 1, 4, 2)]]
    return apart.permute_dims(order).reshape((*batch, left, height * by, width * by))


def pixel_unshuffle(x: Any, /, downscale_factor: int) -> Tensor:
    """[…, C, height * factor, width * factor] -> […, C * factor², height, width]"""
    image, by = _checked("pixel_unshuffle", x, downscale_factor)
    *batch, channels, _, _ = sizes_of(image)
    height, width = [known_size("pixel_unshuffle", image, axis) for axis in (-2, -1)]
    if height % by or width % by:
        problem = f"{height} * {width} pixels do not split into squares of {by} * {by}"
        fail(ShapeError, "pixel_unshuffle", problem, image)
    rank = len(batch)
    apart = image.reshape((*batch, channels, height // by, by, width // by, by))
    order = [*range(rank), *[rank + each for each in (0, 2, 4, 1, 3)]]
    made = apart.permute_dims(order)
    return made.reshape((*batch, channels * by**2, height // by, width // by))


def _checked(name: str, x: Any, factor: Any) -> tuple[Tensor, int]:
    """The image and the factor, if they are such."""
    image, by = wrap(as_node(x, name)), as_integer(factor, name, "the factor")
    if by < 1:
        fail(ArgumentError, name, f"the factor is at least 1, not {by}", image)
    if image.ndim < 3:
        fail(ShapeError, name, "takes images […, C, height, width]", image)
    return image, by
