"""Rewrites of ops that change nothing of what they get, because of what that is.

Comes in: ops, and what is known of their operands. Goes out: the operands themselves, or less.
Never: a bit that differs: the signs of zeros count, and that of a NaN where the op says what it is.
"""

from ...ir import tensor
from ...ir.dtypes import FLOATS, INTEGERS, DType
from ...ir.rewriter import Rules
from ...ir.tensor.elementwise import Binary, Unary
from ...ir.values import AnyValue
from ..simplify.conversions import SIGNIFICAND
from ..simplify.patterns import full, is_number, made_by, uniform
from .bounds import LIMITS, Range, least_of, less, most_of, numbers
from .traits import FINITE, NUMBER, PLUS, WHOLE, have
from .using import Knowing, inference


@inference(tensor.Absolute)
def absolute_of_positive(op: tensor.Absolute, rewriter: Knowing) -> AnyValue | None:
    """|x| -> x, where x is an integer of 0 or more, or a number without a sign"""
    known = rewriter.known
    if op.x.dtype in INTEGERS:
        return op.x if least_of(known.range(op.x).low) >= 0 else None
    return op.x if have(known.traits(op.x), PLUS | NUMBER) else None


@inference(tensor.Absolute)
def absolute_of_negative(op: tensor.Absolute, rewriter: Knowing) -> AnyValue | None:
    """|x| -> -x, on integers of 0 or less"""
    if op.x.dtype not in INTEGERS or most_of(rewriter.known.range(op.x).high) > 0:
        return None
    return rewriter.emit(tensor.Negate, op.x)


@inference(tensor.BitAnd)
def mask_of_all_bits(op: tensor.BitAnd, rewriter: Knowing) -> AnyValue | None:
    """x & 255 -> x, where x lies in 0..255, and so for each number of ones"""
    for one, other in ((op.left, op.right), (op.right, op.left)):
        mask = uniform(other)
        if mask is None or one.dtype not in INTEGERS:
            continue
        ones = int(mask.value.real)
        low, high = numbers(rewriter.known.range(one))
        if ones & (ones + 1) == 0 and low >= 0 and high <= ones:
            return one
    return None


@inference(tensor.Floor, tensor.Ceil, tensor.Truncate, tensor.RoundEven)
def round_whole(op: Unary, rewriter: Knowing) -> AnyValue | None:
    """floor(x) -> x, where x is whole; and so for ceil, truncate, round_even"""
    return op.x if have(rewriter.known.traits(op.x), WHOLE) else None


@inference(tensor.Cast)
def cast_through(op: tensor.Cast, rewriter: Knowing) -> AnyValue | None:
    """cast(cast(x)) -> cast(x), of integers that the dtype between holds exactly"""
    inner = made_by(op.x, tensor.Cast)
    if inner is None or inner.x.dtype not in INTEGERS:
        return None
    low, high = numbers(rewriter.known.range(inner.x))
    # From a float, an integer saturates; from an integer, it wraps.
    through_float = inner.dtype in FLOATS and op.dtype in INTEGERS
    if not _holds(inner.dtype, low, high) or (through_float and not _holds(op.dtype, low, high)):
        return None
    rewriter.covers(inner)
    return inner.x if inner.x.dtype is op.dtype else rewriter.emit(tensor.Cast, inner.x, op.dtype)


def _holds(dtype: DType, low: int, high: int) -> bool:
    """Whether a dtype has each of the integers exactly."""
    if dtype in FLOATS:
        exact = 1 << SIGNIFICAND[dtype]
        return -exact <= low and high <= exact
    if dtype not in INTEGERS:
        return False
    least, most = numbers(LIMITS[dtype])
    return least <= low and high <= most


@inference(tensor.Add)
def add_zero(op: tensor.Add, rewriter: Knowing) -> AnyValue | None:
    """x + 0.0 -> x, where x is never -0.0"""
    for one, other in ((op.left, op.right), (op.right, op.left)):
        if _is_float_zero(other) and have(rewriter.known.traits(one), PLUS):
            return one
    return None


@inference(tensor.Multiply)
def multiply_by_zero(op: tensor.Multiply, rewriter: Knowing) -> AnyValue | None:
    """x * 0.0 -> 0.0, where x is finite and has no sign"""
    for one, other in ((op.left, op.right), (op.right, op.left)):
        if _is_float_zero(other) and have(rewriter.known.traits(one), PLUS | FINITE):
            return other
    return None


def _is_float_zero(value: AnyValue) -> bool:
    return value.dtype in FLOATS and is_number(value, 0.0)


@inference(tensor.Subtract)
def subtract_itself(op: tensor.Subtract, rewriter: Knowing) -> AnyValue | None:
    """x - x -> 0.0, on floats, where x is finite"""
    if op.left is not op.right or not have(rewriter.known.traits(op.left), FINITE):
        return None
    return full(rewriter, 0.0, op.left.type)


@inference(tensor.ShiftRight)
def shift_back(op: tensor.ShiftRight, rewriter: Knowing) -> AnyValue | None:
    """(x << k) >> k -> x, where no bit of x is lost"""
    inner = made_by(op.left, tensor.ShiftLeft)
    if inner is None or inner.right is not op.right:
        return None
    first, last = numbers(rewriter.known.range(op.right))
    if not 0 <= first <= last < op.left.dtype.bits:
        return None
    scale = Range(1 << first, 1 << last)
    return inner.left if _fits(rewriter.known.range(inner.left), scale, op.left.dtype) else None


@inference(tensor.Divide)
def divide_product(op: tensor.Divide, rewriter: Knowing) -> AnyValue | None:
    """(x * y) / y -> x, on integers, where nothing wraps and y is not 0"""
    least, most = numbers(rewriter.known.range(op.right)) if op.left.dtype in INTEGERS else (0, 0)
    return _other_factor(op.left, op.right, rewriter) if least > 0 or most < 0 else None


@inference(tensor.Remainder)
def remainder_of_product(op: tensor.Remainder, rewriter: Knowing) -> AnyValue | None:
    """(x * y) rem y -> 0, on integers, where nothing wraps"""
    found = _other_factor(op.left, op.right, rewriter)
    return full(rewriter, 0, op.left.type) if found is not None else None


@inference(tensor.Divide)
def divide_place(op: tensor.Divide, rewriter: Knowing) -> AnyValue | None:
    """(x * y + z) / y -> x, on integers of 0 or more, where z is below y and nothing wraps"""
    found = _row_and_column(op, rewriter)
    return found[0] if found is not None else None


@inference(tensor.Remainder)
def remainder_of_place(op: tensor.Remainder, rewriter: Knowing) -> AnyValue | None:
    """(x * y + z) rem y -> z, on integers of 0 or more, where z is below y and nothing wraps"""
    found = _row_and_column(op, rewriter)
    return found[1] if found is not None else None


def _row_and_column(op: Binary, rewriter: Knowing) -> tuple[AnyValue, AnyValue] | None:
    """x and z, where the dividend is x * y + z, and y the divisor."""
    inner = made_by(op.left, tensor.Add)
    for one, other in () if inner is None else (inner.operands, inner.operands[::-1]):
        row = _other_factor(one, op.right, rewriter)
        if row is None:
            continue
        known = rewriter.known
        x, y, z = known.range(row), known.range(op.right), known.range(other)
        inside = least_of(x.low) >= 0 and least_of(z.low) >= 0 and less(z.high, y.low)
        if inside and most_of(x.high) * most_of(y.high) + most_of(z.high) <= _last(op):
            return row, other
    return None


def _last(op: Binary) -> int:
    return most_of(LIMITS[op.left.dtype].high)


def _other_factor(product: AnyValue, factor: AnyValue, rewriter: Knowing) -> AnyValue | None:
    """x, where the product is x * y of integers and does not wrap, and y is `factor`."""
    inner = made_by(product, tensor.Multiply)
    if inner is None or product.dtype not in INTEGERS or factor not in inner.operands:
        return None
    other = inner.left if inner.right is factor else inner.right
    known = rewriter.known
    return other if _fits(known.range(other), known.range(factor), product.dtype) else None


def _fits(one: Range, other: Range, dtype: DType) -> bool:
    """Whether the product of an element of each never wraps."""
    corners = [x * y for x in numbers(one) for y in numbers(other)]
    low, high = numbers(LIMITS[dtype])
    return low <= min(corners) and max(corners) <= high


IDENTITIES = Rules(
    absolute_of_positive, absolute_of_negative, mask_of_all_bits, round_whole, cast_through,
    add_zero, multiply_by_zero, subtract_itself, shift_back, divide_product, remainder_of_product,
    divide_place, remainder_of_place,
)  # fmt: skip
