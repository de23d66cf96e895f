"""Windows: parts of a tensor, a tensor with a border, several tensors end to end.

Comes in: tensors. Goes out: a tensor of their elements, and of one padding value.
Never: a bound that is wrong for every size; one that may be wrong is checked when the op runs.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, overload

import numpy as np

from ..attributes import Shape
from ..builder import Builder
from ..declare import Attr, Operand, Operands, Result
from ..dims import Size, interval, maximum
from ..errors import Unmet, require
from ..facts import Facts
from ..payloads import Array, Number, Payload
from ..types import Tensor
from ..values import AnyValue
from .base import Tangents, TensorOp, Values, check_axis, rebuilt, shape_of
from .batching import all_batched
from .rules import emit, present, same_op

BOUNDS_OF_SYMBOLS = Facts()


class Slice(TensorOp, name="tensor.slice"):
    """Every step-th element of x from start on, along each axis `size` of them."""

    x: Operand[Tensor]
    start: Attr[Shape]
    size: Attr[Shape]
    step: Attr[tuple[int, ...]]
    result: Result[Tensor]

    @staticmethod
    def infer(x: Tensor, start: Shape, size: Shape, step: tuple[int, ...]) -> Tensor:
        for name, values in (("start", start), ("size", size), ("step", step)):
            check_count(name, values, x.rank)
        check_not_negative("start", start)
        check_not_negative("size", size)
        check_at_least_one("step", step)
        for axis, part in enumerate(zip(x.shape, start, size, step, strict=True)):
            if _always_outside(*part):
                raise not_within(axis, *part)
        return x.with_shape(size)

    jvp = same_op

    def transpose(self, builder: Builder, operands: Tangents, cotangents: Tangents) -> Tangents:
        taken = map(spread, self.size, self.step)
        parts = zip(self.x.shape, self.start, taken, strict=True)
        high = tuple(extent - start - size for extent, start, size in parts)
        between, zero = tuple(step - 1 for step in self.step), Number(0, self.x.dtype)
        return (emit(builder, "pad", cotangents[0], self.start, high, between, zero),)

    def batching(
        self, builder: Builder, operands: Values, batched: tuple[bool, ...], size: Size
    ) -> Values:
        part = {"start": (0, *self.start), "size": (size, *self.size), "step": (1, *self.step)}
        return rebuilt(self, builder, operands, **part)

    def run(self, frame: Any, *operands: Array) -> Array:
        (x,) = operands
        start, size = shape_of(frame, self.start), shape_of(frame, self.size)
        taken: list[slice] = []
        for axis, (first, count, by) in enumerate(zip(start, size, self.step, strict=True)):
            extent = x.shape[axis]
            stop = first + (count - 1) * by + 1 if count else first
            if first < 0 or count < 0 or stop > extent:
                raise not_within(axis, extent, first, count, by)
            taken.append(slice(first, stop, by))
        return np.asarray(x[tuple(taken)])


class Pad(TensorOp, name="tensor.pad"):
    """x with `low` values before, `high` after and `interior` between the elements of each axis."""

    x: Operand[Tensor]
    low: Attr[Shape]
    high: Attr[Shape]
    interior: Attr[tuple[int, ...]]
    value: Attr[Payload]
    result: Result[Tensor]

    @staticmethod
    def infer(
        x: Tensor, low: Shape, high: Shape, interior: tuple[int, ...], value: Payload
    ) -> Tensor:
        for name, values in (("low", low), ("high", high), ("interior", interior)):
            check_count(name, values, x.rank)
            check_not_negative(name, values)
        require(isinstance(value, Number), f"value is {value}, expected a number")
        require(value.dtype is x.dtype, f"value is a number of {value.dtype}, x is {x}")
        sizes = zip(low, x.shape, interior, high, strict=True)
        return x.with_shape(
            tuple(before + spread(size, gap + 1) + after for before, size, gap, after in sizes)
        )

    def jvp(self, builder: Builder, tangents: Tangents) -> Tangents:
        zero = Number(0, self.x.dtype)
        return (emit(builder, "pad", tangents[0], self.low, self.high, self.interior, zero),)

    def transpose(self, builder: Builder, operands: Tangents, cotangents: Tangents) -> Tangents:
        step = tuple(gap + 1 for gap in self.interior)
        return (emit(builder, "slice", cotangents[0], self.low, self.x.shape, step),)

    def batching(
        self, builder: Builder, operands: Values, batched: tuple[bool, ...], size: Size
    ) -> Values:
        low, high, interior = [(0, *each) for each in (self.low, self.high, self.interior)]
        return rebuilt(self, builder, operands, low=low, high=high, interior=interior)

    def run(self, frame: Any, *operands: Array) -> Array:
        (x,) = operands
        low, high = shape_of(frame, self.low), shape_of(frame, self.high)
        check_not_negative("low", low)
        check_not_negative("high", high)
        return padded(x, low, high, [gap + 1 for gap in self.interior], self.value.array)


class Concat(TensorOp, name="tensor.concat"):
    """Tensors end to end along one axis."""

    tensors: Operands[Tensor]
    axis: Attr[int]
    result: Result[Tensor]

    @staticmethod
    def infer(tensors: tuple[Tensor, ...], axis: int) -> Tensor:
        require(tensors, "needs at least one tensor")
        first = tensors[0]
        check_axis(axis, first)
        total: Size = 0
        for place, each in enumerate(tensors):
            alike = (
                each.rank == first.rank
                and each.dtype is first.dtype
                and _without(each.shape, axis) == _without(first.shape, axis)
            )
            if not alike:
                raise Unmet(f"tensor {place} is {each}, unlike {first} not only in axis {axis}")
            total = total + each.shape[axis]
        return first.with_shape((*first.shape[:axis], total, *first.shape[axis + 1 :]))

    def jvp(self, builder: Builder, tangents: Tangents) -> Tangents:
        parts = tuple(map(partial(present, builder), tangents, self.tensors))
        return (emit(builder, "concat", parts, self.axis),)

    def transpose(self, builder: Builder, operands: Tangents, cotangents: Tangents) -> Tangents:
        (c,), ones = cotangents, (1,) * len(self.result.shape)
        start: list[Size] = [0] * len(ones)
        parts: list[AnyValue | None] = []
        for operand, each in zip(operands, self.tensors, strict=True):
            linear = operand is None
            part = emit(builder, "slice", c, tuple(start), each.shape, ones) if linear else None
            parts.append(part)
            start[self.axis] = start[self.axis] + each.shape[self.axis]
        return tuple(parts)

    def batching(
        self, builder: Builder, operands: Values, batched: tuple[bool, ...], size: Size
    ) -> Values:
        tensors = all_batched(builder, operands, batched, size)
        return rebuilt(self, builder, tensors, axis=self.axis + 1)

    def run(self, frame: Any, *operands: Array) -> Array:
        return np.concatenate(operands, self.axis)


@overload
def spread(size: int, step: int) -> int: ...


@overload
def spread(size: Size, step: int) -> Size: ...


def spread(size: Size, step: int) -> Size:
    """How much `size` elements take up, each `step` after the one before; nothing for none."""
    return size if step == 1 else maximum((size - 1) * step + 1, 0)


def padded(
    x: Array, low: Sequence[int], high: Sequence[int], step: Sequence[int], value: Array
) -> Array:
    """x among copies of `value`: `low` before, `high` after, elements `step` apart on each axis."""
    taken = [*map(spread, x.shape, step)]
    shape = [*map(sum, zip(low, taken, high, strict=True))]
    result = np.broadcast_to(value, shape).copy()
    bounds = zip(low, taken, step, strict=True)
    result[tuple(slice(first, first + size, by) for first, size, by in bounds)] = x
    return result


def check_count(name: str, values: tuple[Any, ...], rank: int) -> None:
    """Refuse a list that has not one value for each of `rank` axes."""
    require(len(values) == rank, f"{name} must say one value for each of {rank} axes", list(values))


def check_not_negative(name: str, sizes: Shape) -> None:
    """Refuse a list with a size that is always negative."""
    for axis, size in enumerate(sizes):
        if interval(size)[1] < 0:
            raise Unmet(f"{name} is {size} on axis {axis}, which is negative")


def check_at_least_one(name: str, values: tuple[int, ...]) -> None:
    """Refuse a list with a value of 0 or less."""
    for axis, value in enumerate(values):
        if value < 1:
            raise Unmet(f"{name} is {value} on axis {axis}, which is less than 1")


def _always_outside(extent: Size, start: Size, size: Size, step: int) -> bool:
    """Whether a slice starts, or its last element lies, beyond an axis of any size."""
    if start == 0 and step == 1 and size == extent:
        return False
    return _always_at_most(extent + 1, start) or (
        _always_at_most(1, size) and _always_at_most(extent, start + (size - 1) * step)
    )


def _always_at_most(small: Size, large: Size) -> bool:
    if isinstance(small, int) and isinstance(large, int):
        return small <= large
    return BOUNDS_OF_SYMBOLS.at_most(small, large)


def not_within(axis: int, extent: Size, start: Size, size: Size, step: int) -> Unmet:
    """What is wrong with a slice."""
    elements = f"{size} elements from {start} on, in steps of {step},"
    return Unmet(f"{elements} do not lie within axis {axis} of size {extent}")


def _without(shape: Shape, axis: int) -> Shape:
    return shape[:axis] + shape[axis + 1 :]
