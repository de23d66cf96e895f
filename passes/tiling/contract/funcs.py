"""Kernels of the tensor floor that a contraction needs beside its own, or is made of.

Comes in: a contraction, and whatever it reads. Goes out: funcs that the rest of tiling knows:
copies of operands, and products along an axis of size 1, of which a vector with a matrix is one.
Never: a tile.
"""

from collections.abc import Sequence

from ....ir import tensor
from ....ir.builder import Builder
from ....ir.dtypes import DType
from ....ir.func import Func, Return
from ....ir.values import AnyValue, Op
from ...copying import copy_ops
from ..emit import nothing
from .matrix import Groups, Role, extent_of, in_order, sides_of


def copied_operand(func: Func, operand: AnyValue, groups: Groups, name: str) -> Func:
    """The kernel that computes an operand, with its axes in the order of the groups."""
    made, builder, values = _beginning(func, name)
    _copy_up_to(operand, builder, values)
    result = _permuted(
        builder, values[operand], [axis for axes in groups.values() for axis in axes]
    )
    builder.emit_all(Return, [result])
    return made


def product_alone(func: Func, op: tensor.Contract, name: str) -> Func:
    """The kernel of the contraction, without what follows it."""
    made, builder, values = _beginning(func, name)
    _copy_up_to(op.result, builder, values)
    builder.emit_all(Return, [values[op.result]])
    return made


def rest_of(func: Func, op: tensor.Contract) -> Func:
    """The kernel of what follows a contraction, of which the product is the last argument."""
    made, builder, values = _beginning(func, func.name)
    product = made.body.add_argument(op.result.type, op.result.name or "product")
    values[op.result] = product
    _end(func, builder, values)
    return made


def widened_product(func: Func, op: tensor.Contract, name: str) -> Func:
    """The kernel that multiplies element by element and sums along k, if that is longer than 1, and
    does what follows."""
    made, builder, values = _beginning(func, name)
    extent, (left, right) = extent_of(op), sides_of(op)
    shape = op.result.type.shape
    batch, ours = len(left[Role.BATCH]), len(left[Role.FREE])
    summed = tuple(op.left.type.shape[axis] for axis in left[Role.CONTRACT])
    wide = (*shape, *summed)
    behind = tuple(range(len(shape), len(wide)))
    lines = tuple(range(batch + ours)), (*range(batch), *range(batch + ours, len(shape)))
    factors: list[AnyValue] = []
    for operand, groups, axes in zip((op.left, op.right), (left, right), lines, strict=True):
        _copy_up_to(operand, builder, values)
        moved = _permuted(builder, values[operand], in_order(groups))
        cast = _cast(builder, moved, extent.wide)
        factors.append(builder.emit(tensor.Broadcast, cast, shape=wide, axes=(*axes, *behind)))
    product = builder.emit(tensor.Multiply, *factors)
    if extent.k == 1:
        product = builder.emit(tensor.Add, product, _zeros(builder, product))
    if summed:
        product = builder.emit(tensor.ReduceSum, product, axes=behind)
    values[op.result] = _cast(builder, product, op.dtype)
    _end(func, builder, values)
    return made


def _end(func: Func, builder: Builder, values: dict[AnyValue, AnyValue]) -> None:
    """Compute what a func returns from the values that there are, and return it."""
    for result in func.results:
        _copy_up_to(result, builder, values)
    builder.emit_all(Return, [values[result] for result in func.results])


def _beginning(func: Func, name: str) -> tuple[Func, Builder, dict[AnyValue, AnyValue]]:
    """A func that takes the same arguments."""
    types = [argument.type for argument in func.arguments]
    made = Func(name, types, func.symbols, location=func.location)
    for old, new in zip(func.arguments, made.arguments, strict=True):
        new.name = old.name
    values = dict(zip(func.arguments, made.arguments, strict=True))
    return made, Builder(made.body, location=func.location), values


def _copy_up_to(value: AnyValue, builder: Builder, values: dict[AnyValue, AnyValue]) -> None:
    """Copy the ops that a value needs and that there are no values of."""
    needed: set[Op] = set()
    pending = [value]
    while pending:
        found = pending.pop()
        op = found.op
        if op is not None and found not in values and op not in needed:
            needed.add(op)
            pending += op.operands
    if value.op is not None and value.op.block is not None:
        copy_ops([op for op in value.op.block if op in needed], builder, values)


def _zeros(builder: Builder, like: AnyValue) -> AnyValue:
    """Zeros, to which even a sum of one is added: -0 becomes 0."""
    zero = builder.emit(tensor.Constant, nothing(like.dtype))
    return builder.emit(tensor.Broadcast, zero, shape=like.type.shape, axes=())


def _permuted(builder: Builder, value: AnyValue, axes: Sequence[int]) -> AnyValue:
    same = list(axes) == list(range(len(axes)))
    return value if same else builder.emit(tensor.Permute, value, axes=tuple(axes))


def _cast(builder: Builder, value: AnyValue, dtype: DType) -> AnyValue:
    return value if value.dtype is dtype else builder.emit(tensor.Cast, value, dtype=dtype)
