"""Windows of images as columns, and columns added up to images, as modules.

Comes in: the size of the window, and how it moves. Goes out: modules.
Never: a parameter.
"""

from __future__ import annotations

from typing import Any

from ...frontend.tensor import Tensor
from ..functions.common import as_setting
from ..functions.windows import fold, unfold
from ..module import Module


class Unfold(Module):
    """The windows of images as columns."""

    def __init__(
        self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
    ) -> None:
        self.kernel_size, self.dilation = as_setting(kernel_size), as_setting(dilation)
        self.padding, self.stride = as_setting(padding), as_setting(stride)

    def forward(self, x: Tensor) -> Tensor:
        """[N, C, space…] -> [N, C * elements of a window, windows]"""
        return unfold(x, self.kernel_size, self.dilation, self.padding, self.stride)


class Fold(Module):
    """Columns added up to images, where windows overlap."""

    def __init__(
        self, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0,
        stride: Any = 1,
    ) -> None:  # fmt: skip
        self.output_size, self.kernel_size = as_setting(output_size), as_setting(kernel_size)
        self.dilation, self.padding = as_setting(dilation), as_setting(padding)
        self.stride = as_setting(stride)

    def forward(self, x: Tensor) -> Tensor:
        """[N, C * elements of a window, windows] -> [N, C, *output_size]"""
        steps = (self.kernel_size, self.dilation, self.padding, self.stride)
        return fold(x, self.output_size, *steps)
