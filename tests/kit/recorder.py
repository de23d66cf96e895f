"""Records a program op by op, as a frontend does, at sizes that are numbers.

Comes in: calls in the order of the program. Goes out: a func; what is equal is one op, and ops on
small constants are folded, since the builder does both.
Never: an op that the program does not ask for, but a broadcast where shapes differ.
"""

from typing import Any

import numpy as np

from brimstone.ir import tensor
from brimstone.ir.attributes import Shape
from brimstone.ir.builder import Builder
from brimstone.ir.declare import Op
from brimstone.ir.dims import Size
from brimstone.ir.dtypes import DType, f32
from brimstone.ir.func import Func, Return
from brimstone.ir.payloads import Number, payload
from brimstone.ir.types import Tensor
from brimstone.ir.values import AnyValue


class Recorder:
    """A func in the making, of `float32` unless something else is said."""

    def __init__(self) -> None:
        self.func = Func("step")
        self.builder = Builder(self.func.body)

    def argument(self, *shape: Size, dtype: DType = f32) -> AnyValue:
        """One argument more."""
        return self.func.body.add_argument(Tensor(shape, dtype))

    def arguments(self, *shapes: Shape) -> list[AnyValue]:
        """An argument of each shape."""
        return [self.argument(*shape) for shape in shapes]

    def emit(self, cls: type[Op], *operands: Any, **named: Any) -> AnyValue:
        """The first result of an op."""
        return self.builder.emit(cls, *operands, **named)

    def number(self, value: float, dtype: DType = f32) -> AnyValue:
        """A number of rank 0."""
        return self.emit(tensor.Constant, Number(value, dtype))

    def array(self, array: Any) -> AnyValue:
        """An array that the program holds."""
        found = np.asarray(array, np.float32)
        return self.emit(tensor.Constant, payload(found, f32))

    def to(self, x: AnyValue, *shape: Size, first: int | None = None) -> AnyValue:
        """x along more axes: its own are the last ones, or begin at `first`."""
        if x.shape == shape:
            return x
        start = len(shape) - len(x.shape) if first is None else first
        axes = tuple(range(start, start + len(x.shape)))
        return self.emit(tensor.Broadcast, x, shape=shape, axes=axes)

    def map(self, cls: type[Op], x: AnyValue, other: AnyValue | float) -> AnyValue:
        """An op on x and a value or number that is broadcast to its shape."""
        right = self.number(other, x.dtype) if isinstance(other, int | float) else other
        return self.emit(cls, x, self.to(right, *x.shape))

    def along(self, cls: type[Op], x: AnyValue, reduced: AnyValue) -> AnyValue:
        """An op on x and what was reduced along its last axis."""
        return self.emit(cls, x, self.to(reduced, *x.shape, first=0))

    def reduce(self, cls: type[Op], x: AnyValue) -> AnyValue:
        """A reduction along the last axis."""
        return self.emit(cls, x, axes=(len(x.shape) - 1,))

    def contract(self, left: AnyValue, right: AnyValue, batch: int, summed: int) -> AnyValue:
        """The last axis of left with axis `summed` of right, after some batch axes."""
        axes = tuple(range(batch))
        last = len(left.shape) - 1
        return self.emit(tensor.Contract, left, right, axes, axes, (last,), (summed,), left.dtype)

    def reshape(self, x: AnyValue, *shape: Size) -> AnyValue:
        """x in another shape."""
        return self.emit(tensor.Reshape, x, shape=shape)

    def cut(self, x: AnyValue, axis: int, start: int, size: int, step: int = 1) -> AnyValue:
        """A slice along one axis."""
        starts, sizes, steps = [0] * len(x.shape), list(x.shape), [1] * len(x.shape)
        starts[axis], sizes[axis], steps[axis] = start, size, step
        return self.emit(tensor.Slice, x, start=starts, size=sizes, step=steps)

    def softmax(self, x: AnyValue) -> AnyValue:
        """Along the last axis."""
        shifted = self.along(tensor.Subtract, x, self.reduce(tensor.ReduceMaximum, x))
        above = self.emit(tensor.Exp, shifted)
        return self.along(tensor.Divide, above, self.reduce(tensor.ReduceSum, above))

    def mean(self, x: AnyValue) -> AnyValue:
        """Along the last axis: a sum, and a number that is a size."""
        (*_, count) = x.type.shape
        return self.map(tensor.Divide, self.reduce(tensor.ReduceSum, x), float(count))

    def done(self, *results: AnyValue) -> Func:
        """The func, which returns these."""
        self.builder.emit_all(Return, results)
        return self.func
