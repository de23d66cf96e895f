"""Rewrites of ops whose outcome ranges and traits decide, and is the same for every element.

Comes in: comparisons, extremes, divisions, any op on integers. Goes out: constants, and operands.
Never: a bit that differs; the signs of zeros count.
"""

from ...ir import tensor
from ...ir.dtypes import BITS, FLOATS, INTEGERS
from ...ir.rewriter import Rules
from ...ir.tensor import TensorOp
from ...ir.tensor.arg_reduce import ArgReduction
from ...ir.tensor.compare import Comparison, Property
from ...ir.tensor.elementwise import Binary, Elementwise
from ...ir.tensor.reduce import Reduction
from ...ir.tensor.scan import Scan
from ...ir.values import AnyValue
from ..simplify.patterns import full
from .bounds import at_most, least_of, less
from .traits import NOT_POSITIVE, NUMBER, PLUS, have
from .using import Knowing, inference

COMPUTES = (
    Elementwise, Reduction, Scan, ArgReduction, tensor.Select, tensor.Cast, tensor.Iota,
    tensor.Gather, tensor.Scatter, tensor.Concat, tensor.Pad,
)  # fmt: skip
"""The ops of one result but for views, dims and constants, which are left to `simplify`."""


@inference(Comparison)
def comparison_decided(op: Comparison, rewriter: Knowing) -> AnyValue | None:
    """x < y -> true, or false, where it is the same for all that x and y may be"""
    return _only(op, rewriter)


@inference(Property)
def test_decided(op: Property, rewriter: Knowing) -> AnyValue | None:
    """is_nan(x) -> false where x is a number, is_finite(x) -> true where it is finite"""
    return _only(op, rewriter)


@inference(*COMPUTES)
def only_value(op: TensorOp, rewriter: Knowing) -> AnyValue | None:
    """f(x) -> 3, where it is an integer or a bool that can only be one"""
    return None if isinstance(op, Comparison | Property) else _only(op, rewriter)


def _only(op: TensorOp, rewriter: Knowing) -> AnyValue | None:
    (result,) = op.results
    if result.type.dtype not in BITS:
        return None
    only = rewriter.known.range(result).only
    if only is None:
        return None
    stated = only if result.type.dtype in INTEGERS else bool(only)
    return full(rewriter, stated, result.type)


@inference(tensor.Maximum, tensor.Minimum)
def extreme_decided(op: Binary, rewriter: Knowing) -> AnyValue | None:
    """max(x, y) -> x, on integers, where y is never larger; and so for min"""
    if op.left.dtype not in BITS:
        return None
    left, right = rewriter.known.range(op.left), rewriter.known.range(op.right)
    larger, smaller = None, None
    if at_most(right.high, left.low):
        larger, smaller = op.left, op.right
    elif at_most(left.high, right.low):
        larger, smaller = op.right, op.left
    return larger if isinstance(op, tensor.Maximum) else smaller


@inference(tensor.Maximum, tensor.Minimum)
def extreme_by_sign(op: Binary, rewriter: Knowing) -> AnyValue | None:
    """max(x, y) -> x, on floats, where x has no sign and y is 0 at most; and min(x, y) -> y"""
    if op.left.dtype not in FLOATS:
        return None
    for one, other in ((op.left, op.right), (op.right, op.left)):
        above, below = rewriter.known.traits(one), rewriter.known.traits(other)
        if have(above, PLUS) and have(below, NOT_POSITIVE):
            kept, lost = (one, below) if isinstance(op, tensor.Maximum) else (other, above)
            # A NaN on the side that goes would be the result.
            return kept if have(lost, NUMBER) else None
    return None


@inference(tensor.Divide)
def divide_smaller(op: tensor.Divide, rewriter: Knowing) -> AnyValue | None:
    """x / y -> 0, on integers, where x is nearer to 0 than y"""
    return full(rewriter, 0, op.left.type) if _is_nearer(op.left, op.right, rewriter) else None


@inference(tensor.Remainder)
def remainder_of_smaller(op: tensor.Remainder, rewriter: Knowing) -> AnyValue | None:
    """x rem y -> x, on integers, where x is nearer to 0 than y"""
    return op.left if _is_nearer(op.left, op.right, rewriter) else None


def _is_nearer(one: AnyValue, other: AnyValue, rewriter: Knowing) -> bool:
    """Whether `one` is nearer to 0 than `other`, which then is positive."""
    if one.dtype not in INTEGERS:
        return False
    near, far = rewriter.known.range(one), rewriter.known.range(other)
    above = least_of(near.low) >= 0 or less(-near.low, far.low)
    return above and less(near.high, far.low)


DECISIONS = Rules(
    comparison_decided, test_decided, only_value, extreme_decided, extreme_by_sign,
    divide_smaller, remainder_of_smaller,
)  # fmt: skip
