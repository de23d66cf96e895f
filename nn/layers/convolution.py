"""Convolutions, with any number of axes of space.

Comes in: how many channels there are before and after, the size of the window and how it moves,
initialisers, a key. Goes out: modules.
Never: a name of a parameter that is not PyTorch's, so that files of weights fit.
"""

from __future__ import annotations

from typing import Any

from ...frontend.errors import ArgumentError, fail
from ...frontend.functions.convolution import convolve
from ...frontend.functions.padding import pad
from ...frontend.tensor import Tensor
from ..arguments import check_flags
from ..functions.common import check_space
from ..functions.steps import Steps
from ..initialisers import Initialiser
from .windowed import Windowed

PADDING_MODES = {
    "zeros": "constant", "reflect": "reflect", "replicate": "edge", "circular": "circular",
}  # fmt: skip
"""PyTorch's names of what stands around an image, and those of `bs.pad`."""


class _Conv(Windowed):
    """Sums of products of the weight with each window, plus the bias of each output.

    `padding` is "valid", "same", a number, or a number or a pair (before, behind) for each axis;
    there stands what `padding_mode` says: "zeros", or what "reflect", "replicate" or "circular"
    takes from x. Each of `groups` of outputs sees a group of channels of its own.
    """

    weight: Tensor  # [out_channels, in_channels / groups, window…]
    bias: Tensor | None  # [out_channels]

    def __init__(  # noqa: PLR0913 (each is a choice of the user's)
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1,
        padding: Any = 0, dilation: Any = 1, groups: int = 1, bias: bool = True, *,
        padding_mode: str = "zeros", initialiser: Initialiser | None = None, key: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        name = type(self).__name__
        check_flags(name, bias=bias)
        steps = Steps(name, self.space, kernel_size, stride, padding, dilation)
        self.padding_mode = padding_mode
        if padding_mode not in PADDING_MODES:
            problem = f"padding_mode is one of {', '.join(PADDING_MODES)}, not {padding_mode!r}"
            fail(ArgumentError, name, problem)
        shape = self.move(steps, out_channels, in_channels, groups)
        self.fill(shape, out_channels if bias else None, initialiser, key, dtype)

    def forward(self, x: Tensor) -> Tensor:
        """[N, in_channels, space…] -> [N, out_channels, space…]"""
        check_space(type(self).__name__, x, self.space)
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            x = pad(x, ((0, 0), (0, 0), *padding), PADDING_MODES[self.padding_mode])
            padding = 0
        return convolve(
            x, self.weight, self.bias, stride=self.stride, padding=padding, dilation=self.dilation,
            groups=self.groups,
        )  # fmt: skip


class Conv1d(_Conv):
    """A convolution of lines [N, channels, length]."""

    space = 1


class Conv2d(_Conv):
    """A convolution of images [N, channels, height, width]."""

    space = 2


class Conv3d(_Conv):
    """A convolution of volumes [N, channels, depth, height, width]."""

    space = 3
