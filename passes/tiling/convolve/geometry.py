"""A convolution as sizes: images, groups of channels, and axes along which windows move.

Comes in: a convolution. Goes out: its `Geometry`; axes that need no window are taken as one, and so
are those that are one.
Never: an op.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from ....ir import tensor
from ....ir.attributes import Shape
from ....ir.dims import Size, ceil_div
from ....ir.dtypes import DType
from ....ir.tensor.contract import wider


@dataclass(frozen=True, slots=True)
class Every:
    """`count` places of an axis that has `size`: the first one, and every `step`-th from there;
    with each turn of the axis, the first one stands `shift` further."""

    size: Size
    count: Size
    first: int = 0
    step: int = 1
    shift: int = 0


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of space: the element of x for a place of the result and an element of the window
    stands at (place * stride + element * dilation - low) / between, if that is a whole number.
    Places and elements are counted among those that `places` and `window` take; there are `turns`
    of these, which meet elements of x in the same way."""

    size: Size
    window: Every
    places: Every
    stride: int = 1
    dilation: int = 1
    between: int = 1
    low: Size = 0
    turns: int = 1

    @property
    def plain(self) -> bool:
        """Whether each place is that of an element."""
        steps = (self.stride, self.between, self.window.size)
        return steps == (1, 1, 1) and self.low == 0 and self.places.size == self.size

    @property
    def whole(self) -> bool:
        """Whether there is one place, whose window has all elements."""
        steps = (self.dilation, self.between, self.places.size)
        return steps == (1, 1, 1) and self.low == 0 and self.window.size == self.size


@dataclass(frozen=True, slots=True)
class Geometry:
    """`inputs` and `outputs` are the channels of one group, `channels` the outputs of all, from
    which those of one follow; sums are `wide`."""

    images: Size
    groups: int
    inputs: Size
    outputs: Size
    channels: Size
    axes: tuple[Axis, ...]
    dtype: DType
    wide: DType
    result: DType

    @property
    def x_shape(self) -> Shape:
        """The shape in which x is seen."""
        return (self.images, self.inputs * self.groups, *(axis.size for axis in self.axes))

    @property
    def kernel_shape(self) -> Shape:
        """The shape in which the kernel is seen."""
        windows = [axis.window.size for axis in self.axes]
        return (self.channels, self.inputs, *windows)

    @property
    def result_shape(self) -> Shape:
        """The shape in which the result is seen."""
        places = [axis.places.size for axis in self.axes]
        return (self.images, self.channels, *places)

    @property
    def taken_shape(self) -> Shape:
        """The shape of that part of the kernel which is taken."""
        windows = [axis.window.count for axis in self.axes]
        return (self.channels, self.inputs, *windows)

    @property
    def turns(self) -> int:
        """How many turns there are along all axes."""
        return prod(axis.turns for axis in self.axes)

    @property
    def lines(self) -> Shape:
        """How many images there are, and places along all axes but the last."""
        return (self.images, *(axis.places.count for axis in self.axes[:-1]))

    @property
    def width(self) -> Size:
        """How many places there are along the last axis."""
        return self.axes[-1].places.count


def geometry_of(op: tensor.Convolve, named: Callable[[Size], Size]) -> Geometry:
    """The geometry of a convolution; `named` gives a size another name."""
    images, _, *sizes = map(named, op.x.type.shape)
    channels, inputs, *windows = map(named, op.kernel.type.shape)
    places = map(named, op.result.type.shape[2:])
    steps = zip(op.strides, op.kernel_dilation, op.input_dilation, op.low, strict=True)
    axes = [
        Axis(size, Every(window, window), Every(count, count), *by)
        for size, window, count, by in zip(sizes, windows, places, steps, strict=True)
    ]
    return Geometry(
        images=images,
        groups=op.groups,
        inputs=inputs,
        outputs=channels if op.groups == 1 else ceil_div(channels, op.groups),
        channels=channels,
        axes=_merged(axes),
        dtype=op.x.dtype,
        wide=wider(op.x.dtype, op.dtype),
        result=op.dtype,
    )


def _merged(axes: Sequence[Axis]) -> tuple[Axis, ...]:
    """The axes, with neighbours that are plain taken together; one, where there is none."""
    made: list[Axis] = []
    for axis in axes:
        size = axis.size * made[-1].size if made else axis.size
        if made and made[-1].plain and axis.plain:
            made[-1] = _plain(size)
        elif made and made[-1].whole and axis.whole:
            made[-1] = Axis(size, Every(size, size), Every(1, 1))
        else:
            made.append(axis)
    return tuple(made) or (_plain(1),)


def _plain(size: Size) -> Axis:
    return Axis(size, Every(1, 1), Every(size, size))


def summed(shape: Shape) -> Size:
    """How many products each result is the sum of, with a kernel of this shape."""
    return prod(shape[1:])
