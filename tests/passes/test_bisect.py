"""Bisecting: the one change that is wrong is found among many that are right."""

import math
from dataclasses import dataclass

import pytest

from brimstone.ir import tensor
from brimstone.ir.func import Func
from brimstone.ir.parser import parse
from brimstone.ir.payloads import Number
from brimstone.ir.printer import print_module
from brimstone.ir.rewriter import Rewriter, Rules, apply, rewrite
from brimstone.ir.values import AnyValue, replace
from brimstone.passes.bisect import bisect
from brimstone.passes.context import Context
from brimstone.passes.dead import dead
from brimstone.passes.declare import pipeline_pass
from brimstone.passes.examine import Oracle, examine


@rewrite(tensor.Negate)
def twice_negated(op: tensor.Negate, rewriter: Rewriter) -> AnyValue | None:
    """--x -> x"""
    inner = op.x.op
    return inner.x if isinstance(inner, tensor.Negate) else None


@rewrite(tensor.Absolute)
def careless_absolute(op: tensor.Absolute, rewriter: Rewriter) -> AnyValue | None:
    """|tanh x| -> tanh x"""
    return op.x if isinstance(op.x.op, tensor.Tanh) else None


@pipeline_pass("algebra")
def algebra(func: Func, context: Context) -> None:
    """Rewrite, once wrongly."""
    apply(Rules(twice_negated, careless_absolute), func, context)


@pipeline_pass("sneaky")
def sneaky(func: Func, context: Context) -> None:
    """Change the func without asking the journal."""
    first = func.body.first
    if isinstance(first, tensor.Exp):
        replace(first.result, first.x)


@dataclass
class Trap:
    """What a pass of these tests does at a tanh: after it has noted the change, or before."""

    noted: bool

    def __call__(self, func: Func, context: Context) -> None:
        """Fail at a tanh."""
        for op in list(func.walk()):
            if isinstance(op, tensor.Negate | tensor.Tanh):
                if not self.noted and isinstance(op, tensor.Tanh) and not context.spent:
                    raise RuntimeError("caught")
                if not context.allow("trap", op):
                    return
                if isinstance(op, tensor.Tanh):
                    raise RuntimeError("caught")


PROGRAM = """
func @f<n: 1..64>(%x: tensor<[n], f32>) -> tensor<[n], f32> {
  %a = tensor.exp %x : tensor<[n], f32>
  %b = tensor.negate %a : tensor<[n], f32>
  %c = tensor.negate %b : tensor<[n], f32>
  %d = tensor.negate %x : tensor<[n], f32>
  %e = tensor.negate %d : tensor<[n], f32>
  %s = tensor.add %c, %e : tensor<[n], f32>
  %t = tensor.tanh %s : tensor<[n], f32>
  %u = tensor.absolute %t : tensor<[n], f32> at "model.py":12
  %v = tensor.negate %u : tensor<[n], f32>
  %w = tensor.negate %v : tensor<[n], f32>
  %unread = tensor.tanh %w : tensor<[n], f32>
  return %w
}
"""


def test_the_wrong_change_is_found() -> None:
    culprit = bisect(parse(PROGRAM), (dead, algebra))
    assert culprit is not None
    assert culprit.application is not None
    assert culprit.application.rule == "careless_absolute"
    assert culprit.application.op == "tensor.absolute"
    assert culprit.application.location == (("model.py", 12),)
    assert culprit.step == "algebra"
    assert (culprit.fuel, culprit.total) == (4, 5)
    assert culprit.failure.message.startswith("@f, n = ")


def test_the_diff_shows_that_change_only() -> None:
    culprit = bisect(parse(PROGRAM), (dead, algebra))
    assert culprit is not None
    lines = culprit.diff.splitlines()
    changed = [line.strip("+- ") for line in lines[2:] if line[0] in "+-"]
    assert lines[:2] == ["--- with 3 changes", "+++ with 4"]
    assert changed == [
        "%u = tensor.absolute %t : tensor<[n], f32>",
        "%v = tensor.negate %u : tensor<[n], f32>",
        "%v = tensor.negate %t : tensor<[n], f32>",
    ]


def test_its_fuel_is_where_right_turns_into_wrong() -> None:
    culprit = bisect(parse(PROGRAM), (dead, algebra))
    assert culprit is not None
    assert examine(parse(PROGRAM), (dead, algebra), culprit.fuel).failure is not None
    assert examine(parse(PROGRAM), (dead, algebra), culprit.fuel - 1).failure is None


@pytest.mark.parametrize("noted", [True, False])
def test_a_pass_that_raises(noted: bool) -> None:
    trap = pipeline_pass("trap")(Trap(noted))
    culprit = bisect(parse(PROGRAM), (trap,))
    assert culprit is not None
    assert culprit.fuel == 5
    assert culprit.step == "trap"
    assert culprit.failure.kind == "trap raises RuntimeError"
    assert (culprit.application is not None) == noted


def test_a_change_that_no_pass_notes_is_told_apart() -> None:
    culprit = bisect(parse(PROGRAM), (sneaky, dead))
    assert culprit is not None
    assert culprit.fuel == 0
    assert culprit.application is None
    assert culprit.failure.kind == "differs"


def test_nothing_wrong() -> None:
    assert bisect(parse(PROGRAM), (dead,)) is None


def test_a_tolerance_lets_small_differences_pass() -> None:
    @rewrite(tensor.Exp2)
    def by_exp(op: tensor.Exp2, rewriter: Rewriter) -> AnyValue:
        """exp2(x) -> exp(x log 2)"""
        log_two = rewriter.emit(tensor.Constant, Number(math.log(2), op.x.dtype))
        factor = rewriter.emit(tensor.Broadcast, log_two, shape=op.x.shape)
        return rewriter.emit(tensor.Exp, rewriter.emit(tensor.Multiply, op.x, factor))

    @pipeline_pass("loose")
    def loose(func: Func, context: Context) -> None:
        """Compute a power of two another way."""
        apply(Rules(by_exp), func, context)

    text = """
    func @f(%x: tensor<[9], f32>) -> tensor<[9], f32> {
      %y = tensor.exp2 %x : tensor<[9], f32>
      return %y
    }"""
    assert bisect(parse(text), (loose,)) is not None
    assert bisect(parse(text), (loose,), Oracle(tolerance=1e-3)) is None


def test_the_module_is_left_alone() -> None:
    module = parse(PROGRAM)
    bisect(module, (dead, algebra))
    assert print_module(module) == print_module(parse(PROGRAM))
