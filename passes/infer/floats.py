"""Which traits the results of arithmetic on floats have, op by op.

Comes in: an op, and the traits of what it reads. Goes out: those that its result certainly has.
Never: a promise about the last bits of a function, which are a target's own.
"""

from collections.abc import Callable

from ...ir import tensor
from ...ir.dtypes import FLOATS, f8e4m3
from ...ir.tensor.elementwise import Unary
from ...ir.values import Op
from ..simplify.conversions import holds_all
from .bounds import LIMITS, least_of
from .known import Known, Rule
from .traits import (
    ALL,
    FINITE,
    NONE,
    NOT_NEGATIVE,
    NOT_POSITIVE,
    NUMBER,
    PLUS,
    SIGNS,
    WHOLE,
    Traits,
    computed,
    counted,
    have,
)


def keeps(kept: Traits, added: Traits = NONE) -> Callable[[Unary, Known], Traits]:
    """The rule of a function of one float: these traits of x stay, and these come."""

    def rule(op: Unary, known: Known) -> Traits:
        return known.traits(op.x) & kept | added

    return rule


def bounded(kept: Traits) -> Callable[[Unary, Known], Traits]:
    """The rule of a function that stays finite at infinities: these traits of x stay."""

    def rule(op: Unary, known: Known) -> Traits:
        traits = known.traits(op.x)
        return traits & kept | (FINITE if have(traits, NUMBER) else NONE)

    return rule


def sign(op: tensor.Sign, known: Known) -> Traits:
    """-1, a zero, 1 or NaN."""
    return bounded(SIGNS)(op, known) | WHOLE


def periodic(op: Unary, known: Known) -> Traits:
    """sin(x) and cos(x), which are NaN for infinite x."""
    return FINITE if have(known.traits(op.x), FINITE) else NONE


def exponential(op: Unary, known: Known) -> Traits:
    """exp(x) is 0.0 at least."""
    return PLUS | computed(known.traits(op.x) & NUMBER, op.result.dtype)


def square_root(op: tensor.SquareRoot, known: Known) -> Traits:
    """√x, which is NaN for negative x and -0.0 for -0.0."""
    traits = known.traits(op.x)
    kept = FINITE | PLUS if have(traits, NOT_NEGATIVE) else NONE
    return traits & kept | NOT_NEGATIVE


def reciprocal_square_root(op: tensor.ReciprocalSquareRoot, known: Known) -> Traits:
    """1 / √x, which is -inf for -0.0."""
    traits = known.traits(op.x)
    if not have(traits, PLUS):
        return NONE
    return PLUS | computed(traits & NUMBER, op.result.dtype)


def negate(op: tensor.Negate, known: Known) -> Traits:
    """-x"""
    traits = known.traits(op.x)
    mirrored = NOT_POSITIVE if have(traits, NOT_NEGATIVE) else NONE
    if have(traits, NOT_POSITIVE):
        mirrored |= NOT_NEGATIVE
    return traits & (FINITE | WHOLE) | mirrored


def add(op: tensor.Add, known: Known) -> Traits:
    """x + y, which is NaN for opposite infinities, and -0.0 only for two of them."""
    left, right = known.traits(op.left), known.traits(op.right)
    shared = left & right
    traits = shared & (NOT_NEGATIVE | NOT_POSITIVE | WHOLE)
    if have(shared, NOT_NEGATIVE):
        traits |= (left | right) & PLUS
    one_side = have(shared, NUMBER) and shared & (NOT_NEGATIVE | NOT_POSITIVE)
    if one_side or have(shared, FINITE):
        traits |= NUMBER
    return computed(traits, op.left.dtype)


def subtract(op: tensor.Subtract, known: Known) -> Traits:
    """x - y, which is NaN for equal infinities."""
    shared = known.traits(op.left) & known.traits(op.right)
    traits = shared & WHOLE | (NUMBER if have(shared, FINITE) else NONE)
    return computed(traits, op.left.dtype)


def multiply(op: tensor.Multiply, known: Known) -> Traits:
    """x * y, which is NaN for zero and infinity, and never negative for a square."""
    left, right = known.traits(op.left), known.traits(op.right)
    if op.left is op.right:
        return computed(left & (NUMBER | WHOLE) | PLUS, op.left.dtype)
    shared = left & right
    traits = shared & (PLUS | WHOLE) | (NUMBER if have(shared, FINITE) else NONE)
    return computed(traits, op.left.dtype)


def divide(op: tensor.Divide, known: Known) -> Traits:
    """x / y, which is negative for -0.0 under anything."""
    traits = known.traits(op.right)
    return known.traits(op.left) & PLUS if have(traits, PLUS) else NONE


def remainder(op: tensor.Remainder, known: Known) -> Traits:
    """What is left of x, with its sign."""
    left, right = known.traits(op.left), known.traits(op.right)
    return left & SIGNS | left & right & WHOLE


def maximum(op: tensor.Maximum, known: Known) -> Traits:
    """The larger, which is 0.0 of both zeros, or NaN."""
    left, right = known.traits(op.left), known.traits(op.right)
    return left & right | (left | right) & PLUS


def minimum(op: tensor.Minimum, known: Known) -> Traits:
    """The smaller, or NaN."""
    left, right = known.traits(op.left), known.traits(op.right)
    return left & right | (left | right) & NOT_POSITIVE


def hypot(op: tensor.Hypot, known: Known) -> Traits:
    """√(x² + y²)"""
    shared = known.traits(op.left) & known.traits(op.right)
    return PLUS | computed(shared & NUMBER, op.left.dtype)


def copy_sign(op: tensor.CopySign, known: Known) -> Traits:
    """x with the sign bit of y."""
    left, right = known.traits(op.left), known.traits(op.right)
    signed = PLUS if have(right, PLUS | NUMBER) else NONE
    return left & (FINITE | WHOLE) | signed


def cast(op: tensor.Cast, known: Known) -> Traits:
    """x rounded: too large a number becomes infinite, or NaN in f8e4m3."""
    source, dtype = op.x.dtype, op.dtype
    if source in LIMITS:
        return counted(*known.range(op.x), dtype)
    if source not in FLOATS:
        return NONE
    traits = known.traits(op.x)
    if holds_all(dtype, source):
        return traits
    return traits & (SIGNS | WHOLE | (NONE if dtype is f8e4m3 else NUMBER))


def iota(op: tensor.Iota, known: Known) -> Traits:
    """0, 1, 2, … rounded."""
    return counted(0, op.shape[op.axis] - 1, op.dtype)


def largest(op: tensor.ReduceMaximum, known: Known) -> Traits:
    """Elements of x; of none, -inf, or the least number of f8e4m3."""
    return known.traits(op.x) & (ALL if _some(op) else NUMBER | NOT_POSITIVE | WHOLE)


def smallest(op: tensor.ReduceMinimum, known: Known) -> Traits:
    """Elements of x; of none, inf, or the greatest number of f8e4m3."""
    return known.traits(op.x) & (ALL if _some(op) else NUMBER | PLUS | WHOLE)


def _some(op: tensor.ReduceMaximum | tensor.ReduceMinimum) -> bool:
    return all(least_of(op.x.shape[axis]) > 0 for axis in op.axes)


def total(op: tensor.ReduceSum | tensor.CumulativeSum, known: Known) -> Traits:
    """A sum, which is NaN where infinities of both signs meet on the way; of none, 0."""
    traits = known.traits(op.x)
    kept = PLUS | WHOLE | (NUMBER if have(traits, NOT_NEGATIVE) else NONE)
    return computed(traits & kept, op.x.dtype)


ROUNDED = keeps(FINITE | SIGNS, WHOLE)
ODD = bounded(SIGNS)

FLOAT_RULES: dict[type[Op], Rule] = {
    tensor.Negate: negate,
    tensor.Absolute: keeps(FINITE | WHOLE, PLUS),
    tensor.Sign: sign,
    tensor.Floor: ROUNDED,
    tensor.Ceil: ROUNDED,
    tensor.Truncate: ROUNDED,
    tensor.RoundEven: ROUNDED,
    tensor.Exp: exponential,
    tensor.Exp2: exponential,
    tensor.Cosh: exponential,
    tensor.SquareRoot: square_root,
    tensor.ReciprocalSquareRoot: reciprocal_square_root,
    tensor.CubeRoot: keeps(FINITE | SIGNS),
    tensor.Sin: periodic,
    tensor.Cos: periodic,
    tensor.Arctan: ODD,
    tensor.Tanh: ODD,
    tensor.Erf: ODD,
    tensor.Add: add,
    tensor.Subtract: subtract,
    tensor.Multiply: multiply,
    tensor.Divide: divide,
    tensor.Remainder: remainder,
    tensor.Maximum: maximum,
    tensor.Minimum: minimum,
    tensor.Hypot: hypot,
    tensor.CopySign: copy_sign,
    tensor.Cast: cast,
    tensor.Iota: iota,
    tensor.ReduceMaximum: largest,
    tensor.ReduceMinimum: smallest,
    tensor.ReduceSum: total,
    tensor.CumulativeSum: total,
}
