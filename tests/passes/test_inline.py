"""Calls are replaced by what they call, at the sizes of the call."""

import numpy as np
import pytest

from brimstone.ir import tensor
from brimstone.ir.func import Module
from brimstone.ir.interpreter import interpret
from brimstone.ir.parser import parse
from brimstone.ir.printer import print_func, print_module
from brimstone.ir.verifier import verify
from brimstone.passes.inline import inlined
from brimstone.passes.oracle import choose_sizes, difference, random_arguments
from kit.programs import program, random_plans

PROGRAMS = 1000
COMPARED_AT_LEAST = 30

TEXT = """
func @main<n: 1..64>(%x: tensor<[n], f32>, %y: tensor<[4], f32>) -> tensor<[], f32> {
  %a = tensor.call %x {callee = @norm} : tensor<[], f32>
  %sum = tensor.loop [%a], %y {trip = 4} (%i: tensor<[], i64>, %s: tensor<[], f32>,
      %z: tensor<[], f32>) {
    %b = tensor.call %y {callee = @norm} : tensor<[], f32>
    %t = tensor.add %s, %b : tensor<[], f32>
    yield %t
  } : tensor<[], f32>
  return %sum
}

func @norm<m: 0..64>(%v: tensor<[m], f32>) -> tensor<[], f32> {
  %squares = tensor.call %v {callee = @square} : tensor<[m], f32>
  %norm = tensor.reduce_sum %squares {axes = [0]} : tensor<[], f32>
  return %norm
}

func @square<k: 0..64>(%v: tensor<[k], f32>) -> tensor<[k], f32> {
  %square = tensor.multiply %v, %v : tensor<[k], f32>
  return %square
}
"""
INLINED = """\
func @main<n: 1..64>(%x: tensor<[n], f32>, %y: tensor<[4], f32>) -> tensor<[], f32> {
  %square = tensor.multiply %x, %x : tensor<[n], f32>
  %norm = tensor.reduce_sum %square {axes = [0]} : tensor<[], f32>
  %sum = tensor.loop [%norm], %y {trip = 4, reverse = false} (%i: tensor<[], i64>, \
%s: tensor<[], f32>, %z: tensor<[], f32>) {
    %square_1 = tensor.multiply %y, %y : tensor<[4], f32>
    %norm_1 = tensor.reduce_sum %square_1 {axes = [0]} : tensor<[], f32>
    %t = tensor.add %s, %norm_1 : tensor<[], f32>
    yield %t
  } : tensor<[], f32>
  return %sum
}
"""


def test_calls_go_at_any_depth() -> None:
    module = parse(TEXT, "norms.ir")
    verify(module)
    before = print_module(module)
    made = inlined(module.main, module)
    verify(made)
    assert print_func(made).strip() == INLINED.strip()
    assert print_module(module) == before
    first = made.body.first
    assert first is not None
    assert str(first.location) == "norms.ir:20, norms.ir:14, norms.ir:3"


def test_a_func_without_calls_is_copied() -> None:
    module = parse(TEXT)
    made = inlined(module["square"], module)
    assert made is not module["square"]
    assert print_func(made) == print_func(module["square"])


@pytest.mark.slow
def test_random_programs_mean_the_same() -> None:
    compared = 0
    for seed, plan in enumerate(random_plans(PROGRAMS, collectives=False)):
        if not any(step.op is tensor.Call for step in plan.steps):
            continue
        module = program(plan)
        if not any(isinstance(op, tensor.Call) for op in module.main.walk()):
            continue
        made = inlined(module.main, module)
        verify(Module([made]))
        assert not any(isinstance(op, tensor.Call) for op in made.walk())
        sizes = choose_sizes(module.main)[0]
        arguments = random_arguments(module.main, sizes, np.random.default_rng(seed))
        expected = interpret(module, *arguments, sizes=sizes)
        changed = difference(expected, interpret(made, *arguments, sizes=sizes))
        assert changed is None, f"{changed}\n{print_module(module)}"
        compared += 1
    assert compared >= COMPARED_AT_LEAST
