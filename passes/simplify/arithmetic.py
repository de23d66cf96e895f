"""Rewrites of arithmetic that change no bit of any result, infinities and signed zeros included.

Comes in: elementwise arithmetic. Goes out: less of it. NaNs stay where they are; their payloads
and signs are no part of the meaning.
Never: `x + 0 -> x` on floats (-0.0 + 0.0 is 0.0), `x * 0 -> 0` on floats, or reassociation.
"""

import math

from ...ir import tensor
from ...ir.dtypes import COMPLEXES, FLOATS, INTEGERS, Kind
from ...ir.payloads import Number
from ...ir.rewriter import Rewriter, Rules, rewrite
from ...ir.tensor.elementwise import Binary, Unary
from ...ir.values import AnyValue
from .patterns import full, is_greatest, is_least, is_number, is_zero, made_by, uniform

WHOLE = (tensor.Floor, tensor.Ceil, tensor.Truncate, tensor.RoundEven)


@rewrite(tensor.Multiply)
def multiply_by_one(op: tensor.Multiply, rewriter: Rewriter) -> AnyValue | None:
    """x * 1 -> x"""
    if is_number(op.right, 1):
        return op.left
    return op.right if is_number(op.left, 1) else None


@rewrite(tensor.Multiply)
def multiply_by_minus_one(op: tensor.Multiply, rewriter: Rewriter) -> AnyValue | None:
    """x * -1 -> -x"""
    for one, other in ((op.left, op.right), (op.right, op.left)):
        if is_number(other, -1):
            return rewriter.emit(tensor.Negate, one)
    return None


@rewrite(tensor.Multiply)
def multiply_by_two(op: tensor.Multiply, rewriter: Rewriter) -> AnyValue | None:
    """x * 2 -> x + x"""
    for one, other in ((op.left, op.right), (op.right, op.left)):
        if is_number(other, 2):
            return rewriter.emit(tensor.Add, one, one)
    return None


@rewrite(tensor.Multiply)
def multiply_integer_by_zero(op: tensor.Multiply, rewriter: Rewriter) -> AnyValue | None:
    """x * 0 -> 0, on integers"""
    if op.left.dtype not in INTEGERS:
        return None
    return next((side for side in op.operands if is_zero(side)), None)


@rewrite(tensor.Multiply)
def multiply_negated(op: tensor.Multiply, rewriter: Rewriter) -> AnyValue | None:
    """(-x) * (-y) -> x * y"""
    left, right = made_by(op.left, tensor.Negate), made_by(op.right, tensor.Negate)
    if left is None or right is None or op.left.dtype in COMPLEXES:
        return None
    rewriter.covers(left, right)
    return rewriter.emit(tensor.Multiply, left.x, right.x)


@rewrite(tensor.Divide)
def divide_by_one(op: tensor.Divide, rewriter: Rewriter) -> AnyValue | None:
    """x / 1 -> x"""
    return op.left if is_number(op.right, 1) else None


@rewrite(tensor.Divide)
def divide_negated(op: tensor.Divide, rewriter: Rewriter) -> AnyValue | None:
    """(-x) / (-y) -> x / y, on floats"""
    left, right = made_by(op.left, tensor.Negate), made_by(op.right, tensor.Negate)
    if left is None or right is None or op.left.dtype not in FLOATS:
        return None
    rewriter.covers(left, right)
    return rewriter.emit(tensor.Divide, left.x, right.x)


@rewrite(tensor.Divide)
def divide_by_power_of_two(op: tensor.Divide, rewriter: Rewriter) -> AnyValue | None:
    """x / 2^k -> x * 2^-k, on floats that hold 2^-k exactly"""
    divisor = uniform(op.right)
    if divisor is None or op.left.dtype not in FLOATS:
        return None
    value = divisor.value.real
    if value == 0 or not math.isfinite(value) or abs(math.frexp(value)[0]) != 0.5:
        return None
    reciprocal = Number(1 / value, divisor.dtype)
    exact = math.isfinite(1 / value) and reciprocal.value == 1 / value
    if not exact or not _is_normal(reciprocal):
        return None
    return rewriter.emit(tensor.Multiply, op.left, full(rewriter, reciprocal, op.left.type))


def _is_normal(number: Number) -> bool:
    """Whether targets that flush subnormal constants to zero would still see this number."""
    smallest = {"f64": -1022, "f32": -126, "bf16": -126, "f16": -14, "f8e4m3": -6, "f8e5m2": -14}
    return abs(number.value) >= 2.0 ** smallest[number.dtype.name]


@rewrite(tensor.Add)
def add_nothing(op: tensor.Add, rewriter: Rewriter) -> AnyValue | None:
    """x + (-0.0) -> x on floats, x + 0 -> x on integers"""
    nothing = -0.0 if op.left.dtype in FLOATS else 0
    if is_number(op.right, nothing):
        return op.left
    return op.right if is_number(op.left, nothing) else None


@rewrite(tensor.Add)
def add_negated(op: tensor.Add, rewriter: Rewriter) -> AnyValue | None:
    """x + (-y) -> x - y"""
    for one, other in ((op.left, op.right), (op.right, op.left)):
        negate = made_by(other, tensor.Negate)
        if negate is not None:
            rewriter.covers(negate)
            return rewriter.emit(tensor.Subtract, one, negate.x)
    return None


@rewrite(tensor.Subtract)
def subtract_nothing(op: tensor.Subtract, rewriter: Rewriter) -> AnyValue | None:
    """x - 0 -> x"""
    return op.left if is_number(op.right, 0) else None


@rewrite(tensor.Subtract)
def subtract_negated(op: tensor.Subtract, rewriter: Rewriter) -> AnyValue | None:
    """x - (-y) -> x + y"""
    negate = made_by(op.right, tensor.Negate)
    if negate is None:
        return None
    rewriter.covers(negate)
    return rewriter.emit(tensor.Add, op.left, negate.x)


@rewrite(tensor.Subtract)
def subtract_itself(op: tensor.Subtract, rewriter: Rewriter) -> AnyValue | None:
    """x - x -> 0, on integers"""
    same = op.left is op.right and op.left.dtype in INTEGERS
    return full(rewriter, 0, op.left.type) if same else None


@rewrite(tensor.Negate)
def negate_twice(op: tensor.Negate, rewriter: Rewriter) -> AnyValue | None:
    """-(-x) -> x"""
    inner = made_by(op.x, tensor.Negate)
    return inner.x if inner is not None else None


@rewrite(tensor.Absolute)
def absolute_of_sign_change(op: tensor.Absolute, rewriter: Rewriter) -> AnyValue | None:
    """|-x| -> |x| and ||x|| -> |x|"""
    again = made_by(op.x, tensor.Absolute)
    if again is not None:
        return again.result
    inner = made_by(op.x, tensor.Negate)
    if inner is None:
        return None
    rewriter.covers(inner)
    return rewriter.emit(tensor.Absolute, inner.x)


@rewrite(tensor.Sign)
def sign_twice(op: tensor.Sign, rewriter: Rewriter) -> AnyValue | None:
    """sign(sign(x)) -> sign(x)"""
    return op.x if made_by(op.x, tensor.Sign) is not None else None


@rewrite(*WHOLE)
def round_whole_number(op: Unary, rewriter: Rewriter) -> AnyValue | None:
    """floor(ceil(x)) -> ceil(x), and so for each pair of floor, ceil, truncate, round_even"""
    return op.x if isinstance(op.x.owner, WHOLE) else None


@rewrite(tensor.Power)
def power_of_one(op: tensor.Power, rewriter: Rewriter) -> AnyValue | None:
    """x ** 1 -> x"""
    return op.left if is_number(op.right, 1) else None


@rewrite(tensor.Power)
def power_of_zero(op: tensor.Power, rewriter: Rewriter) -> AnyValue | None:
    """x ** 0 -> 1"""
    return full(rewriter, 1, op.left.type) if is_number(op.right, 0) else None


@rewrite(tensor.Power)
def integer_power_of_two(op: tensor.Power, rewriter: Rewriter) -> AnyValue | None:
    """x ** 2 -> x * x, on integers"""
    matches = op.left.dtype in INTEGERS and is_number(op.right, 2)
    return rewriter.emit(tensor.Multiply, op.left, op.left) if matches else None


@rewrite(tensor.Maximum, tensor.Minimum)
def extreme_of_itself(op: Binary, rewriter: Rewriter) -> AnyValue | None:
    """max(x, x) -> x, min(x, x) -> x"""
    return op.left if op.left is op.right else None


@rewrite(tensor.Maximum, tensor.Minimum)
def extreme_with_limit(op: Binary, rewriter: Rewriter) -> AnyValue | None:
    """max(x, least) -> x, min(x, greatest) -> x"""
    limit = is_least if isinstance(op, tensor.Maximum) else is_greatest
    if limit(op.right):
        return op.left
    return op.right if limit(op.left) else None


@rewrite(tensor.Maximum, tensor.Minimum)
def extreme_again(op: Binary, rewriter: Rewriter) -> AnyValue | None:
    """max(max(x, y), y) -> max(x, y), and so for min"""
    for one, other in ((op.left, op.right), (op.right, op.left)):
        if isinstance(one.owner, op.__class__) and other in one.owner.operands:
            return one
    return None


@rewrite(tensor.Remainder)
def remainder_of_one(op: tensor.Remainder, rewriter: Rewriter) -> AnyValue | None:
    """x rem 1 -> 0, on integers"""
    integer = op.left.dtype.kind in (Kind.SIGNED, Kind.UNSIGNED)
    return full(rewriter, 0, op.left.type) if integer and is_number(op.right, 1) else None


ARITHMETIC = Rules(
    multiply_by_one, multiply_by_minus_one, multiply_by_two, multiply_integer_by_zero,
    multiply_negated, divide_by_one, divide_negated, divide_by_power_of_two, add_nothing,
    add_negated, subtract_nothing, subtract_negated, subtract_itself, negate_twice,
    absolute_of_sign_change, sign_twice, round_whole_number, power_of_one, power_of_zero,
    integer_power_of_two, extreme_of_itself, extreme_with_limit, extreme_again, remainder_of_one,
)  # fmt: skip
