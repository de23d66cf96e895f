"""Views: the elements of one tensor in another shape, order or number.

Comes in: a tensor. Goes out: a tensor whose every element is one of the operand's.
Never: arithmetic, or sharing: the result is a value like any other.
"""

from math import prod
from typing import Any

import numpy as np

from ..attributes import Shape
from ..builder import Builder
from ..declare import Attr, Operand, Result, same_as
from ..dims import Size
from ..errors import Unmet, require
from ..payloads import Array
from ..types import Tensor
from ..values import AnyValue
from .axes import check_distinct, other_axes, shifted
from .base import Tangents, TensorOp, Values, check_axes, rebuilt, shape_of
from .rules import again, emit, same_op


class Reshape(TensorOp, name="tensor.reshape"):
    """The elements of x, in row-major order, in another shape."""

    x: Operand[Tensor]
    shape: Attr[Shape]
    result: Result[Tensor]

    @staticmethod
    def infer(x: Tensor, shape: Shape) -> Tensor:
        before, after = prod(x.shape), prod(shape)
        if before != after:
            raise Unmet(f"{x} has {before} elements, the shape {list(shape)} has {after}")
        return x.with_shape(shape)

    jvp = same_op

    def transpose(self, builder: Builder, operands: Tangents, cotangents: Tangents) -> Tangents:
        return (emit(builder, "reshape", cotangents[0], self.x.shape),)

    def batching(
        self, builder: Builder, operands: Values, batched: tuple[bool, ...], size: Size
    ) -> Values:
        return rebuilt(self, builder, operands, shape=(size, *self.shape))

    def run(self, frame: Any, *operands: Array) -> Array:
        (x,) = operands
        return x.reshape(shape_of(frame, self.shape))


class Permute(TensorOp, name="tensor.permute"):
    """The axes of x in another order: axis i of the result is axis axes[i] of x."""

    x: Operand[Tensor]
    axes: Attr[tuple[int, ...]]
    result: Result[Tensor]

    @staticmethod
    def infer(x: Tensor, axes: tuple[int, ...]) -> Tensor:
        check_distinct(axes, x.rank)
        require(len(axes) == x.rank, "axes leaves out an axis of x", list(axes), x)
        return x.with_shape(tuple(x.shape[axis] for axis in axes))

    jvp = same_op

    def transpose(self, builder: Builder, operands: Tangents, cotangents: Tangents) -> Tangents:
        back = sorted(range(len(self.axes)), key=self.axes.__getitem__)
        return (emit(builder, "permute", cotangents[0], tuple(back)),)

    def batching(
        self, builder: Builder, operands: Values, batched: tuple[bool, ...], size: Size
    ) -> Values:
        return rebuilt(self, builder, operands, axes=(0, *shifted(self.axes)))

    def run(self, frame: Any, *operands: Array) -> Array:
        (x,) = operands
        return x.transpose(self.axes)


class Broadcast(TensorOp, name="tensor.broadcast"):
    """x repeated along new axes and axes of size 1: axis i of x becomes axis axes[i]."""

    x: Operand[Tensor]
    shape: Attr[Shape]
    axes: Attr[tuple[int, ...]] = ()
    result: Result[Tensor]

    @staticmethod
    def infer(x: Tensor, shape: Shape, axes: tuple[int, ...]) -> Tensor:
        check_distinct(axes, len(shape))
        require(len(axes) == x.rank, "axes must name one axis for each of x", list(axes), x)
        for place, (size, axis) in enumerate(zip(x.shape, axes, strict=True)):
            if size not in (1, shape[axis]):
                wanted = f"axis {axis}, of size {shape[axis]}"
                raise Unmet(f"axis {place} of x, of size {size}, cannot become {wanted}")
        return x.with_shape(shape)

    jvp = same_op

    @property
    def kept(self) -> list[int]:
        """The axes of the result along which x is not repeated, in the order of x."""
        sizes = dict(zip(self.axes, self.x.shape, strict=True))
        return [axis for axis, size in sizes.items() if size == self.shape[axis]]

    @property
    def repeated(self) -> tuple[int, ...]:
        """The others."""
        return other_axes(len(self.shape), self.kept)

    def transpose(self, builder: Builder, operands: Tangents, cotangents: Tangents) -> Tangents:
        c: Any = cotangents[0]
        if self.repeated:
            c = emit(builder, "reduce_sum", c, self.repeated)
        return (self.once(builder, c),)

    def once(self, builder: Builder, sums: Any) -> AnyValue:
        """What is left without the axes along which x is repeated, as x has it."""
        kept = self.kept
        order = tuple(sorted(kept).index(axis) for axis in kept)
        if order != tuple(range(len(kept))):
            sums = emit(builder, "permute", sums, order)
        return sums if sums.shape == self.x.shape else emit(builder, "reshape", sums, self.x.shape)

    def batching(
        self, builder: Builder, operands: Values, batched: tuple[bool, ...], size: Size
    ) -> Values:
        axes = (0, *shifted(self.axes))
        return rebuilt(self, builder, operands, shape=(size, *self.shape), axes=axes)

    def run(self, frame: Any, *operands: Array) -> Array:
        (x,) = operands
        shape = shape_of(frame, self.shape)
        aligned = [1] * len(shape)
        for size, axis in zip(x.shape, self.axes, strict=True):
            aligned[axis] = size
        in_order = x.transpose(np.argsort(self.axes))
        return np.broadcast_to(in_order.reshape(aligned), shape)


class Flip(TensorOp, name="tensor.flip"):
    """x with the elements along each of the axes in reverse order."""

    x: Operand[Tensor]
    axes: Attr[tuple[int, ...]]
    result: Result[Tensor] = same_as("x")

    jvp = same_op

    def check(self) -> None:
        check_axes(self.axes, self.x.type)

    def transpose(self, builder: Builder, operands: Tangents, cotangents: Tangents) -> Tangents:
        return (again(self, builder, cotangents[0]),)

    def batching(
        self, builder: Builder, operands: Values, batched: tuple[bool, ...], size: Size
    ) -> Values:
        return rebuilt(self, builder, operands, axes=shifted(self.axes))

    def run(self, frame: Any, *operands: Array) -> Array:
        (x,) = operands
        return np.asarray(np.flip(x, self.axes))
