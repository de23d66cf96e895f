"""What is known of tensors whose elements are elements of others, whatever their dtype.

Comes in: constants, views, selections, gathers. Goes out: what all that they take from share.
Never: arithmetic.
"""

from collections.abc import Iterable
from functools import reduce

from ...ir import tensor
from ...ir.dtypes import BITS, FLOATS
from ...ir.payloads import Payload
from ...ir.tensor.indexing import Combiner, Outside
from ...ir.values import AnyValue, Op
from .bounds import Range
from .known import Fact, Known, Rule, either, unknown
from .traits import NONE, of_payload

PICKS = (Combiner.SET, Combiner.MINIMUM, Combiner.MAXIMUM)


def constant(op: tensor.Constant, known: Known) -> Fact:
    """What the program states."""
    return of_constant(op.value)


def moved(op: Op, known: Known) -> Fact:
    """Elements of the first operand, and no others."""
    return known[op.operands[0]]


def chosen(op: tensor.Select, known: Known) -> Fact:
    """Elements of either side."""
    return either(known[op.on_true], known[op.on_false])


def together(op: tensor.Concat, known: Known) -> Fact:
    """Elements of all operands."""
    return _shared(op.operands, known)


def padded(op: tensor.Pad, known: Known) -> Fact:
    """Elements of x, and the padding."""
    return either(known[op.x], of_constant(op.value))


def gathered(op: tensor.Gather, known: Known) -> Fact:
    """Elements of x, and zeros where that is asked for."""
    fact = known[op.x]
    # Of floats, 0.0 has every trait.
    if op.outside is not Outside.ZERO or isinstance(fact, int):
        return fact
    return either(fact, Range(0, 0))


def scattered(op: tensor.Scatter, known: Known) -> Fact:
    """Elements of x and of the updates, unless these are added or multiplied."""
    return _shared((op.x, op.updates), known) if op.combiner in PICKS else unknown(op.result.type)


def of_constant(payload: Payload) -> Fact:
    """What is certain of a constant."""
    if payload.dtype in FLOATS:
        return of_payload(payload)
    if payload.dtype not in BITS:
        return NONE
    array = payload.array
    return Range(int(array.min()), int(array.max())) if array.size else Range(0, 0)


def _shared(values: Iterable[AnyValue], known: Known) -> Fact:
    return reduce(either, [known[value] for value in values])


MOVES: dict[type[Op], Rule] = {
    tensor.Constant: constant,
    tensor.Reshape: moved,
    tensor.Permute: moved,
    tensor.Broadcast: moved,
    tensor.Flip: moved,
    tensor.StopGradient: moved,
    tensor.Slice: moved,
    tensor.CumulativeMaximum: moved,
    tensor.CumulativeMinimum: moved,
    tensor.Select: chosen,
    tensor.Concat: together,
    tensor.Pad: padded,
    tensor.Gather: gathered,
    tensor.Scatter: scattered,
}
