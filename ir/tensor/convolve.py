"""Convolution, in the sense of deep learning: cross-correlation, with any number of space axes.

Comes in: x of shape [N, C, space…] and a kernel of shape [O, C / groups, space…].
Goes out: [N, O, space…], accumulated and rounded as a contraction is.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..attributes import Shape
from ..builder import Builder
from ..declare import Attr, Operand, Result, among
from ..dims import Size, ceil_div, floor_div, maximum
from ..dtypes import NUMBERS, DType
from ..errors import require
from ..payloads import Array, rounded
from ..types import Tensor
from ..values import AnyValue
from .base import Tangents, TensorOp, Values, rebuilt, shape_of
from .batching import lane_by_lane, merged, parted
from .contract import check_dtypes, contraction, wider
from .convolve_transpose import cotangent_of_input, cotangent_of_kernel
from .rules import emit, require_linear_in_one, total, with_axis
from .windows import check_at_least_one, check_count, check_not_negative, padded, spread


class Convolve(TensorOp, name="tensor.convolve"):
    """Sums of products of the kernel with the windows of x, each group of channels on its own.

    x gets `input_dilation` - 1 zeros between its elements, then `low` zeros before and `high`
    after them. A window's elements are `kernel_dilation` apart, and windows begin `strides` apart.
    """

    x: Operand[Tensor] = among(NUMBERS)
    kernel: Operand[Tensor]
    strides: Attr[tuple[int, ...]]
    low: Attr[Shape]
    high: Attr[Shape]
    input_dilation: Attr[tuple[int, ...]]
    kernel_dilation: Attr[tuple[int, ...]]
    groups: Attr[int]
    dtype: Attr[DType]
    result: Result[Tensor]

    @staticmethod
    def infer(
        x: Tensor,
        kernel: Tensor,
        strides: tuple[int, ...],
        low: Shape,
        high: Shape,
        input_dilation: tuple[int, ...],
        kernel_dilation: tuple[int, ...],
        dtype: DType,
    ) -> Tensor:
        require(x.rank >= 2, f"x is {x}, expected [N, C, space…]")
        require(kernel.rank == x.rank, f"the kernel has rank {kernel.rank}, x has rank {x.rank}")
        check_dtypes(x, kernel, dtype)
        space = x.rank - 2
        for name, sizes in (("low", low), ("high", high)):
            check_count(name, sizes, space)
            check_not_negative(name, sizes)
        steps = {
            "strides": strides,
            "input_dilation": input_dilation,
            "kernel_dilation": kernel_dilation,
        }
        for name, values in steps.items():
            check_count(name, values, space)
            check_at_least_one(name, values)
        fields = map(_field, x.shape[2:], low, high, input_dilation)
        windows = map(spread, kernel.shape[2:], kernel_dilation)
        places = map(_places, fields, windows, strides)
        return Tensor((x.shape[0], kernel.shape[0], *places), dtype)

    def check(self) -> None:
        channels, groups = self.x.shape[1], self.groups
        outputs, inputs = self.kernel.shape[:2]
        require(groups >= 1, f"groups = {groups}, expected at least 1")
        require(
            channels == inputs * groups,
            f"x has {channels} channels, the kernel takes {inputs} in each of {groups} groups",
        )
        if isinstance(outputs, int):
            _check_outputs(outputs, groups)

    def jvp(self, builder: Builder, tangents: Tangents) -> Tangents:
        pairs = (tangents[0], self.kernel), (self.x, tangents[1])
        parts = [
            x and kernel and emit(builder, "convolve", x, kernel, *self.attributes)
            for x, kernel in pairs
        ]
        return (total(builder, parts),)

    def transpose(self, builder: Builder, operands: Tangents, cotangents: Tangents) -> Tangents:
        require_linear_in_one(operands)
        (c,), (x, kernel) = cotangents, operands
        if x is None:
            return cotangent_of_input(self, builder, c, kernel), None
        return None, cotangent_of_kernel(self, builder, c, x)

    def batching(
        self, builder: Builder, operands: Values, batched: tuple[bool, ...], size: Size
    ) -> Values:
        """Lanes become images, outputs of each group, or groups."""
        x, kernel = operands
        if not batched[1]:
            (made,) = rebuilt(self, builder, (merged(builder, x, 0), kernel))
            return (parted(builder, made, 0, x.shape[:2]),)
        outputs = ceil_div(self.kernel.shape[0], self.groups)
        if not batched[0] and outputs * self.groups == self.kernel.shape[0]:
            return (self._with_kernels(builder, x, kernel, outputs),)
        if batched[0] and isinstance(size, int) and size > 0:
            return (self._with_groups(builder, x, kernel, size),)
        return lane_by_lane(self, builder, operands, batched, size)

    def _with_kernels(
        self, builder: Builder, x: AnyValue, kernel: AnyValue, outputs: Size
    ) -> AnyValue:
        """The kernel of each lane makes `outputs` more of every group."""
        lanes = kernel.shape[0]
        grouped = parted(builder, kernel, 1, (self.groups, outputs))
        kernels = merged(builder, with_axis(builder, grouped, 0, 1), 0, 3)
        (made,) = rebuilt(self, builder, (x, kernels))
        apart = parted(builder, made, 1, (self.groups, lanes, outputs))
        return merged(builder, with_axis(builder, apart, 2, 0), 2)

    def _with_groups(self, builder: Builder, x: AnyValue, kernel: AnyValue, lanes: int) -> AnyValue:
        """Each lane is a group, or several."""
        channels = merged(builder, with_axis(builder, x, 0, 1), 1)
        kernels = merged(builder, kernel, 0)
        (made,) = rebuilt(self, builder, (channels, kernels), groups=self.groups * lanes)
        apart = parted(builder, made, 1, (lanes, self.kernel.shape[0]))
        return with_axis(builder, apart, 1, 0)

    def run(self, frame: Any, *operands: Array) -> Array:
        x, kernel = operands
        low, high = shape_of(frame, self.low), shape_of(frame, self.high)
        check_not_negative("low", low)
        check_not_negative("high", high)
        _check_outputs(len(kernel), self.groups)
        wide = wider(self.x.dtype, self.dtype).storage
        dilation = (1, 1, *self.input_dilation)
        field = padded(x.astype(wide), (0, 0, *low), (0, 0, *high), dilation, np.zeros((), wide))
        windows = _every_window(field, kernel.shape[2:], self.strides, self.kernel_dilation)
        return rounded(_correlate(windows, kernel.astype(wide), self.groups), self.dtype)


def _check_outputs(outputs: int, groups: int) -> None:
    require(outputs % groups == 0, f"{outputs} output channels do not split into {groups} groups")


def _field(size: Size, low: Size, high: Size, dilation: int) -> Size:
    """The size of one axis of x once it is dilated and padded."""
    return low + spread(size, dilation) + high


def _places(field: Size, window: Size, stride: int) -> Size:
    """How many windows find a place along an axis."""
    return maximum(floor_div(field - window, stride) + 1, 0)


def _every_window(
    field: Array, sizes: Sequence[int], strides: Sequence[int], dilation: Sequence[int]
) -> Array:
    """[N, C, place…, offset…]: the elements of the window at each place, without a copy."""
    extents = zip(field.shape[2:], map(spread, sizes, dilation), strides, strict=True)
    places = [max((size - window) // stride + 1, 0) for size, window, stride in extents]
    steps = field.strides[2:]
    between = [step * stride for step, stride in zip(steps, strides, strict=True)]
    within = [step * by for step, by in zip(steps, dilation, strict=True)]
    shape = (*field.shape[:2], *places, *sizes)
    return as_strided(field, shape, (*field.strides[:2], *between, *within), writeable=False)


def _correlate(windows: Array, kernel: Array, groups: int) -> Array:
    """The products of windows and kernel, summed over input channels and offsets."""
    images, channels = windows.shape[:2]
    outputs, space = len(kernel), kernel.ndim - 2
    grouped = windows.reshape(images, groups, channels // groups, *windows.shape[2:])
    kernels = kernel.reshape(groups, outputs // groups, *kernel.shape[1:])
    summed = (2, *range(3 + space, 3 + 2 * space)), (2, *range(3, 3 + space))
    sums = contraction(grouped, kernels, batch=((1,), (0,)), summed=summed)
    # [groups, N, place…, outputs of a group] -> [N, groups, outputs of a group, place…]
    in_order = sums.transpose(1, 0, 2 + space, *range(2, 2 + space))
    return in_order.reshape(images, outputs, *windows.shape[2 : 2 + space])
