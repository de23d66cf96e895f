"""Quotients by what stays: a long loop divides once, and then multiplies.

Comes in: a loop func, and whether x y + z is rounded once. Goes out: the same func, in which a loop
of many rounds that divides vectors of f32 by what it does not change has a twin that does not: with
r = 1 / y, made before it, q = x r is off by an ulp or two, and q + (x - q y) r is the number that
division gives (docs/math.md says why).
Never: another number; where a quotient is small, infinite or NaN, the twin divides. Nor a twin of a
loop in which divisions take no time, beside other work, or of a tail, which runs once.
"""

from collections.abc import Sequence

from ...ir import loop
from ...ir.builder import Builder
from ...ir.dtypes import f32
from ...ir.func import Func
from ...ir.loop import Binary, BinaryKind, For, LoadMasked, StoreMasked, Unary
from ...ir.types import Vec
from ...ir.values import replace
from ..copying import repeat
from ..machine import Machine
from .table import BINARY, UNARY
from .terms import Sheet, Term, any_lane, branch, moved, multiply_add, select, stated

FUNCTIONS = UNARY.keys() | BINARY.keys()
"""Kinds that become many ops."""
BESIDE = 8
"""Beside so many other ops for each division a twin gains: an Intel core divides 16 numbers in the
time of 16 other ops, of which the twin needs six."""
ROUNDS = 16
"""From so many rounds on: where there are fewer, rows overlap, and divisions with other work."""
DENOMINATORS = (2.0**-40, 2.0**40)
"""Those of which the twin makes use."""
LEAST = 2.0**-86
"""The least numerator: an ulp of its quotient times one of the denominator is a number still, and
the quotient itself no denormal."""


def share_reciprocals(func: Func, machine: Machine) -> None:
    """Give each loop that divides over and over by the same a twin that multiplies."""
    if not machine.fused:
        return
    for op in list(func.walk()):
        if isinstance(op, For) and op.block is not None and _gains(op):
            sheet = Sheet(Builder(op.block, op, op.location), machine.fused)
            for old, new in zip(op.results, _either(sheet, op), strict=True):
                new.value.name = old.name
                replace(old, new.value)
            op.detach()


def _gains(op: For) -> bool:
    """Whether divisions are much of what a loop does."""
    if any(each.regions or isinstance(each, LoadMasked | StoreMasked) for each in op.body):
        return False
    work = [each for each in op.body if isinstance(each, loop.Computation) and not each.is_constant]
    if any(isinstance(each, Unary | Binary) and each.kind in FUNCTIONS for each in work):
        return False
    count = len(_quotients(op))
    return count > 0 and len(work) - count <= BESIDE * count


def _quotients(op: For) -> list[Binary]:
    """The divisions of vectors of f32 by what comes from outside."""
    return [
        each
        for each in op.body
        if isinstance(each, Binary)
        and each.kind is BinaryKind.DIVIDE
        and each.left.dtype is f32
        and isinstance(each.left.type, Vec)
        and each.right.block is not op.body
    ]


def _either(sheet: Sheet, op: For) -> Sequence[Term]:
    """What the loop makes, which stays as it is where it has few rounds."""
    low, high, step = (sheet.term(each) for each in (op.lower, op.upper, op.step))
    is_long = high - low > step * ROUNDS
    known = stated(is_long)
    if known is not None:
        return _twin(sheet, op) if known else _same(sheet, op)
    return branch(is_long, lambda own: _twin(own, op), lambda own: _same(own, op))


def _same(sheet: Sheet, op: For) -> Sequence[Term]:
    """The loop as it is."""
    return [sheet.term(result) for result in _copy(sheet.builder, op).results]


def _twin(sheet: Sheet, op: For) -> Sequence[Term]:
    """The loop with multiplications, behind one division for each denominator."""
    known = {each.right: _denominator(sheet.term(each.right)) for each in _quotients(op)}
    twin = _copy(sheet.builder, op)
    for each in _quotients(twin):
        here = Builder(twin.body, each.next, each.location)
        each.detach()  # first, for an equal one stands in the branch for what is uncertain
        own = Sheet(here, sheet.fused)
        y, reciprocal, least = (moved(term, own) for term in known[each.right])
        replace(each.result, _quotient(own.term(each.left), y, reciprocal, least).value)
    return [sheet.term(result) for result in twin.results]


def _copy(builder: Builder, op: For) -> For:
    repeat([op], builder, {})
    made = builder.block.last if builder.before is None else builder.before.previous
    assert isinstance(made, For)
    return made


def _denominator(y: Term) -> tuple[Term, Term, Term]:
    """y, 1 / y, and the least quotient that is certain."""
    low, high = DENOMINATORS
    reciprocal = 1.0 / y
    usual = (abs(y) >= low) & (abs(y) <= high)
    return y, reciprocal, select(usual, abs(reciprocal) * LEAST, float("inf"))


def _quotient(x: Term, y: Term, reciprocal: Term, least: Term) -> Term:
    """x / y, by division if a quotient is less than the least that is certain."""
    near = x * reciprocal
    found = multiply_add(-multiply_add(near, y, -x), reciprocal, near)
    uncertain = any_lane(~(abs(found) >= least))
    return branch(
        uncertain, lambda own: [moved(x, own) / moved(y, own)], lambda own: [moved(found, own)]
    )[0]


__all__ = ["share_reciprocals"]
