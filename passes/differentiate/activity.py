"""Which values of a loop change with others: those that may have a tangent.

Comes in: the body of a loop, and values that have tangents. Goes out: which carries have one at
some step.
Never: a change to the ops. A value that is said to change may have a tangent of zero all the same.
"""

from collections.abc import Collection, Sequence

from ...ir.dtypes import INEXACT
from ...ir.tensor import TensorOp
from ...ir.tensor.rules import no_tangent
from ...ir.values import AnyValue, Block, Op
from ..reads import depends


def changing_carries(
    body: Block, carries: Sequence[AnyValue], start: Sequence[bool], others: Collection[AnyValue]
) -> list[bool]:
    """Which carries of a loop may have a tangent at some step.

    `carries` are the arguments of the body that stand for them, `start` says which have a tangent
    at first, and `others` are the values with a tangent that the body is handed, or captures.
    """
    changing = list(start)
    while True:
        reached = {value for value, each in zip(carries, changing, strict=True) if each} | {*others}
        _spread(body, reached)
        yielded = body.terminator.operands[: len(carries)]
        after = [old or new in reached for old, new in zip(changing, yielded, strict=True)]
        if after == changing:
            return changing
        changing = after


def _spread(block: Block, reached: set[AnyValue]) -> None:
    """Add what the ops of a block make of the values reached, where it can have a tangent."""
    for op in block:
        if depends(op, reached) and not _is_still(op):
            reached.update([value for value in op.results if value.dtype in INEXACT])


def _is_still(op: Op) -> bool:
    """Whether no result of an op ever has a tangent."""
    return isinstance(op, TensorOp) and op.__class__.jvp is no_tangent
