"""Channels in the place of pixels, and the other way round, as modules.

Comes in: a factor. Goes out: modules.
Never: a parameter.
"""

from __future__ import annotations

from ...frontend.tensor import Tensor
from ..arguments import check_counts
from ..functions.pixels import pixel_shuffle, pixel_unshuffle
from ..module import Module


class PixelShuffle(Module):
    """Images `upscale_factor` times as large, whose pixels come from several channels."""

    def __init__(self, upscale_factor: int) -> None:
        check_counts("PixelShuffle", 1, upscale_factor=upscale_factor)
        self.upscale_factor = upscale_factor

    def forward(self, x: Tensor) -> Tensor:
        """[…, C * factor², height, width] -> […, C, height * factor, width * factor]"""
        return pixel_shuffle(x, self.upscale_factor)


class PixelUnshuffle(Module):
    """What undoes `PixelShuffle`."""

    def __init__(self, downscale_factor: int) -> None:
        check_counts("PixelUnshuffle", 1, downscale_factor=downscale_factor)
        self.downscale_factor = downscale_factor

    def forward(self, x: Tensor) -> Tensor:
        """[…, C, height * factor, width * factor] -> […, C * factor², height, width]"""
        return pixel_unshuffle(x, self.downscale_factor)
