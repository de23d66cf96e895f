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
from .exponentials import exp_beside_one
from .terms import Sheet, Term, multiply_add


def join_pairs(func: Func, machine: Machine) -> None:
    """Replace 1 + tanh, of which every GELU has one, and what is multiplied by it."""
    for op in list(func.walk()):
        tanh = _tanh_beside_one(op)
        if tanh is not None:
            reciprocal = reciprocal_of_one_plus_tanh(_before(op, machine).term(tanh.x))
            product = _product_of(op)
            if product is None:
                _replace(op, 1.0 / reciprocal)
            else:
                factor = product.right if product.left is op.results[0] else product.left
                _replace(product, _before(product, machine).term(factor) / reciprocal)
                op.detach()
            tanh.detach()


def _before(op: Op, machine: Machine) -> Sheet:
    """Where what stands for an op is written."""
    assert op.block is not None
    return Sheet(Builder(op.block, op, op.location), machine.fused)


def _replace(op: Op, made: Term) -> None:
    made.value.name = op.results[0].name
    replace(op.results[0], made.value)
    op.detach()


def reciprocal_of_one_plus_tanh(x: Term) -> Term:
    """(1 + e^-2x) / 2: also good near -1, where the sum leaves little; infinite if e^-2x is."""
    return multiply_add(exp_beside_one(x, -2.0), 0.5, 0.5)


def _product_of(op: Op) -> Binary | None:
    """The product with another number, in no further loop, if that is all that an op is for."""
    uses = list(op.results[0].uses)
    product = uses[0] if len(uses) == 1 else None
    if not isinstance(product, Binary) or product.kind is not BinaryKind.MULTIPLY:
        return None
    return product if product.block is op.block and product.left is not product.right else None


def _tanh_beside_one(op: Op) -> Unary | None:
    """The tanh that an op adds to 1, if only this op needs it."""
    if not isinstance(op, Binary) or op.kind is not BinaryKind.ADD or op.block is None:
        return None
    for one, other in ((op.left, op.right), (op.right, op.left)):
        tanh = other.op
        if isinstance(tanh, Unary) and tanh.kind is UnaryKind.TANH and _is_one(one):
            return tanh if list(other.uses) == [op] and other.dtype in (f32, f64) else None
    return None


def _is_one(value: AnyValue) -> bool:
    return isinstance(value.op, Constant) and bool((value.op.value.array == 1).all())
