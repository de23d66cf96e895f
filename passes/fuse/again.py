"""What checkpoints compute again, on the way back, apart from what was computed before.

Comes in: a func that is to be fused. Goes out: the same, in which the bodies of such checkpoints
stand in line; and for each of their ops, the values that it waits for: all that the checkpoint
takes, the gradients that have come so far among them.
Never: one op in the place of two equal ones, whose result would be kept until it is wanted again.
"""

from collections.abc import Iterator, Mapping
from typing import TypeGuard

from ...ir.builder import Builder
from ...ir.func import Func
from ...ir.tensor import Checkpoint
from ...ir.values import AnyValue, Op, replace
from ..copying import inline_apart

Waits = Mapping[Op, tuple[AnyValue, ...]]


def open_again(func: Func) -> Waits:
    """Put what checkpoints compute again in line; what its ops wait for."""
    waits: dict[Op, tuple[AnyValue, ...]] = {}
    for op in list(func.body):
        if _is_again(op):
            _open(op, (), waits)
    return waits


def _open(
    op: Checkpoint, outer: tuple[AnyValue, ...], waits: dict[Op, tuple[AnyValue, ...]]
) -> None:
    """Put one body in line, and those inside of it."""
    block, before = op.block, op.previous
    assert block is not None
    own = (*outer, *op.arguments)
    made = inline_apart(op.body, op.arguments, Builder(block, op, op.location))
    copies = [*_between(block.first if before is None else before.next, op)]
    for old, new in zip(op.outputs, made, strict=True):
        new.name = new.name or old.name
        replace(old, new)  # by which ops that follow may merge with others
    op.detach()
    for each in copies:
        if _is_again(each):
            _open(each, own, waits)
        else:
            waits[each] = own


def _between(first: Op | None, end: Op) -> Iterator[Op]:
    """The ops from one up to another."""
    while first is not None and first is not end:
        yield first
        first = first.next


def _is_again(op: Op) -> TypeGuard[Checkpoint]:
    return isinstance(op, Checkpoint) and op.again
