"""Transposed convolutions: each element of an image makes a window of the result.

Comes in: how many channels there are before and after, the size of the window and how it moves,
initialisers, a key. Goes out: modules.
Never: a name of a parameter that is not PyTorch's, so that files of weights fit.
"""

from __future__ import annotations

from typing import Any

from ...frontend.functions.convolution import convolve_transposed
from ...frontend.functions.space import each_axis
from ...frontend.tensor import Tensor
from ..arguments import check_flags
from ..functions.common import check_space
from ..functions.steps import Steps
from ..initialisers import Initialiser
from .windowed import Windowed


class _ConvTranspose(Windowed):
    """Each element of x times the weight, added up where these overlap, plus the bias.

    It makes images of the shape that a convolution with the same settings takes; `padding` is taken
    away, and `output_padding` is how much larger the result is behind each axis.
    """

    weight: Tensor  # [in_channels, out_channels / groups, window…]
    bias: Tensor | None  # [out_channels]

    def __init__(  # noqa: PLR0913 (each is a choice of the user's)
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1,
        padding: Any = 0, output_padding: Any = 0, groups: int = 1, bias: bool = True, *,
        dilation: Any = 1, initialiser: Initialiser | None = None, key: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        name = type(self).__name__
        check_flags(name, bias=bias)
        steps = Steps(name, self.space, kernel_size, stride, padding, dilation)
        self.output_padding = each_axis(name, "output_padding", output_padding, self.space, least=0)
        shape = self.move(steps, in_channels, out_channels, groups)
        self.fill(shape, out_channels if bias else None, initialiser, key, dtype)

    def forward(self, x: Tensor) -> Tensor:
        """[N, in_channels, space…] -> [N, out_channels, space…]"""
        check_space(type(self).__name__, x, self.space)
        return convolve_transposed(
            x, self.weight, self.bias, stride=self.stride, padding=self.padding,
            output_padding=self.output_padding, dilation=self.dilation, groups=self.groups,
        )  # fmt: skip


class ConvTranspose1d(_ConvTranspose):
    """A transposed convolution of lines [N, channels, length]."""

    space = 1


class ConvTranspose2d(_ConvTranspose):
    """A transposed convolution of images [N, channels, height, width]."""

    space = 2


class ConvTranspose3d(_ConvTranspose):
    """A transposed convolution of volumes [N, channels, depth, height, width]."""

    space = 3
