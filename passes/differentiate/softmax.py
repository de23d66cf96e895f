"""The tangent of a softmax that is written out, as somebody who knows it would write it.

Comes in: a division, of which the sweep asks the tangent. Goes out: if exp(z) is divided by its own
sums, y * (dz - sum(y * dz)), which keeps nothing but y; else what the rule of a division makes.
Never: another y.
"""

from collections.abc import Mapping
from typing import Any

from ...ir import tensor
from ...ir.tensor.rules import Term, broadcast_along
from ...ir.values import AnyValue, Op
from .forward import Forward, Rule


def divide(forward: Forward, op: tensor.Divide) -> None:
    """A division, of whatever."""
    axes = _summed(op)
    if axes is None:
        forward.plain(op, forward.changes(op.operands))
        return
    assert isinstance(op.left.op, tensor.Exp)
    exponent = _without_shift(op.left.op.x, axes)
    (tangent,) = forward.changes([exponent])
    forward.copy(op)
    (result,) = forward.taken(op.results)
    moved = None
    if tangent is not None:
        y, change = Term(forward.builder, result), Term(forward.builder, tangent)
        sums = (y * change).apply("reduce_sum", axes=axes)
        mean = broadcast_along(forward.builder, sums.value, result.type.shape, axes)
        moved = (y * (change - Term(forward.builder, mean))).value
    forward.define(op, [result], [moved])


SOFTMAX: Mapping[type[Op], Rule] = {tensor.Divide: divide}


def _summed(op: tensor.Divide) -> tuple[int, ...] | None:
    """The axes along which what is divided, an exp, is summed to what it is divided by."""
    repeated = _repeated(op.right)
    if repeated is None or not isinstance(op.left.op, tensor.Exp):
        return None
    source, along = repeated
    if not isinstance(source.op, tensor.ReduceSum) or source.op.x is not op.left:
        return None
    axes, shape = source.op.axes, op.left.type.shape
    kept = [axis for axis, size in enumerate(shape) if axis not in axes and size != 1]
    return axes if along == kept else None


def _without_shift(z: AnyValue, axes: tuple[int, ...]) -> AnyValue:
    """x, if z is x less something that is the same along the axes: a softmax does not notice."""
    if not isinstance(z.op, tensor.Subtract):
        return z
    repeated = _repeated(z.op.right)
    return z if repeated is None or {*axes} & {*repeated[1]} else z.op.left


def _repeated(value: AnyValue) -> tuple[AnyValue, list[int]] | None:
    """What is broadcast, without axes of size 1 that were added, and the axes it differs along."""
    op: Any = value.op
    if not isinstance(op, tensor.Broadcast):
        return None
    source: AnyValue = op.x
    along = [axis for axis, size in zip(op.axes, source.type.shape, strict=True) if size != 1]
    while isinstance(source.op, tensor.Reshape) and _longer(source) == _longer(source.op.x):
        source = source.op.x
    return source, along


def _longer(value: AnyValue) -> list[Any]:
    return [size for size in value.type.shape if size != 1]
