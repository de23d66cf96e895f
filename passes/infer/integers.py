"""Where the elements of integers and booleans lie, op by op.

Comes in: an op, and the ranges of what it reads. Goes out: the range of its result, which is all of
the dtype where a number may wrap.
Never: a look at more than one op.
"""

from math import prod

from ...ir import tensor
from ...ir.dims import Size, floor_div
from ...ir.dtypes import FLOATS, boolean
from ...ir.tensor.arg_reduce import ArgReduction
from ...ir.values import Op
from .bounds import (
    LIMITS,
    Range,
    below,
    fitted,
    joined,
    larger,
    least_of,
    most_of,
    numbers,
    product,
    smaller,
    spanned,
)
from .known import Known, Rule
from .traits import NOT_NEGATIVE, NOT_POSITIVE, have


def iota(op: tensor.Iota, known: Known) -> Range:
    """0, 1, 2, … below the size of the axis."""
    return below(op.shape[op.axis], op.dtype)


def dim(op: tensor.Dim, known: Known) -> Range:
    """The size itself."""
    size = op.x.shape[op.axis]
    return fitted(size, size, op.result.dtype)


def place(op: ArgReduction, known: Known) -> Range:
    """A place along the axis, which is not empty and whose last place fits: else the op fails."""
    return below(op.x.shape[op.axis], op.dtype)


def cast(op: tensor.Cast, known: Known) -> Range:
    """The same numbers, where the dtype holds them; floats saturate."""
    if op.x.dtype in FLOATS:
        return _from_float(op, known)
    if op.x.dtype not in LIMITS:
        return LIMITS[op.dtype]
    found = known.range(op.x)
    return _truth(found) if op.dtype is boolean else fitted(*found, op.dtype)


def _from_float(op: tensor.Cast, known: Known) -> Range:
    low, high = LIMITS[op.dtype]
    traits = known.traits(op.x)
    if op.dtype is boolean:
        return LIMITS[boolean]
    return Range(
        0 if have(traits, NOT_NEGATIVE) else low, 0 if have(traits, NOT_POSITIVE) else high
    )


def _truth(found: Range) -> Range:
    """Which numbers are not 0."""
    least, most = numbers(found)
    return Range(int(least > 0 or most < 0), int(found.only != 0))


def negate(op: tensor.Negate, known: Known) -> Range:
    """The range mirrored at 0."""
    low, high = known.range(op.x)
    return fitted(-high, -low, op.result.dtype)


def absolute(op: tensor.Absolute, known: Known) -> Range:
    """The range as it is, mirrored, or both."""
    found = known.range(op.x)
    least, most = numbers(found)
    if least >= 0:
        return found
    if most <= 0:
        return fitted(-found.high, -found.low, op.result.dtype)
    return fitted(0, max(-least, most), op.result.dtype)


def sign(op: tensor.Sign, known: Known) -> Range:
    """-1, 0 or 1."""
    least, most = numbers(known.range(op.x))
    return Range(max(min(least, 1), -1), max(min(most, 1), -1))


def add(op: tensor.Add, known: Known) -> Range:
    """The sums of the ends."""
    left, right = known.range(op.left), known.range(op.right)
    return fitted(left.low + right.low, left.high + right.high, op.left.dtype)


def subtract(op: tensor.Subtract, known: Known) -> Range:
    """The differences of opposite ends."""
    left, right = known.range(op.left), known.range(op.right)
    return fitted(left.low - right.high, left.high - right.low, op.left.dtype)


def multiply(op: tensor.Multiply, known: Known) -> Range:
    """Between the products of the ends; a square is not negative."""
    left, right = known.range(op.left), known.range(op.right)
    found = product(left, right, op.left.dtype)
    least = least_of(found.low)
    if op.left is op.right and least < 0 and found is not LIMITS[op.left.dtype]:
        return Range(0, found.high)
    return found


def divide(op: tensor.Divide, known: Known) -> Range:
    """Nearer to 0 than the dividend; x / 0 is 0."""
    left, right = known.range(op.left), known.range(op.right)
    least, most = numbers(left)
    if least < 0 or least_of(right.low) < 0:
        return spanned((-least, least, most, -most), op.left.dtype)
    first, last = numbers(right)
    low = least // max(last, 1) if first > 0 else 0
    return fitted(low, floor_div(left.high, max(first, 1)), op.left.dtype)


def remainder(op: tensor.Remainder, known: Known) -> Range:
    """Nearer to 0 than the dividend and the divisor, with the dividend's sign; x rem 0 is 0."""
    left, right = known.range(op.left), known.range(op.right)
    least, most = numbers(left)
    if least >= 0 and least_of(right.low) >= 0:
        return fitted(0, smaller(left.high, larger(right.high - 1, 0)), op.left.dtype)
    first, last = numbers(right)
    largest = max(abs(first), abs(last), 1) - 1
    return fitted(min(max(least, -largest), 0), max(min(most, largest), 0), op.left.dtype)


def maximum(op: tensor.Maximum, known: Known) -> Range:
    """The larger of both ends."""
    left, right = known.range(op.left), known.range(op.right)
    return fitted(larger(left.low, right.low), larger(left.high, right.high), op.left.dtype)


def minimum(op: tensor.Minimum, known: Known) -> Range:
    """The smaller of both ends."""
    left, right = known.range(op.left), known.range(op.right)
    return fitted(smaller(left.low, right.low), smaller(left.high, right.high), op.left.dtype)


def bit_and(op: tensor.BitAnd, known: Known) -> Range:
    """Not more than a side that is not negative."""
    sides = [known.range(side) for side in op.operands]
    highs = [high for low, high in sides if least_of(low) >= 0]
    if not highs:
        return LIMITS[op.left.dtype]
    return fitted(0, smaller(highs[0], highs[-1]), op.left.dtype)


def bit_or(op: tensor.BitOr, known: Known) -> Range:
    """Not less than either side, and of no more bits, where neither is negative."""
    left, right = known.range(op.left), known.range(op.right)
    return _of_bits(larger(left.low, right.low), left, right, op)


def bit_xor(op: tensor.BitXor, known: Known) -> Range:
    """Of no more bits than the sides, where neither is negative."""
    return _of_bits(0, known.range(op.left), known.range(op.right), op)


def _of_bits(low: Size, left: Range, right: Range, op: tensor.BitOr | tensor.BitXor) -> Range:
    if min(least_of(left.low), least_of(right.low)) < 0:
        return LIMITS[op.left.dtype]
    most = max(most_of(left.high), most_of(right.high), 0)
    return fitted(low, (1 << most.bit_length()) - 1, op.left.dtype)


def bit_not(op: tensor.BitNot, known: Known) -> Range:
    """The range mirrored in its dtype: -1 - x, or the greatest - x."""
    low, high = known.range(op.x)
    least, most = numbers(LIMITS[op.result.dtype])
    return fitted(least + most - high, least + most - low, op.result.dtype)


def shift_left(op: tensor.ShiftLeft, known: Known) -> Range:
    """Times a power of two, for amounts below the width."""
    first, last = numbers(known.range(op.right))
    if not 0 <= first <= last < op.left.dtype.bits:
        return LIMITS[op.left.dtype]
    return product(known.range(op.left), Range(1 << first, 1 << last), op.left.dtype)


def shift_right(op: tensor.ShiftRight, known: Known) -> Range:
    """Divided by a power of two, rounded down; an amount that is no amount leaves the signs."""
    found, width = known.range(op.left), op.left.dtype.bits
    first, last = numbers(known.range(op.right))
    if not 0 <= first <= last < width:
        first, last = 0, width
    least, most = numbers(found)
    if least >= 0:
        return fitted(least >> last, floor_div(found.high, 1 << first), op.left.dtype)
    return spanned((x >> by for x in (least, most) for by in (first, last)), op.left.dtype)


def bit_count(op: tensor.CountOnes | tensor.CountLeadingZeros, known: Known) -> Range:
    """Not more than the width."""
    return Range(0, op.x.dtype.bits)


def extreme(op: tensor.ReduceMaximum | tensor.ReduceMinimum, known: Known) -> Range:
    """Elements of x; of none, the least or the greatest of the dtype."""
    found = known.range(op.x)
    if all(least_of(op.x.shape[axis]) > 0 for axis in op.axes):
        return found
    low, high = LIMITS[op.x.dtype]
    end = low if isinstance(op, tensor.ReduceMaximum) else high
    return joined(found, Range(end, end))


def total(op: tensor.ReduceSum, known: Known) -> Range:
    """The ends, as often as there are elements."""
    low, high = known.range(op.x)
    count = prod(op.x.shape[axis] for axis in op.axes)
    return fitted(low * count, high * count, op.x.dtype)


def running_total(op: tensor.CumulativeSum, known: Known) -> Range:
    """Between once and as often as there are elements along the axis."""
    found, count = known.range(op.x), op.x.shape[op.axis]
    least, most = numbers(found)
    low = found.low if least >= 0 else least * count
    high = found.high * count if least_of(found.high) >= 0 else max(most, 0) * count
    return fitted(low, high, op.x.dtype)


INTEGERS: dict[type[Op], Rule] = {
    tensor.Iota: iota,
    tensor.Dim: dim,
    tensor.ArgMaximum: place,
    tensor.ArgMinimum: place,
    tensor.Cast: cast,
    tensor.Negate: negate,
    tensor.Absolute: absolute,
    tensor.Sign: sign,
    tensor.Add: add,
    tensor.Subtract: subtract,
    tensor.Multiply: multiply,
    tensor.Divide: divide,
    tensor.Remainder: remainder,
    tensor.Maximum: maximum,
    tensor.Minimum: minimum,
    tensor.BitAnd: bit_and,
    tensor.BitOr: bit_or,
    tensor.BitXor: bit_xor,
    tensor.BitNot: bit_not,
    tensor.ShiftLeft: shift_left,
    tensor.ShiftRight: shift_right,
    tensor.CountOnes: bit_count,
    tensor.CountLeadingZeros: bit_count,
    tensor.ReduceMaximum: extreme,
    tensor.ReduceMinimum: extreme,
    tensor.ReduceSum: total,
    tensor.CumulativeSum: running_total,
}
