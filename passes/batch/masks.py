"""What lanes that are not to run an op may not notice of it: an error.

Comes in: ops of regions that run for some lanes, while the others go along. Goes out: which ops may
fail, and the lanes that are active.
Never: a mask for an op that cannot fail: whatever it makes in the other lanes, nobody reads.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from ...ir import tensor
from ...ir.builder import Builder
from ...ir.dtypes import i64
from ...ir.facts import Facts
from ...ir.tensor.arg_reduce import ArgReduction
from ...ir.tensor.indexing import Outside
from ...ir.tensor.rules import zeros
from ...ir.tensor.solve import Equations
from ...ir.types import Tensor
from ...ir.values import AnyValue, Op
from ..hoist import succeeds

FACTS = Facts()
FINITE_ONLY = tensor.Eigh | tensor.Eig | tensor.Svd
REGULAR_ONLY = Equations | tensor.Cholesky
FACTORED = tensor.Qr | tensor.Lu
"""What runs with any matrix, but whose derivative solves equations with it."""


@dataclass(frozen=True)
class Mask:
    """The lanes of `outer` for which a predicate, a boolean a lane, is `wanted`."""

    predicate: AnyValue
    wanted: bool
    outer: "Mask | None"

    def active(self, builder: Builder) -> AnyValue:
        """A boolean a lane."""
        own = self.predicate if self.wanted else builder.emit(tensor.BitNot, self.predicate)
        return own if self.outer is None else both(builder, self.outer.active(builder), own)


class Harmless(NamedTuple):
    """The place of an operand, and what makes one of its type with which nothing fails."""

    place: int
    make: Callable[[Builder, Tensor], AnyValue]


def both(builder: Builder, left: AnyValue, right: AnyValue) -> AnyValue:
    """Where both are true."""
    return builder.emit(tensor.BitAnd, left, right)


def chosen(builder: Builder, active: AnyValue, on_true: AnyValue, on_false: AnyValue) -> AnyValue:
    """Of two batched values, the first in the active lanes and the second in the others."""
    predicate = active
    if len(on_true.shape) > 1:
        predicate = builder.emit(tensor.Broadcast, active, shape=on_true.shape, axes=(0,))
    return builder.emit(tensor.Select, predicate, on_true, on_false)


def certain(op: Op) -> bool:
    """Whether an op, its regions aside, runs without an error whatever its operands are."""
    match op:
        case tensor.Gather() | tensor.Scatter():
            return op.outside is not Outside.ERROR
        case tensor.Slice():
            return succeeds(op)
        case ArgReduction():
            return FACTS.at_most(1, op.x.shape[op.axis])
        case _:
            return not isinstance(op, tensor.Custom | tensor.HostCall | FINITE_ONLY | REGULAR_ONLY)


def harmless(op: Op) -> Harmless | None:
    """An operand with which neither an op nor its derivative can fail, if there is one."""
    if isinstance(op, tensor.Gather | tensor.Scatter):
        never_empty = all(FACTS.at_most(1, op.x.shape[axis]) for axis in op.axes)
        return Harmless(1, zeros) if never_empty else None
    if isinstance(op, REGULAR_ONLY | FACTORED):
        return Harmless(0, _identities)
    return Harmless(0, zeros) if isinstance(op, FINITE_ONLY) else None


def _identities(builder: Builder, type_: Tensor) -> AnyValue:
    """Matrices with ones on the diagonal, and zeros beside it."""
    row, column = (
        builder.emit(tensor.Iota, shape=type_.shape, axis=axis, dtype=i64)
        for axis in (type_.rank - 2, type_.rank - 1)
    )
    return builder.emit(tensor.Cast, builder.emit(tensor.Equal, row, column), dtype=type_.dtype)
