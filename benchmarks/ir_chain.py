"""The chain that `ir_costs` measures: eight kinds of op, each reading the one before."""

import time

from brimstone.frontend.caller import caller
from brimstone.ir import tensor
from brimstone.ir.builder import Builder
from brimstone.ir.dtypes import f32
from brimstone.ir.func import Func, Module, Return
from brimstone.ir.rewriter import Rewriter, Rules, rewrite
from brimstone.ir.types import Tensor
from brimstone.ir.values import AnyValue

SHAPE = (128, 64)
KINDS = (
    tensor.Add,
    tensor.Multiply,
    tensor.Tanh,
    tensor.Subtract,
    tensor.Permute,
    tensor.Maximum,
    tensor.Flip,
    tensor.Exp,
)


def chain(ops: int) -> tuple[Module, float]:
    """A func of `ops` ops, and the seconds that building them took."""
    type_ = Tensor(SHAPE, f32)
    func = Func("chain", [type_, type_])
    builder = Builder(func.body)
    emit = builder.emit
    x, y = func.arguments
    start = time.perf_counter()
    for _ in range(ops // len(KINDS)):
        builder.location = caller(0)
        x = emit(tensor.Add, x, y)
        builder.location = caller(0)
        x = emit(tensor.Multiply, x, y)
        builder.location = caller(0)
        x = emit(tensor.Tanh, x)
        builder.location = caller(0)
        x = emit(tensor.Subtract, x, y)
        builder.location = caller(0)
        x = emit(tensor.Permute, x, (0, 1))
        builder.location = caller(0)
        x = emit(tensor.Maximum, x, y)
        builder.location = caller(0)
        x = emit(tensor.Flip, x, (1,))
        builder.location = caller(0)
        x = emit(tensor.Exp, x)
    took = time.perf_counter() - start
    builder.emit_all(Return, [x])
    return Module([func]), took


@rewrite(*KINDS)
def keep(op: tensor.TensorOp, rewriter: Rewriter) -> AnyValue | None:
    """f(x) -> f(x), which is no match"""
    return None


@rewrite(*KINDS)
def drop(op: tensor.TensorOp, rewriter: Rewriter) -> AnyValue | None:
    """f(x, …) -> x"""
    return op.operands[0]


def never() -> Rules:
    """One rule for each op, which never matches."""
    return Rules(keep)


def unwrap() -> Rules:
    """One rule, which matches every op of the chain."""
    return Rules(drop)
