"""Images made larger or smaller.

Comes in: the size that is wanted, or by how much images grow, and how. Goes out: a module.
Never: a parameter.
"""

from __future__ import annotations

from typing import Any

from ...frontend.errors import ArgumentError, fail
from ...frontend.tensor import Tensor
from ..functions.common import as_setting
from ..functions.interpolation import interpolate
from ..module import Module


class Interpolate(Module):
    """Images with `size` elements along each axis of space, or `scale_factor` times as many.

    The modes are those of `nn.functions.interpolate`.
    """

    def __init__(
        self, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
        align_corners: bool | None = None,
    ) -> None:  # fmt: skip
        if (size is None) == (scale_factor is None):
            fail(ArgumentError, "Interpolate", "takes `size` or `scale_factor`, and one of them")
        self.size, self.scale_factor = as_setting(size), as_setting(scale_factor)
        self.mode, self.align_corners = mode, align_corners

    def forward(self, x: Tensor) -> Tensor:
        """[N, C, space…] -> [N, C, *size]"""
        return interpolate(x, self.size, self.scale_factor, self.mode, self.align_corners)


Upsample = Interpolate
"""The name that it has in PyTorch."""
