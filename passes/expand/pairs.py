"""Pairs of ops that are less work together than one after the other.

Comes in: a loop func. Goes out: the same func, in which each such pair is arithmetic.
Never: a pair of which somebody else needs the first result; nor one of narrow floats, each op of
which rounds.
"""

from ...ir.builder import Builder
from ...ir.dtypes import f32, f64
from ...ir.func import Func
from ...ir.loop import Binary, BinaryKind, Constant, Unary, UnaryKind
from ...ir.values import AnyValue, Op, replace
from ..machine import Machine
from .exponentials import exp
from .terms import Sheet, Term


def join_pairs(func: Func, machine: Machine) -> None:
    """Replace 1 + tanh, of which every GELU has one."""
    for op in list(func.walk()):
        tanh = _tanh_beside_one(op)
        if tanh is not None and op.block is not None:
            sheet = Sheet(Builder(op.block, op, op.location), machine.fused)
            made = one_plus_tanh(sheet.term(tanh.x)).value
            made.name = op.results[0].name
            replace(op.results[0], made)
            op.detach()
            tanh.detach()


def one_plus_tanh(x: Term) -> Term:
    """2 / (1 + e^-2x): also good near -1, where the sum leaves little; 0 if e^-2x is infinite."""
    return 2.0 / (exp(x * -2.0) + 1.0)


def _tanh_beside_one(op: Op) -> Unary | None:
    """The tanh that an op adds to 1, if only this op needs it."""
    if not isinstance(op, Binary) or op.kind is not BinaryKind.ADD:
        return None
    for one, other in ((op.left, op.right), (op.right, op.left)):
        tanh = other.op
        if isinstance(tanh, Unary) and tanh.kind is UnaryKind.TANH and _is_one(one):
            return tanh if list(other.uses) == [op] and other.dtype in (f32, f64) else None
    return None


def _is_one(value: AnyValue) -> bool:
    return isinstance(value.op, Constant) and bool((value.op.value.array == 1).all())
