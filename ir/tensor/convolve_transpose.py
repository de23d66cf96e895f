"""The transposes of a convolution, which are convolutions again.

Comes in: a convolution that is linear in one operand, and a cotangent of its result. Goes out: the
cotangent of that operand. A result has an element of x at place p · stride + q · kernel_dilation,
where q is a place in the kernel and x is dilated and padded, and everything follows from this.
Never: the other rules of the op, which stand with it.
"""

from typing import TYPE_CHECKING, Any

from ..attributes import Shape
from ..builder import Builder
from ..dims import Size, ceil_div, maximum, minimum
from ..values import AnyValue
from .batching import merged, parted
from .contract import alike
from .rules import emit, with_axis
from .windows import BOUNDS_OF_SYMBOLS, spread

if TYPE_CHECKING:
    from .convolve import Convolve


def cotangent_of_input(
    op: "Convolve", builder: Builder, cotangent: Any, kernel: Any
) -> AnyValue | None:
    """The cotangent, as far apart as the windows were, convolved with the kernel turned round."""
    if 0 in op.kernel.shape:
        return None
    extents = [*map(spread, op.x.shape[2:], op.input_dilation)]
    places = [*map(spread, cotangent.shape[2:], op.strides)]
    windows = map(spread, op.kernel.shape[2:], op.kernel_dilation)
    margins = [maximum(size - 1, 0) for size in windows]
    low = [margin - before for margin, before in zip(margins, op.low, strict=True)]
    after = zip(extents, op.low, places, strict=True)
    high = [extent + before - taken for extent, before, taken in after]
    turned = _turned(builder, kernel, op.groups)
    values = alike(builder, cotangent, turned)
    rest = op.strides, op.kernel_dilation, op.groups, op.x.dtype
    start, step = (0,) * len(low), (1,) * len(low)
    if all(map(_some, op.kernel.shape[2:])) and all(map(_room, (*low, *high))):
        made = emit(builder, "convolve", *values, op.input_dilation, tuple(low), tuple(high), *rest)
    else:  # what lies outside x has cotangents too: find them all, and take those of x
        field = zip(extents, op.low, op.high, places, strict=True)
        sizes = (extent + before + behind - taken for extent, before, behind, taken in field)
        high = [maximum(size, 0) for size in sizes]
        made = emit(builder, "convolve", *values, step, tuple(margins), tuple(high), *rest)
        start, step = op.low, op.input_dilation
    return _part(builder, made, start, op.x.shape[2:], step)


def cotangent_of_kernel(
    op: "Convolve", builder: Builder, cotangent: Any, x: Any
) -> AnyValue | None:
    """x convolved with the cotangent, where images are summed over as channels were."""
    if 0 in op.kernel.shape or 0 in cotangent.shape:
        return None
    windows = [*map(spread, op.kernel.shape[2:], op.kernel_dilation)]
    x, after = _seen(op, builder, x, cotangent.shape[2:], windows)
    spare = zip(after, cotangent.shape[2:], windows, strict=True)
    # Without windows there may be no room for the kernel, where only zeros are summed.
    high = tuple([size if _some(places) else size + window for size, places, window in spare])
    swapped = _swapped(builder, x, op.groups, op.kernel.shape[1])
    values = alike(builder, swapped, with_axis(builder, cotangent, 0, 1))
    rest = op.low, high, op.input_dilation, op.strides, op.groups, op.kernel.dtype
    made = emit(builder, "convolve", *values, op.kernel_dilation, *rest)
    space = len(high)
    made = _part(builder, made, (0,) * space, op.kernel.shape[2:], (1,) * space)
    return with_axis(builder, made, 0, 1)


def _seen(
    op: "Convolve", builder: Builder, x: Any, places: Shape, windows: list[Size]
) -> tuple[AnyValue, Shape]:
    """The part of x that windows reach, where they begin apart, and what padding follows it."""
    kept: list[Size] = []
    after: list[Size] = []
    sizes = zip(x.shape[2:], op.low, op.high, places, op.strides, windows, strict=True)
    for axis, (size, low, high, count, stride, window) in enumerate(sizes):
        apart = stride > 1 and op.input_dilation[axis] == 1 and _some(count)
        reached = spread(count, stride) + window - 1 - low
        kept.append(maximum(minimum(size, reached), 0) if apart else size)
        after.append(maximum(reached - size, 0) if apart else high)
    start, step = (0,) * len(kept), (1,) * len(kept)
    return _part(builder, x, start, tuple(kept), step), tuple(after)


def _turned(builder: Builder, kernel: Any, groups: int) -> AnyValue:
    """The kernel with each offset negated, and with inputs for outputs in each group."""
    space = kernel.shape[2:]
    if len(space) > 1:  # to turn all axes round is to turn them round as one, which is a copy
        kernel = merged(builder, kernel, 2, len(space))
    if groups > 1:
        outputs = ceil_div(kernel.shape[0], groups)
        grouped = parted(builder, kernel, 0, (groups, outputs))
        swapped = merged(builder, with_axis(builder, grouped, 1, 2), 0)
    else:
        swapped = with_axis(builder, kernel, 0, 1)
    turned = emit(builder, "flip", swapped, tuple(range(2, len(kernel.shape))))
    return turned if len(space) < 2 else parted(builder, turned, 2, space)


def _swapped(builder: Builder, x: Any, groups: int, channels: Size) -> AnyValue:
    """x with the channels of a group for images, and the images of each group for channels."""
    if groups == 1:
        return with_axis(builder, x, 0, 1)
    grouped = with_axis(builder, parted(builder, x, 1, (groups, channels)), 0, 2)
    return merged(builder, with_axis(builder, grouped, 1, 0), 1)


def _part(
    builder: Builder, x: AnyValue, start: Shape, size: Shape, step: tuple[int, ...]
) -> AnyValue:
    """A part of x along its space axes."""
    if x.shape[2:] == size:
        return x
    first, whole, every = (0, 0, *start), (*x.shape[:2], *size), (1, 1, *step)
    return emit(builder, "slice", x, first, whole, every)


def _room(size: Size) -> bool:
    return BOUNDS_OF_SYMBOLS.at_most(0, size)


def _some(size: Size) -> bool:
    return BOUNDS_OF_SYMBOLS.at_most(1, size)
