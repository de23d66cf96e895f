"""Products at places as the loop they stand for.

Comes in: a scatter that multiplies, and what it reads. Goes out: what it makes, of simpler ops.
Never: a change of the op itself.
"""

from math import prod

from ..ir import tensor
from ..ir.attributes import Shape
from ..ir.builder import Builder
from ..ir.dims import Size
from ..ir.dtypes import DType
from ..ir.func import Yield
from ..ir.tensor.control import INDEX
from ..ir.tensor.rules import emit, with_axis
from ..ir.values import AnyValue


def products_at_places(
    op: tensor.Scatter, builder: Builder, operands: tuple[AnyValue, ...]
) -> tuple[AnyValue, ...]:
    """In a loop over the updates of a batch: read, multiply, write.

    A place may be named often, and by zeros too: so each product is made of all the others.
    """
    x, indices, updates = operands
    wide = x.dtype.accumulator
    first, last = op.batch, len(indices.shape) - 1
    count = prod(indices.shape[first:last])
    places = _listed(builder, indices, first, count, indices.shape[last:])
    factors = _listed(builder, updates, first, count, updates.shape[last:])
    carries, inputs = [_cast(builder, x, wide)], [places, _cast(builder, factors, wide)]
    slices = [each.type.with_shape(each.shape[1:]) for each in inputs]
    body = builder.nest([INDEX, carries[0].type, *slices])
    _, old, place, factor = body.block.arguments
    named = {"axes": op.axes, "batch": op.batch, "outside": op.outside}
    read = emit(body, "gather", old, place, **named)
    new = emit(body, "multiply", read, factor)
    body.emit_all(Yield, [emit(body, "scatter", old, place, new, **named)])
    (made,) = builder.emit_all(tensor.Loop, carries, inputs, count, body.block)
    return (_cast(builder, made, x.dtype),)


def _listed(builder: Builder, x: AnyValue, first: int, count: Size, rest: Shape) -> AnyValue:
    """x with the axes between `first` and those of `rest` as one, which comes first of all."""
    merged = emit(builder, "reshape", x, (*x.shape[:first], count, *rest))
    return with_axis(builder, merged, first, 0)


def _cast(builder: Builder, x: AnyValue, dtype: DType) -> AnyValue:
    return x if x.dtype is dtype else emit(builder, "cast", x, dtype)
