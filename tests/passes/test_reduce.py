"""Reducing: planted bugs shrink to a few ops, always the same, and nothing else is touched."""

from contextlib import suppress

import numpy as np
import pytest

from brimstone.ir import tensor
from brimstone.ir.errors import Unmet
from brimstone.ir.func import Func, Module
from brimstone.ir.parser import parse
from brimstone.ir.printer import print_module
from brimstone.ir.rewriter import Rewriter, Rules, apply, rewrite
from brimstone.ir.values import AnyValue, replace
from brimstone.ir.verifier import verify
from brimstone.passes.context import Context
from brimstone.passes.copying import copy_module
from brimstone.passes.declare import pipeline_pass
from brimstone.passes.examine import examine
from brimstone.passes.manager import count_ops
from brimstone.passes.reduce import (
    Reducer,
    differs_after,
    fails_in,
    fails_like,
    reduce_module,
    weigh,
)
from brimstone.passes.reductions import KINDS


@rewrite(tensor.Subtract)
def careless_difference(op: tensor.Subtract, rewriter: Rewriter) -> AnyValue | None:
    """(x + y) - z -> x + y"""
    return op.left if isinstance(op.left.op, tensor.Add) else None


@rewrite(tensor.Maximum)
def careless_maximum(op: tensor.Maximum, rewriter: Rewriter) -> AnyValue | None:
    """maximum(x, y) -> y, in a loop"""
    inside = op.block is not None and isinstance(op.block.parent_op, tensor.Loop)
    return op.right if inside else None


@pipeline_pass("careless")
def careless(func: Func, context: Context) -> None:
    """Rewrite wrongly."""
    apply(Rules(careless_difference, careless_maximum), func, context)


@pipeline_pass("fussy")
def fussy(func: Func, context: Context) -> None:
    """Fail on a product of an exponential."""
    for op in func.walk():
        if isinstance(op, tensor.Multiply) and isinstance(op.left.op, tensor.Exp):
            raise RuntimeError("I do not like exponentials")
        if isinstance(op, tensor.Tanh):
            raise LookupError("nor tanh")


def long_program(middle: str, count: int = 40) -> str:
    """Ops that do no harm around a few that do."""
    lines = ["%0 = tensor.negate %x : tensor<[n, 16], f32>"]
    for place in range(1, count):
        name = ("exp", "negate", "absolute")[place % 3]
        lines.append(f"%{place} = tensor.{name} %{place - 1} : tensor<[n, 16], f32>")
    lines.insert(count // 2, middle)
    lines.append(f"%last = tensor.add %{count - 1}, %m : tensor<[n, 16], f32>")
    return (
        "func @f<n: 1..64>(%x: tensor<[n, 16], f32>, %y: tensor<[n, 16], f32>) -> "
        "(tensor<[n, 16], f32>, tensor<[n, 16], f32>, tensor<[n, 16], f32>) {\n  "
        + "\n  ".join(lines)
        + "\n  return %3, %last, %m\n}\n"
        "func @unused(%x: tensor<[4], f32>) -> tensor<[4], f32> { return %x }\n"
    )


WRONG = long_program("""%s = tensor.add %5, %y : tensor<[n, 16], f32>
  %m = tensor.subtract %s, %7 : tensor<[n, 16], f32>""")
RAISING = long_program("""%e = tensor.exp %5 : tensor<[n, 16], f32>
  %m = tensor.multiply %e, %7 : tensor<[n, 16], f32>""")
LOOP = """
func @f<n: 1..64>(%x: tensor<[12, n], f32>, %y: tensor<[n], f32>)
    -> (tensor<[n], f32>, tensor<[12, n], f32>) {
  %start = tensor.exp %y : tensor<[n], f32>
  %other = tensor.negate %start : tensor<[n], f32>
  %a, %b, %c = tensor.loop [%start, %other], %x {trip = 12}
    (%i: tensor<[], i64>, %p: tensor<[n], f32>, %q: tensor<[n], f32>, %e: tensor<[n], f32>) {
      %p1 = tensor.negate %p : tensor<[n], f32>
      %p2 = tensor.maximum %p1, %e : tensor<[n], f32>
      %p3 = tensor.negate %p2 : tensor<[n], f32>
      %q1 = tensor.add %q, %p1 : tensor<[n], f32>
      %q2 = tensor.tanh %q1 : tensor<[n], f32>
      yield %p3, %q2, %q1
  } : tensor<[n], f32>, tensor<[n], f32>, tensor<[12, n], f32>
  %d = tensor.add %a, %b : tensor<[n], f32>
  return %d, %c
}
"""


def test_wrong_results_shrink_to_the_two_ops_that_make_them() -> None:
    reduced = reduce_module(parse(WRONG), differs_after((careless,)))
    verify(reduced)
    assert differs_after((careless,))(reduced)
    assert [op.name for op in reduced.main.walk()] == ["tensor.add", "tensor.subtract", "return"]
    assert len(reduced) == 1
    assert len(reduced.main.arguments) == 1


def test_a_pass_that_raises_shrinks_to_the_two_ops_that_it_fails_on() -> None:
    reduced = reduce_module(parse(RAISING), fails_in((fussy,)))
    assert [op.name for op in reduced.main.walk()] == ["tensor.exp", "tensor.multiply", "return"]
    shapes = {argument.shape for argument in reduced.main.arguments}
    assert shapes == {(1, 1)}


def test_a_bug_in_a_loop_keeps_the_loop_and_little_else() -> None:
    reduced = reduce_module(parse(LOOP), differs_after((careless,)))
    names = [op.name for op in reduced.main.walk()]
    assert count_ops(reduced) <= 5
    assert {"tensor.loop", "tensor.maximum"} <= set(names)
    loop = next(op for op in reduced.main.walk() if isinstance(op, tensor.Loop))
    assert loop.trip == 2  # its second step is the first to read what the first one computed


def test_a_failure_does_not_slip_into_another() -> None:
    module = parse(RAISING.replace("%m = ", "%t = tensor.tanh %e : tensor<[n, 16], f32>\n  %m = "))
    failure = examine(module, (fussy,)).failure
    assert failure is not None
    assert failure.kind == "fussy raises LookupError"
    reduced = reduce_module(module, fails_like(failure, (fussy,)))
    assert [op.name for op in reduced.main.walk()] == ["tensor.tanh", "return"]


def test_a_failure_can_be_held_to_its_message() -> None:
    assert fails_in((fussy,), "exponentials")(parse(RAISING))
    assert not fails_in((fussy,), "logarithms")(parse(RAISING))
    failure = examine(parse(RAISING), (fussy,)).failure
    assert failure is not None
    assert not fails_like(failure, (fussy,), "logarithms")(parse(RAISING))


def test_reducing_is_deterministic_and_leaves_the_module_alone() -> None:
    module = parse(WRONG)
    texts = {print_module(reduce_module(module, differs_after((careless,)))) for _ in range(2)}
    assert len(texts) == 1
    assert print_module(module) == print_module(parse(WRONG))


def test_a_predicate_may_change_its_module() -> None:
    def interesting(module: Module) -> bool:
        found = any(isinstance(op, tensor.Exp) for op in module.main.walk())
        for op in reversed(list(module.main.body)):
            op.detach()
        return found

    reduced = reduce_module(parse(RAISING), interesting)
    assert [op.name for op in reduced.main.walk()] == ["tensor.exp", "return"]


def test_dead_code_stays_where_it_is_what_matters() -> None:
    text = """
    func @f(%x: tensor<[4], f32>) -> tensor<[4], f32> {
      %a = tensor.exp %x : tensor<[4], f32>
      %dead = tensor.tanh %a : tensor<[4], f32>
      %b = tensor.negate %a : tensor<[4], f32>
      return %b
    }"""
    reduced = reduce_module(parse(text), fails_in((fussy,)))
    assert [op.name for op in reduced.main.walk()] == ["tensor.tanh", "return"]


def test_a_module_that_is_not_interesting_is_refused() -> None:
    with pytest.raises(ValueError, match="not interesting"):
        reduce_module(parse(WRONG), lambda module: False)


@pytest.mark.parametrize(
    ("condition", "expected"), [("true", "tensor.exp"), ("false", "tensor.tanh")]
)
def test_a_branch_is_inlined(condition: str, expected: str) -> None:
    text = """
    func @f(%p: tensor<[], bool>, %x: tensor<[4], f32>) -> tensor<[4], f32> {
      %y = tensor.cond %p, %x (%a: tensor<[4], f32>) {
        %b = tensor.exp %a : tensor<[4], f32>
        yield %b
      } (%a: tensor<[4], f32>) {
        %b = tensor.tanh %a : tensor<[4], f32>
        yield %b
      } : tensor<[4], f32>
      return %y
    }"""
    reduced = reduce_module(parse(text), lambda m: any(op.name == expected for op in m.main.walk()))
    assert [op.name for op in reduced.main.walk()] == [expected, "return"]


def test_constants_and_sizes_become_simple() -> None:
    text = """
    func @f(%x: tensor<[3, 40], f32>) -> (tensor<[3, 40], f32>, tensor<[2], f32>) {
      %c = tensor.constant {value = 3.5} : tensor<[], f32>
      %b = tensor.broadcast %c {shape = [3, 40], axes = []} : tensor<[3, 40], f32>
      %y = tensor.multiply %x, %b : tensor<[3, 40], f32>
      %d = tensor.constant {value = [1.0, 7.0]} : tensor<[2], f32>
      return %y, %d
    }"""

    def interesting(module: Module) -> bool:
        ops = [op.name for op in module.main.walk()]
        return ops.count("tensor.constant") == 2 and "tensor.broadcast" in ops

    reduced = reduce_module(parse(text), interesting)
    constants = [op for op in reduced.main.walk() if isinstance(op, tensor.Constant)]
    assert all(not np.any(op.value.array) for op in constants)
    broadcast = next(op for op in reduced.main.walk() if isinstance(op, tensor.Broadcast))
    assert broadcast.shape == (1, 1)


@pytest.mark.parametrize("text", [WRONG, RAISING, LOOP])
def test_changes_leave_the_module_they_were_made_for_alone(text: str) -> None:
    module = parse(text)
    changes = [change for kind in KINDS for change in kind(module)]
    for change in changes[::7]:
        with suppress(Unmet):  # not every change makes sense everywhere
            change(module)
    assert print_module(module) == print_module(parse(text))


@pytest.mark.parametrize("text", [WRONG, RAISING, LOOP])
def test_a_copy_is_equal_and_separate(text: str) -> None:
    module = parse(text)
    copy = copy_module(module)
    verify(copy)
    assert print_module(copy, locations=True) == print_module(module, locations=True)
    assert weigh(copy) == weigh(module)
    ops = {op for func in module for op in func.walk()}
    assert not ops & {op for func in copy for op in func.walk()}


CHOICE = """
func @f<n: 0..8, m: 1..9>(%x: tensor<[m], f32>, %p: tensor<[], bool>) -> tensor<[], i64>
    with {target: "cpu"} {
  %a = tensor.constant {value = 0} : tensor<[], i64>
  %y = tensor.cond %p, %a (%t: tensor<[], i64>) {
    %b = tensor.constant {value = 5} : tensor<[], i64>
    %c = tensor.add %b, %t : tensor<[], i64>
    yield %c
  } (%t: tensor<[], i64>) {
    yield %t
  } : tensor<[], i64>
  return %y
}
"""


@pipeline_pass("blind")
def blind(func: Func, context: Context) -> None:
    """Take all constants of a type for one."""
    constants = [op for op in func.walk() if isinstance(op, tensor.Constant)]
    for op in constants[1:]:
        if op.result.type is constants[0].result.type and context.allow("blind", op):
            replace(op.result, constants[0].result)


def test_what_an_op_reads_is_returned_and_nothing_unneeded_is_left() -> None:
    reduced = reduce_module(parse(CHOICE), differs_after((blind,)))
    constants = ["tensor.constant", "tensor.constant"]
    assert [op.name for op in reduced.main.walk()] == [*constants, "return"]
    assert not reduced.main.attributes
    assert not reduced.main.symbols


def test_attempts_are_few() -> None:
    reducer = Reducer(parse(WRONG), differs_after((careless,)))
    reducer.run()
    assert reducer.attempts < 80
