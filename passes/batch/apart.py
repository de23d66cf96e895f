"""What no derivative goes through: lanes that are not active.

Comes in: values that the active lanes of a region read, and whose derivatives may be infinite or no
number in the others, where 0 times that would be NaN. Goes out: what stands for them there, which
is a constant for derivatives.
Never: a change of what an active lane computes.
"""

from ...ir import tensor
from ...ir.builder import Builder
from ...ir.dtypes import INEXACT
from ...ir.tensor.rules import zeros
from ...ir.values import AnyValue
from .masks import chosen

PRODUCTS = tensor.Contract | tensor.Convolve | tensor.Gather
"""What is linear in each float that it reads. Of one that all lanes share no copies are made."""
SPREAD = tensor.Broadcast | tensor.Cast | tensor.Reshape


def moves(value: AnyValue) -> bool:
    """Whether there may be a derivative by a value: it is a float, and no spread constant."""
    op = value.op
    while isinstance(op, SPREAD):
        op = op.x.op
    return value.type.dtype in INEXACT and (op is None or bool(op.operands or op.regions))


def apart(builder: Builder, active: AnyValue, value: AnyValue) -> AnyValue:
    """A batched value; where a lane is not active, a constant for derivatives."""
    return chosen(builder, active, value, builder.emit(tensor.StopGradient, value))


def apart_from_none(builder: Builder, active: AnyValue, value: AnyValue) -> AnyValue:
    """A value that all lanes share; where none is active, a constant for derivatives."""
    some = builder.emit(tensor.ReduceOr, active, axes=(0,))
    if value.shape:
        some = builder.emit(tensor.Broadcast, some, shape=value.shape, axes=())
    return builder.emit(tensor.Select, some, value, builder.emit(tensor.StopGradient, value))


def factor(builder: Builder, active: AnyValue, value: AnyValue) -> AnyValue:
    """A batched value that a shared one is multiplied with; 0 in the lanes that are not active."""
    if value.type.dtype not in INEXACT:
        return value
    return chosen(builder, active, value, zeros(builder, value.type))
