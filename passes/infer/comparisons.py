"""Which comparisons and tests have the same outcome for every element: `1..1`, `0..0`, or `0..1`.

Comes in: a comparison, and what is known of its sides. Goes out: the range of its result.
Never: an order of what may be NaN, but where NaN has the same outcome.
"""

from ...ir import tensor
from ...ir.dtypes import FLOATS
from ...ir.values import Op
from .bounds import LIMITS, Range, at_most, less
from .known import Known, Rule
from .traits import FINITE, NOT_NEGATIVE, NOT_POSITIVE, NUMBER, have

ALWAYS, NEVER, PERHAPS = Range(1, 1), Range(0, 0), Range(0, 1)


def is_less(op: tensor.Less, known: Known) -> Range:
    """left < right"""
    if op.left.dtype in FLOATS:
        return _less_float(op, known)
    left, right = known.range(op.left), known.range(op.right)
    if less(left.high, right.low):
        return ALWAYS
    return NEVER if at_most(right.high, left.low) else PERHAPS


def is_less_or_equal(op: tensor.LessEqual, known: Known) -> Range:
    """left <= right"""
    if op.left.dtype in FLOATS:
        return _less_or_equal_float(op, known)
    left, right = known.range(op.left), known.range(op.right)
    if at_most(left.high, right.low):
        return ALWAYS
    return NEVER if less(right.high, left.low) else PERHAPS


def _less_float(op: tensor.Less, known: Known) -> Range:
    left, right = known.traits(op.left), known.traits(op.right)
    return NEVER if have(left, NOT_NEGATIVE) and have(right, NOT_POSITIVE) else PERHAPS


def _less_or_equal_float(op: tensor.LessEqual, known: Known) -> Range:
    left, right = known.traits(op.left), known.traits(op.right)
    ordered = op.left is op.right or (have(left, NOT_POSITIVE) and have(right, NOT_NEGATIVE))
    return ALWAYS if ordered and have(left & right, NUMBER) else PERHAPS


def is_equal(op: tensor.Equal | tensor.NotEqual, known: Known) -> Range:
    """left == right"""
    if op.left.dtype not in LIMITS:
        same = op.left is op.right and have(known.traits(op.left), NUMBER)
        return ALWAYS if same else PERHAPS
    left, right = known.range(op.left), known.range(op.right)
    if at_most(left.high, right.low) and at_most(right.high, left.low):
        return ALWAYS
    return NEVER if _apart(left, right) else PERHAPS


def _apart(left: Range, right: Range) -> bool:
    return less(left.high, right.low) or less(right.high, left.low)


def is_different(op: tensor.NotEqual, known: Known) -> Range:
    """left != right"""
    found = is_equal(op, known)
    return {ALWAYS: NEVER, NEVER: ALWAYS}.get(found, found)


def is_nan(op: tensor.IsNan, known: Known) -> Range:
    """Whether x is NaN."""
    return NEVER if have(known.traits(op.x), NUMBER) else PERHAPS


def is_finite(op: tensor.IsFinite, known: Known) -> Range:
    """Whether x is neither NaN nor infinite."""
    return ALWAYS if have(known.traits(op.x), FINITE) else PERHAPS


COMPARISONS: dict[type[Op], Rule] = {
    tensor.Less: is_less,
    tensor.LessEqual: is_less_or_equal,
    tensor.Equal: is_equal,
    tensor.NotEqual: is_different,
    tensor.IsNan: is_nan,
    tensor.IsFinite: is_finite,
}
