"""Pooling: the largest element, or the mean, of each window that moves over an image.

Comes in: the size of the window, and how it moves; or how many windows there are. Goes out:
modules.
Never: a parameter.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ...frontend.errors import ArgumentError, fail
from ...frontend.functions.pooling import adaptive_mean_pool
from ...frontend.functions.space import each_axis
from ...frontend.tensor import Tensor
from ..functions.common import check_space
from ..functions.pooling import adaptive_max_pool, max_pool, mean_pool
from ..functions.steps import Steps
from ..module import Module


class _Pool(Module):
    """A window that moves over axes of space; the stride is its size unless stated."""

    space: ClassVar[int]

    def begin(self, kernel_size: Any, stride: Any, padding: Any, dilation: Any = 1) -> None:
        """Say how the window moves."""
        by = kernel_size if stride is None else stride
        steps = Steps(type(self).__name__, self.space, kernel_size, by, padding, dilation)
        self.kernel_size, self.stride = steps.window, steps.stride
        self.padding, self.dilation = steps.around, steps.dilation


class _MaxPool(_Pool):
    """The largest element of each window."""

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, *,
        ceil_mode: bool = False,
    ) -> None:  # fmt: skip
        self.begin(kernel_size, stride, padding, dilation)
        self.ceil_mode = ceil_mode

    def forward(self, x: Tensor) -> Tensor:
        """[N, C, space…] -> [N, C, windows…]"""
        check_space(type(self).__name__, x, self.space)
        steps = (self.kernel_size, self.stride, self.padding, self.dilation)
        return max_pool(x, *steps, ceil_mode=self.ceil_mode)


class _AvgPool(_Pool):
    """The mean of each window, in which zeros of the padding count unless `count_include_pad` is
    false; or the sum over `divisor_override`."""

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: int | None = None,
    ) -> None:  # fmt: skip
        self.begin(kernel_size, stride, padding)
        self.ceil_mode = ceil_mode
        if divisor_override == 0:
            fail(ArgumentError, type(self).__name__, "`divisor_override` is not 0")
        self.count_include_pad, self.divisor_override = count_include_pad, divisor_override

    def forward(self, x: Tensor) -> Tensor:
        """[N, C, space…] -> [N, C, windows…]"""
        check_space(type(self).__name__, x, self.space)
        return mean_pool(
            x, self.kernel_size, self.stride, self.padding, ceil_mode=self.ceil_mode,
            count_include_pad=self.count_include_pad, divisor_override=self.divisor_override,
        )  # fmt: skip


class _AdaptivePool(Module):
    """Windows of about one size, `output_size` along each axis of space; None keeps an axis."""

    space: ClassVar[int]

    def __init__(self, output_size: Any) -> None:
        name, listed = type(self).__name__, output_size
        if not isinstance(listed, tuple | list):
            listed = (output_size,) * self.space
        known = each_axis(
            name, "output_size", [1 if each is None else each for each in listed], self.space
        )
        pairs = zip(listed, known, strict=True)
        self.output_size = tuple([None if each is None else size for each, size in pairs])

    def sizes(self, x: Tensor) -> tuple[int, ...]:
        """How many windows there are along each axis of space."""
        check_space(type(self).__name__, x, self.space)
        axes = enumerate(self.output_size, 2)
        return tuple([x.shape[axis] if size is None else size for axis, size in axes])


class _AdaptiveAvgPool(_AdaptivePool):
    """The means of windows of about one size."""

    def forward(self, x: Tensor) -> Tensor:
        """[N, C, space…] -> [N, C, *output_size]"""
        return adaptive_mean_pool(x, self.sizes(x))


class _AdaptiveMaxPool(_AdaptivePool):
    """The largest elements of windows of about one size."""

    def forward(self, x: Tensor) -> Tensor:
        """[N, C, space…] -> [N, C, *output_size]"""
        return adaptive_max_pool(x, self.sizes(x))


class MaxPool1d(_MaxPool):
    """The largest element of each window of lines [N, C, length]."""

    space = 1


class MaxPool2d(_MaxPool):
    """The largest element of each window of images [N, C, height, width]."""

    space = 2


class MaxPool3d(_MaxPool):
    """The largest element of each window of volumes [N, C, depth, height, width]."""

    space = 3


class AvgPool1d(_AvgPool):
    """The mean of each window of lines [N, C, length]."""

    space = 1


class AvgPool2d(_AvgPool):
    """The mean of each window of images [N, C, height, width]."""

    space = 2


class AvgPool3d(_AvgPool):
    """The mean of each window of volumes [N, C, depth, height, width]."""

    space = 3


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    """The means of `output_size` windows of lines [N, C, length]."""

    space = 1


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    """The means of `output_size` windows of images [N, C, height, width]."""

    space = 2


class AdaptiveAvgPool3d(_AdaptiveAvgPool):
    """The means of `output_size` windows of volumes [N, C, depth, height, width]."""

    space = 3


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """The largest elements of `output_size` windows of lines [N, C, length]."""

    space = 1


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """The largest elements of `output_size` windows of images [N, C, height, width]."""

    space = 2


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    """The largest elements of `output_size` windows of volumes [N, C, depth, height, width]."""

    space = 3
