"""Causal attention: a region that says -inf wherever a key comes after its query.

Comes in: a region of scores. Goes out: how far after its query a key may come, if the region says
so in the plain way: `select(column <= row + offset, score, -inf)`, perhaps among other masks. That
is a number, or an argument of the func, of which `numbers` says which a region's arguments are.
Places are counted in integers that do not wrap on the way.
Never: a guess; a mask that is written otherwise is read number by number.
"""

from collections.abc import Sequence

import numpy as np

from ....ir import tensor
from ....ir.dtypes import i32, i64
from ....ir.func import Func
from ....ir.values import AnyValue, Block, Op
from ...simplify.patterns import uniform

ROWS, COLUMNS = 2, 3
COUNTERS = (i32, i64)
FARTHEST = 1 << 30
"""Further than any two places are from each other; so much more, and a counter does not wrap."""
Offset = AnyValue | int


def diagonal(func: Func, region: Block, numbers: Sequence[int | None]) -> Offset | None:
    """The offset beyond which all scores are -inf; None where a region does not say so."""
    value = region.terminator.operands[0]
    while isinstance(value.op, tensor.Select):
        number = uniform(value.op.on_false)
        if number is None or not np.isneginf(number.array):
            return None
        found = _limit(value.op.predicate)
        if found is not None:
            return _outside(func, region, numbers, found)
        value = value.op.on_true
    return None


def chosen_by(func: Func, region: Block, numbers: Sequence[int | None], op: Op) -> Offset | None:
    """The offset, if an op chooses by nothing but whether a key comes after its query."""
    if not isinstance(op, tensor.Select) or isinstance(op.predicate.op, tensor.BitAnd):
        return None
    found = _limit(op.predicate)
    return None if found is None else _outside(func, region, numbers, found)


def _outside(
    func: Func, region: Block, numbers: Sequence[int | None], found: Offset
) -> Offset | None:
    """The argument of the func that a region's value is."""
    if isinstance(found, int):
        return found
    number = numbers[found.index] if found.block is region else found.index
    return None if number is None else func.arguments[number]


def _limit(predicate: AnyValue) -> Offset | None:
    """The offset beyond which a predicate is false."""
    op = predicate.op
    if isinstance(op, tensor.BitAnd):
        left = _limit(op.left)
        return left if left is not None else _limit(op.right)
    if not isinstance(op, tensor.LessEqual) or not _counts(op.left, COLUMNS):
        return None
    if _counts(op.right, ROWS):
        return 0
    found = op.right.op
    if not isinstance(found, tensor.Add):
        return None
    for row, offset in ((found.left, found.right), (found.right, found.left)):
        if _counts(row, ROWS):
            return _scalar(offset)
    return None


def _counts(value: AnyValue, axis: int) -> bool:
    counts = isinstance(value.op, tensor.Iota) and value.op.axis == axis
    return counts and value.dtype in COUNTERS


def _scalar(value: AnyValue) -> Offset | None:
    """The one number that a value is everywhere."""
    number = uniform(value)
    if number is not None:
        return int(number.array) if abs(int(number.array)) < FARTHEST else None
    spread = value.op
    if value.dtype is i64 and isinstance(spread, tensor.Broadcast) and not spread.x.type.shape:
        return spread.x if spread.x.op is None else None
    return None
