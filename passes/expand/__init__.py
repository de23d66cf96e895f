"""`expand`: mathematics for machines that have none.

Comes in: a loop func. Goes out: the same func, changed in place, in which only ops are left that
machines have instructions for: transcendental functions have become polynomials, and arithmetic on
narrow floats has become arithmetic on f32. docs/math.md says how good the functions are.
Never: a call of a library, or an intermediate result that is kept wider than its dtype.
"""

from collections.abc import Callable, Mapping
from typing import Any

from ...ir.builder import Builder
from ...ir.dtypes import FLOATS, INTEGERS, f32
from ...ir.func import Func
from ...ir.loop import Binary, BinaryKind, Cast, Compare, FusedMultiplyAdd, Reduce, Unary, UnaryKind
from ...ir.values import Op, replace
from ..machine import Machine
from .narrow import NARROW, converted, copy_sign, with_other_sign, without_sign
from .pairs import join_pairs
from .powers import whole_power
from .quotients import share_reciprocals
from .table import BINARY, UNARY
from .terms import Sheet, Term

__all__ = ["expand"]


def expand(func: Func, machine: Machine) -> None:
    """Replace every op that machines have no instruction for."""
    join_pairs(func, machine)
    share_reciprocals(func, machine)
    for op in list(func.walk()):
        rule = RULES.get(op.__class__)
        if rule is None or op.block is None:
            continue
        made = rule(Sheet(Builder(op.block, op, op.location), machine.fused), op)
        if made is not None and made.value is not op.results[0]:
            made.value.name = made.value.name or op.results[0].name
            replace(op.results[0], made.value)
            op.detach()


def _unary(sheet: Sheet, op: Unary) -> Term | None:
    x = sheet.term(op.x)
    if x.dtype in NARROW:
        exact = SIGNS.get(op.kind)
        return exact(x) if exact else converted(_applied(op.kind, converted(x, f32)), x.dtype)
    return UNARY[op.kind](x) if op.kind in UNARY and x.dtype in FLOATS else None


def _applied(kind: UnaryKind, x: Term) -> Term:
    return UNARY[kind](x) if kind in UNARY else x.unary(kind)


def _binary(sheet: Sheet, op: Binary) -> Term | None:
    left, right, kind = sheet.term(op.left), sheet.term(op.right), op.kind
    if kind is BinaryKind.POWER and left.dtype in INTEGERS:
        return whole_power(left, right)
    if left.dtype not in NARROW or kind is BinaryKind.NEXT_AFTER:
        return BINARY[kind](left, right) if kind in BINARY and left.dtype in FLOATS else None
    if kind is BinaryKind.COPY_SIGN:
        return copy_sign(left, right)
    wide = converted(left, f32), converted(right, f32)
    found = BINARY[kind](*wide) if kind in BINARY else wide[0].binary(kind, wide[1])
    return converted(found, left.dtype)


def _fused(sheet: Sheet, op: FusedMultiplyAdd) -> Term | None:
    terms = [sheet.term(value) for value in op.operands]
    if terms[0].dtype not in NARROW:
        return None
    wide = [converted(term, f32).value for term in terms]
    return converted(sheet.term(sheet.builder.emit(FusedMultiplyAdd, *wide)), terms[0].dtype)


def _compare(sheet: Sheet, op: Compare) -> Term | None:
    left, right = sheet.term(op.left), sheet.term(op.right)
    if left.dtype not in NARROW:
        return None
    return converted(left, f32).compare(op.kind, converted(right, f32))


def _cast(sheet: Sheet, op: Cast) -> Term | None:
    x = sheet.term(op.x)
    same = x.dtype is op.dtype
    return None if same or not {x.dtype, op.dtype} & NARROW else converted(x, op.dtype)


def _reduce(sheet: Sheet, op: Reduce) -> Term | None:
    x = sheet.term(op.x)
    if x.dtype not in NARROW:
        return None
    wide = converted(x, f32).value
    return converted(sheet.term(sheet.builder.emit(Reduce, wide, kind=op.kind)), x.dtype)


SIGNS: Mapping[UnaryKind, Callable[[Term], Term]] = {
    UnaryKind.NEGATE: with_other_sign,
    UnaryKind.ABSOLUTE: without_sign,
}
RULES: Mapping[type[Op], Callable[[Sheet, Any], Term | None]] = {
    Unary: _unary,
    Binary: _binary,
    FusedMultiplyAdd: _fused,
    Compare: _compare,
    Cast: _cast,
    Reduce: _reduce,
}
