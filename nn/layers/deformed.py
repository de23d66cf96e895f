"""Convolutions whose windows are bent, as a module.

Comes in: how many channels there are before and after, the size of the window and how it moves,
initialisers, a key. Goes out: a module.
Never: offsets of its own: what calls the module says how windows are bent.
"""

from __future__ import annotations

from typing import Any

from ...frontend.tensor import Tensor
from ..arguments import check_flags
from ..functions.deformed import deform_conv2d
from ..functions.steps import Steps
from ..initialisers import Initialiser
from .windowed import Windowed


class DeformConv2d(Windowed):
    """A convolution of images, each element of whose windows is read at a place of its own."""

    weight: Tensor  # [out_channels, in_channels / groups, rows, columns]
    bias: Tensor | None  # [out_channels]
    space = 2

    def __init__(  # noqa: PLR0913 (each is a choice of the user's)
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1,
        padding: Any = 0, dilation: Any = 1, groups: int = 1, bias: bool = True, *,
        initialiser: Initialiser | None = None, key: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        steps = Steps("DeformConv2d", 2, kernel_size, stride, padding, dilation)
        shape = self.move(steps, out_channels, in_channels, groups)
        check_flags("DeformConv2d", bias=bias)
        self.fill(shape, out_channels if bias else None, initialiser, key, dtype)

    def forward(self, x: Tensor, offset: Tensor, mask: Tensor | None = None) -> Tensor:
        """[N, in_channels, height, width], [N, G * elements of a window * 2, rows, columns] and
        [N, G * elements of a window, rows, columns] -> [N, out_channels, rows, columns]"""
        return deform_conv2d(
            x, offset, self.weight, self.bias, mask, stride=self.stride, padding=self.padding,
            dilation=self.dilation, groups=self.groups,
        )  # fmt: skip
