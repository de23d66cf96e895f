"""The chain of `ir_chain` as xDSL would have it: eight kinds of op of its arith dialect."""

import time

# pyright: reportMissingImports=false
# xDSL is an extra (`peers`), which a plain checkout does not have.
from xdsl.context import Context
from xdsl.dialects import arith, builtin, func
from xdsl.dialects.builtin import Builtin, ModuleOp, f32
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.parser import Parser
from xdsl.pattern_rewriter import PatternRewriter, PatternRewriteWalker, RewritePattern

BINARY = (
    arith.AddfOp,
    arith.MulfOp,
    arith.SubfOp,
    arith.MaximumfOp,
    arith.DivfOp,
    arith.MinimumfOp,
    arith.MaxnumfOp,
)


def chain(ops: int) -> tuple[ModuleOp, float]:
    """A module with a func of `ops` ops, and the seconds that building them took."""
    type_ = builtin.TensorType(f32, [128, 64])
    block = Block(arg_types=[type_, type_])
    x: SSAValue = block.args[0]
    y = block.args[1]
    start = time.perf_counter()
    for place in range(ops):
        kind = place % 8
        op: Operation = BINARY[kind](x, y) if kind < len(BINARY) else arith.NegfOp(x)
        block.add_op(op)
        x = op.results[0]
    took = time.perf_counter() - start
    block.add_op(func.ReturnOp(x))
    body = func.FuncOp("chain", ([type_, type_], [type_]), Region(block))
    return ModuleOp([body]), took


def parse(text: str) -> ModuleOp:
    """Read a module."""
    context = Context()
    for dialect in (Builtin, arith.Arith, func.Func):
        context.load_dialect(dialect)
    return Parser(context, text).parse_module()


class Never(RewritePattern):
    """Matches nothing."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        return


class Drop(RewritePattern):
    """f(x, …) -> x"""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if isinstance(op, (*BINARY, arith.NegfOp)):
            rewriter.replace_op(op, [], [op.operands[0]])


def walk(module: ModuleOp) -> None:
    """Ask one pattern about every op."""
    PatternRewriteWalker(Never()).rewrite_module(module)


def unwrap(module: ModuleOp) -> None:
    """Replace every op of the chain by its first operand."""
    PatternRewriteWalker(Drop()).rewrite_module(module)
