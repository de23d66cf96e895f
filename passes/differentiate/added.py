"""Cotangents added up.

Comes in: two cotangents of one value. Goes out: their sum. One that is but a few numbers in zeros,
as that of an element that was read is, is added to the other where these numbers stand: what a
loop carries backward is then updated in place, and the step does not look at all of it.
Never: a change to what is added.
"""

from collections.abc import Iterable
from functools import reduce

from ...ir import tensor
from ...ir.builder import Builder
from ...ir.tensor.indexing import Combiner
from ...ir.tensor.rules import emit
from ...ir.values import AnyValue


def added(builder: Builder, left: AnyValue, right: AnyValue) -> AnyValue:
    """x + scatter(zeros, indices, updates) -> scatter(x, indices, updates), either way round, and
    for several such updates too; else left + right"""
    for x, other in ((left, right), (right, left)):
        updates = _updates_of_zeros(other)
        if updates:
            return reduce(lambda into, update: _repeated(builder, update, into), updates, x)
    return emit(builder, "add", left, right)


def total(builder: Builder, parts: Iterable[AnyValue | None]) -> AnyValue | None:
    """The sum of the parts that are not None."""
    counted = [part for part in parts if part is not None]
    return reduce(lambda left, right: added(builder, left, right), counted) if counted else None


def is_zero(value: AnyValue) -> bool:
    """Whether a value is the constant zero."""
    maker = value.op
    if isinstance(maker, tensor.Broadcast):
        return is_zero(maker.x)
    return isinstance(maker, tensor.Constant) and not maker.value.array.any()


def _updates_of_zeros(value: AnyValue) -> list[tensor.Scatter]:
    """The updates, in order, that are all there is in a value; none for any other value."""
    found: list[tensor.Scatter] = []
    op = value.op
    while isinstance(op, tensor.Scatter) and op.combiner is Combiner.ADD:
        found.insert(0, op)
        value = op.x
        op = value.op
    return found if is_zero(value) else []


def _repeated(builder: Builder, op: tensor.Scatter, x: AnyValue) -> AnyValue:
    """The same updates of another array."""
    where = op.axes, op.batch, op.combiner, op.outside
    return emit(builder, "scatter", x, op.indices, op.updates, *where)
