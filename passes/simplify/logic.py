"""Rewrites of bit operations, shifts, comparisons and selections.

Comes in: ops on integers and bools, comparisons of anything, selections. Goes out: fewer of them.
Never: `x == x -> true` on floats, where NaN is not equal to itself.
"""

from ...ir import tensor
from ...ir.dtypes import BITS, FLOATS, INTEGERS, UNSIGNED, Kind, boolean
from ...ir.rewriter import Rewriter, Rules, rewrite
from ...ir.tensor.elementwise import Binary
from ...ir.values import AnyValue
from .patterns import all_ones, full, is_all_ones, is_number, is_zero, made_by, uniform


@rewrite(tensor.BitAnd, tensor.BitOr)
def bits_with_itself(op: Binary, rewriter: Rewriter) -> AnyValue | None:
    """x & x -> x, x | x -> x"""
    return op.left if op.left is op.right else None


@rewrite(tensor.BitXor)
def exclusive_or_itself(op: tensor.BitXor, rewriter: Rewriter) -> AnyValue | None:
    """x ^ x -> 0"""
    zero = False if op.left.dtype is boolean else 0
    return full(rewriter, zero, op.left.type) if op.left is op.right else None


@rewrite(tensor.BitAnd)
def and_with_constant(op: tensor.BitAnd, rewriter: Rewriter) -> AnyValue | None:
    """x & 0 -> 0, x & ~0 -> x"""
    for one, other in ((op.left, op.right), (op.right, op.left)):
        if is_zero(other):
            return other
        if is_all_ones(other):
            return one
    return None


@rewrite(tensor.BitOr)
def or_with_constant(op: tensor.BitOr, rewriter: Rewriter) -> AnyValue | None:
    """x | 0 -> x, x | ~0 -> ~0"""
    for one, other in ((op.left, op.right), (op.right, op.left)):
        if is_zero(other):
            return one
        if is_all_ones(other):
            return other
    return None


@rewrite(tensor.BitXor)
def exclusive_or_with_constant(op: tensor.BitXor, rewriter: Rewriter) -> AnyValue | None:
    """x ^ 0 -> x, x ^ ~0 -> ~x"""
    for one, other in ((op.left, op.right), (op.right, op.left)):
        if is_zero(other):
            return one
        if is_all_ones(other):
            return rewriter.emit(tensor.BitNot, one)
    return None


@rewrite(tensor.BitAnd, tensor.BitOr)
def absorb(op: Binary, rewriter: Rewriter) -> AnyValue | None:
    """x & (x | y) -> x, x | (x & y) -> x"""
    inner = tensor.BitOr if isinstance(op, tensor.BitAnd) else tensor.BitAnd
    for one, other in ((op.left, op.right), (op.right, op.left)):
        if isinstance(other.owner, inner) and one in other.owner.operands:
            return one
    return None


@rewrite(tensor.BitAnd, tensor.BitOr)
def bits_with_complement(op: Binary, rewriter: Rewriter) -> AnyValue | None:
    """x & ~x -> 0, x | ~x -> ~0"""
    for one, other in ((op.left, op.right), (op.right, op.left)):
        inner = made_by(other, tensor.BitNot)
        if inner is not None and inner.x is one:
            dtype = one.dtype
            nothing = False if dtype is boolean else 0
            number = nothing if isinstance(op, tensor.BitAnd) else all_ones(dtype)
            return full(rewriter, number, one.type)
    return None


@rewrite(tensor.BitNot)
def complement_twice(op: tensor.BitNot, rewriter: Rewriter) -> AnyValue | None:
    """~~x -> x"""
    inner = made_by(op.x, tensor.BitNot)
    return inner.x if inner is not None else None


@rewrite(tensor.BitNot)
def complement_of_comparison(op: tensor.BitNot, rewriter: Rewriter) -> AnyValue | None:
    """~(x == y) -> x != y and back; ~(x < y) -> y <= x and back, on integers"""
    inner = op.x.owner
    if isinstance(inner, tensor.Equal | tensor.NotEqual):
        rewriter.covers(inner)
        opposite = tensor.NotEqual if isinstance(inner, tensor.Equal) else tensor.Equal
        return rewriter.emit(opposite, inner.left, inner.right)
    if not isinstance(inner, tensor.Less | tensor.LessEqual) or inner.left.dtype not in BITS:
        return None
    rewriter.covers(inner)
    opposite = tensor.LessEqual if isinstance(inner, tensor.Less) else tensor.Less
    return rewriter.emit(opposite, inner.right, inner.left)


@rewrite(tensor.ShiftLeft, tensor.ShiftRight)
def shift_by_nothing(op: Binary, rewriter: Rewriter) -> AnyValue | None:
    """x << 0 -> x, x >> 0 -> x"""
    return op.left if is_zero(op.right) else None


@rewrite(tensor.ShiftLeft, tensor.ShiftRight)
def shift_twice(op: Binary, rewriter: Rewriter) -> AnyValue | None:
    """(x << 2) << 3 -> x << 5, and so to the right, while the sum is below the width"""
    inner = op.left.owner
    outer_amount = uniform(op.right)
    if not isinstance(inner, op.__class__) or outer_amount is None:
        return None
    inner_amount = uniform(inner.right)
    if inner_amount is None or min(inner_amount.value.real, outer_amount.value.real) < 0:
        return None
    total = int(inner_amount.value.real + outer_amount.value.real)
    if total >= op.left.dtype.bits:
        return None
    rewriter.covers(inner)
    return rewriter.emit(op.__class__, inner.left, full(rewriter, total, op.left.type))


@rewrite(tensor.Equal, tensor.LessEqual)
def compare_with_itself(op: tensor.Equal | tensor.LessEqual, rewriter: Rewriter) -> AnyValue | None:
    """x == x -> true, x <= x -> true, where x cannot be NaN"""
    exact = op.left is op.right and op.left.dtype in BITS
    return full(rewriter, True, op.result.type) if exact else None


@rewrite(tensor.Less)
def less_than_itself(op: tensor.Less, rewriter: Rewriter) -> AnyValue | None:
    """x < x -> false"""
    return full(rewriter, False, op.result.type) if op.left is op.right else None


@rewrite(tensor.NotEqual)
def differ_from_itself(op: tensor.NotEqual, rewriter: Rewriter) -> AnyValue | None:
    """x != x -> is_nan(x) on floats, false on integers and bools"""
    if op.left is not op.right:
        return None
    if op.left.dtype in FLOATS:
        return rewriter.emit(tensor.IsNan, op.left)
    exact = op.left.dtype in BITS
    return full(rewriter, False, op.result.type) if exact else None


@rewrite(tensor.Equal, tensor.NotEqual)
def compare_with_truth(op: tensor.Equal | tensor.NotEqual, rewriter: Rewriter) -> AnyValue | None:
    """p == true -> p, p == false -> ~p, and so for !="""
    for one, other in ((op.left, op.right), (op.right, op.left)):
        stated = uniform(other) if other.dtype is boolean else None
        if stated is not None:
            same = stated.value is isinstance(op, tensor.Equal)
            return one if same else rewriter.emit(tensor.BitNot, one)
    return None


@rewrite(tensor.Less, tensor.LessEqual)
def compare_unsigned_with_zero(
    op: tensor.Less | tensor.LessEqual, rewriter: Rewriter
) -> AnyValue | None:
    """x < 0 -> false, 0 <= x -> true, on unsigned integers"""
    if op.left.dtype not in UNSIGNED:
        return None
    if isinstance(op, tensor.Less):
        return full(rewriter, False, op.result.type) if is_zero(op.right) else None
    return full(rewriter, True, op.result.type) if is_zero(op.left) else None


@rewrite(tensor.IsNan, tensor.IsFinite)
def ask_integer_about_nan(
    op: tensor.IsNan | tensor.IsFinite, rewriter: Rewriter
) -> AnyValue | None:
    """is_nan(cast(i)) -> false and is_finite(cast(i)) -> true, for an integer i that fits"""
    inner = made_by(op.x, tensor.Cast)
    source = inner.x.dtype if inner is not None else None
    # The largest 8-bit integers fit every float but f8; wider ones may become infinite in f16.
    fits = source is boolean or (
        source in INTEGERS and op.x.dtype.bits > (16 if source.bits > 8 else 8)
    )
    if source is None or not fits:
        return None
    return full(rewriter, isinstance(op, tensor.IsFinite), op.result.type)


@rewrite(tensor.Select)
def select_same(op: tensor.Select, rewriter: Rewriter) -> AnyValue | None:
    """select(p, x, x) -> x, also where the second one is a constant for derivatives"""
    constant = made_by(op.on_false, tensor.StopGradient)
    same = op.on_false if constant is None else constant.x
    return op.on_true if op.on_true is same else None


@rewrite(tensor.Select)
def select_known(op: tensor.Select, rewriter: Rewriter) -> AnyValue | None:
    """select(true, x, y) -> x, select(false, x, y) -> y"""
    if is_number(op.predicate, True):
        return op.on_true
    return op.on_false if is_number(op.predicate, False) else None


@rewrite(tensor.Select)
def select_complement(op: tensor.Select, rewriter: Rewriter) -> AnyValue | None:
    """select(~p, x, y) -> select(p, y, x)"""
    inner = made_by(op.predicate, tensor.BitNot)
    if inner is None:
        return None
    rewriter.covers(inner)
    return rewriter.emit(tensor.Select, inner.x, op.on_false, op.on_true)


@rewrite(tensor.Select)
def select_truth(op: tensor.Select, rewriter: Rewriter) -> AnyValue | None:
    """select(p, true, false) -> p, select(p, false, true) -> ~p"""
    if op.on_true.dtype.kind is not Kind.BOOL:
        return None
    if is_number(op.on_true, True) and is_number(op.on_false, False):
        return op.predicate
    if is_number(op.on_true, False) and is_number(op.on_false, True):
        return rewriter.emit(tensor.BitNot, op.predicate)
    return None


@rewrite(tensor.Select)
def select_again(op: tensor.Select, rewriter: Rewriter) -> AnyValue | None:
    """select(p, select(p, x, y), z) -> select(p, x, z), and so on the other side"""
    on_true, on_false = op.on_true, op.on_false
    inner = made_by(on_true, tensor.Select)
    if inner is not None and inner.predicate is op.predicate:
        rewriter.covers(inner)
        on_true = inner.on_true
    inner = made_by(on_false, tensor.Select)
    if inner is not None and inner.predicate is op.predicate:
        rewriter.covers(inner)
        on_false = inner.on_false
    if on_true is op.on_true and on_false is op.on_false:
        return None
    return rewriter.emit(tensor.Select, op.predicate, on_true, on_false)


LOGIC = Rules(
    bits_with_itself, exclusive_or_itself, and_with_constant, or_with_constant,
    exclusive_or_with_constant, absorb, bits_with_complement, complement_twice,
    complement_of_comparison, shift_by_nothing, shift_twice, compare_with_itself,
    less_than_itself, differ_from_itself, compare_with_truth, compare_unsigned_with_zero,
    ask_integer_about_nan, select_same, select_known, select_complement, select_truth,
    select_again,
)  # fmt: skip
