"""Convolutions, with any number of axes of space.

Comes in: how many channels there are before and after, the size of the window and how it moves,
initialisers, a key. Goes out: modules.
Never: a name of a parameter that is not PyTorch's, so that files of weights fit.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ...frontend.errors import ArgumentError, ShapeError, fail
from ...frontend.functions.convolution import convolve
from ...frontend.functions.padding import pad
from ...frontend.tensor import Tensor
from ..functions.common import check_space
from ..functions.steps import Steps
from ..initialisers import Initialiser, Keys, fans, inverse_root
from ..module import Module

PADDING_MODES = {
    "zeros": "constant", "reflect": "reflect", "replicate": "edge", "circular": "circular",
}  # fmt: skip
"""PyTorch's names of what stands around an image, and those of `bs.pad`."""


class Windowed(Module):
    """Weights for each element of a window, and a bias for each output."""

    weight: Tensor  # [before, after, window…], as `shape` says
    bias: Tensor | None  # [outputs]
    space: ClassVar[int]
    """How many axes of space there are."""

    def begin(
        self, shape: tuple[int, ...], outputs: int, bias: bool, initialiser: Initialiser | None,
        key: Any, dtype: Any,
    ) -> None:  # fmt: skip
        """Make the parameters."""
        default, keys = inverse_root(fans(shape)[0]), Keys(key)
        self.weight = (initialiser or default)(shape, keys.next(), dtype)
        self.bias = default((outputs,), keys.next(), dtype) if bias else None

    def split(self, channels: int, what: str, groups: int) -> int:
        """How many channels each group has."""
        if groups < 1 or channels % groups:
            problem = f"{channels} {what} do not split into {groups} groups"
            hint = f"`groups` divides {channels}"
            fail(ShapeError, type(self).__name__, problem, hint=hint)
        return channels // groups


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
        steps = Steps(name, self.space, kernel_size, stride, padding, dilation)
        self.stride, self.padding, self.dilation = steps.stride, steps.around, steps.dilation
        self.groups, self.padding_mode = groups, padding_mode
        if padding_mode not in PADDING_MODES:
            problem = f"padding_mode is one of {', '.join(PADDING_MODES)}, not {padding_mode!r}"
            fail(ArgumentError, name, problem)
        self.split(out_channels, "outputs", groups)
        shape = (out_channels, self.split(in_channels, "channels", groups), *steps.window)
        self.begin(shape, out_channels, bias, initialiser, key, dtype)

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
