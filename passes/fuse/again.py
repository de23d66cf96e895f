"""What checkpoints compute again, on the way back, apart from what was computed before.

Comes in: a func that is to be fused. Goes out: the same, in which the bodies of such checkpoints
stand in line; and for each of their ops, the values that it waits for: all that the checkpoint
takes, the gradients that have come so far among them.
Never: one op in the place of two equal ones, whose result would be kept until it is wanted again.
"""

from collections.abc import Mapping
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
    block, before, after = op.block, op.previous, op.next
    assert block is not None
    own = (*outer, *op.arguments)
    made = inline_apart(op.body, op.arguments, Builder(block, op, op.location))
    for old, new in zip(op.outputs, made, strict=True):
        new.name = new.name or old.name
        replace(old, new)
    op.detach()
    each = block.first if before is None else before.next
    while each is not None and each is not after:
        following = each.next
        if _is_again(each):
            _open(each, own, waits)
        else:
            waits[each] = own
        each = following


def _is_again(op: Op) -> TypeGuard[Checkpoint]:
    return isinstance(op, Checkpoint) and op.again
