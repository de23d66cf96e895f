"""Derivatives of programs with regions: branches, loops, loops in loops, and what they capture."""

from typing import Any

import numpy as np
import pytest

from brimstone.ir import tensor
from brimstone.ir.func import Func
from brimstone.ir.interpreter import interpret
from brimstone.ir.parser import parse
from brimstone.ir.verifier import verify
from brimstone.passes.differentiate import NotDifferentiable, jvp, linearise, transpose, vjp
from brimstone.passes.inline import inlined
from kit.derivatives import check_derivatives, check_forward, checked

RNG = np.random.default_rng(0)
VECTOR, OTHER, WEIGHTS = RNG.standard_normal(3), RNG.standard_normal(3), RNG.standard_normal((3, 3))
ROW = RNG.standard_normal(3)
V = "tensor<[3], f64>"

COND = """
func @branches(%p: tensor<[], bool>, %x: V, %y: V) -> (V, V, tensor<[], i64>, V) {
  %s = tensor.sin %y : V
  %a, %b, %n, %c = tensor.cond %p, %x (%u: V) {
    %e = tensor.exp %u : V
    %m = tensor.multiply %e, %s : V
    %one = tensor.constant {value = 1} : tensor<[], i64>
    yield %m, %u, %one, %y
  } (%u: V) {
    %t = tensor.tanh %u : V
    %m = tensor.multiply %t, %y : V
    %zero = tensor.constant {value = 0.0} : tensor<[], f64>
    %zeros = tensor.broadcast %zero {shape = [3]} : V
    %two = tensor.constant {value = 2} : tensor<[], i64>
    yield %m, %zeros, %two, %zeros
  } : V, V, tensor<[], i64>, V
  %d = tensor.multiply %a, %c : V
  return %a, %b, %n, %d
}
"""

# A recurrent net: a state, inputs, captured weights, a count that is an integer, stacked outputs;
# `%unused` is carried and never changes.
RECURRENT = """
func @recurrent<n: 0..8>(
    %h: V, %x: tensor<[n, 3], f64>, %w: tensor<[3, 3], f64>, %k: tensor<[], i64>)
    -> (V, tensor<[], i64>, tensor<[n, 3], f64>, tensor<[n], f64>, V) {
  %last, %count, %unused, %states, %sums = tensor.loop [%h, %k, %h], %x {trip = n, reverse = WAY} (
      %i: tensor<[], i64>, %s: V, %c: tensor<[], i64>, %u: V, %row: V) {
    %both = tensor.add %s, %row : V
    %wide = tensor.cos %w : tensor<[3, 3], f64>
    %z = tensor.contract %wide, %both {left_batch = [], right_batch = [], left_contract = [1],
        right_contract = [0], dtype = f64} : V
    %next = tensor.tanh %z : V
    %next_count = tensor.add %c, %i : tensor<[], i64>
    %squares = tensor.multiply %row, %s : V
    %sum = tensor.reduce_sum %squares {axes = [0]} : tensor<[], f64>
    yield %next, %next_count, %u, %next, %sum
  } : V, tensor<[], i64>, V, tensor<[n, 3], f64>, tensor<[n], f64>
  return %last, %count, %states, %sums, %unused
}
"""

# Powers by repeated multiplication, in an inner loop; the outer one scales its own result. What the
# carry starts with is a constant, so that it has a tangent only from the first step on.
NESTED = """
func @nested(%x: V, %y: V) -> V {
  %one = tensor.constant {value = 1.0} : tensor<[], f64>
  %ones = tensor.broadcast %one {shape = [3]} : V
  %out = tensor.loop [%ones] {trip = 3} (%i: tensor<[], i64>, %total: V) {
    %power = tensor.loop [%total] {trip = 2} (%j: tensor<[], i64>, %old: V) {
      %new = tensor.multiply %old, %x : V
      %p = tensor.less %i, %j : tensor<[], bool>
      %chosen = tensor.cond %p (){
        %s = tensor.sin %new : V
        yield %s
      } () {
        %s = tensor.multiply %new, %total : V
        yield %s
      } : V
      yield %chosen
    } : V
    %shifted = tensor.add %power, %y : V
    yield %shifted
  } : V
  return %out
}
"""

WHILE = """
func @halved(%x: V, %y: V, %n: tensor<[], i64>) -> (V, tensor<[], i64>) {
  %out, %steps, %flat = tensor.while %x, %n, %n (
      %a: V, %i: tensor<[], i64>, %f: tensor<[], i64>) {
    %zero = tensor.constant {value = 0} : tensor<[], i64>
    %more = tensor.less %zero, %i : tensor<[], bool>
    yield %more
  } (%a: V, %i: tensor<[], i64>, %f: tensor<[], i64>) {
    %s = tensor.sin %a : V
    %m = tensor.multiply %s, %y : V
    %one = tensor.constant {value = 1} : tensor<[], i64>
    %less = tensor.subtract %i, %one : tensor<[], i64>
    yield %m, %less, %f
  } : V, tensor<[], i64>, tensor<[], i64>
  return %out, %steps
}
"""

CALL = """
func @main(%x: V) -> V {
  %a = tensor.call %x {callee = @square} : V
  %b = tensor.call %a {callee = @square} : V
  return %b
}

func @square<n: 1..9>(%x: tensor<[n], f64>) -> tensor<[n], f64> {
  %a = tensor.multiply %x, %x : tensor<[n], f64>
  return %a
}
"""


def func(text: str) -> Func:
    module = parse(text.replace("V", V), "control.ir")
    verify(module)
    return module.main


@pytest.mark.parametrize("taken", [True, False])
@pytest.mark.parametrize("wrt", [(True, True), (True, False), (False, True), (False, False)])
def test_conditions(taken: bool, wrt: tuple[bool, bool]) -> None:
    check_derivatives(func(COND), [np.asarray(taken), VECTOR, OTHER], [False, *wrt])


@pytest.mark.parametrize("trip", [0, 1, 4])
@pytest.mark.parametrize("way", ["false", "true"])
@pytest.mark.parametrize("wrt", ["hxw", "h", "x", "w"])
def test_loops(trip: int, way: str, wrt: str) -> None:
    rows = RNG.standard_normal((trip, 3))
    arguments = [VECTOR, rows, WEIGHTS, np.asarray(5)]
    flags = ["h" in wrt, "x" in wrt, "w" in wrt, False]
    check_derivatives(func(RECURRENT.replace("WAY", way)), arguments, flags)


@pytest.mark.parametrize("wrt", [(True, True), (True, False), (False, True)])
def test_loops_in_loops_with_conditions(wrt: tuple[bool, bool]) -> None:
    check_derivatives(func(NESTED), [VECTOR, OTHER], wrt)


def test_third_derivatives_of_a_loop() -> None:
    once = vjp(func(NESTED), [True, True], [0])
    twice = vjp(once, [True, True, True], [1, 2])
    check_derivatives(twice, [VECTOR, OTHER, VECTOR, OTHER, OTHER], [True] * 5, orders=1)


def test_a_loop_that_is_not_differentiated_is_copied() -> None:
    made = vjp(func(RECURRENT.replace("WAY", "false")), [False, False, True, False], [4])
    loops = [op for op in made.walk() if isinstance(op, tensor.Loop)]
    assert len(loops) == 1, "the carry that never changes depends on no weight"


def test_what_no_step_changes_is_not_stacked() -> None:
    parts = linearise(func(RECURRENT.replace("WAY", "false")), [True, False, False, False])
    shapes = [value.shape for value in parts.linear.arguments]
    assert (3, 3) in shapes, "the weights are handed over"
    assert not [shape for shape in shapes if len(shape) == 3], "and not once for each step"


@pytest.mark.parametrize("place", [0, 2, 3])
def test_nothing_is_stacked_that_no_gradient_needs(place: int) -> None:
    pulled = vjp(func(RECURRENT.replace("WAY", "false")), [True, True, True, False], [place])
    results = [value for op in pulled.body if op.regions for value in op.results]
    assert len(results) > 5
    assert all(value.uses for value in results)


@pytest.mark.parametrize("steps", [0, 1, 3])
@pytest.mark.parametrize("wrt", [(True, True), (True, False), (False, True)])
def test_while_goes_forward(steps: int, wrt: tuple[bool, bool]) -> None:
    arguments = [VECTOR, OTHER, np.asarray(steps)]
    check_forward(func(WHILE), arguments, [*wrt, False], RNG, {})


@pytest.mark.parametrize("differentiate", [linearise, lambda func, wrt: vjp(func, wrt, [0])])
def test_while_does_not_go_backward(differentiate: Any) -> None:
    with pytest.raises(NotDifferentiable, match=r"control.ir:3: tensor.while .* say max_steps="):
        differentiate(func(WHILE), [True, False, False])


def test_while_without_a_tangent_is_copied() -> None:
    text = WHILE.replace("tensor.while %x,", "tensor.while %y,")
    text = text.replace("return %out, %steps", "%z = tensor.sin %x : V\n return %z, %out")
    text = text.replace("-> (V, tensor<[], i64>)", "-> (V, V)")
    check_derivatives(func(text), [VECTOR, OTHER, np.asarray(2)], [True, False, False])


def test_while_on_the_way_to_no_gradient_does_no_harm() -> None:
    text = WHILE.replace("return %out, %steps", "%z = tensor.sin %x : V\n return %z, %out")
    text = text.replace("-> (V, tensor<[], i64>)", "-> (V, V)")
    pulled = checked(vjp(func(text), [True, True, False], [0]))
    made = interpret(pulled, VECTOR, OTHER, np.asarray(2), ROW)
    assert np.array_equal(made[2], np.cos(VECTOR) * ROW)
    assert not made[3].any()
    with pytest.raises(NotDifferentiable, match="max_steps="):
        vjp(func(text), [True, True, False], [0, 1])


def test_calls_are_put_in_place_first() -> None:
    module = parse(CALL.replace("V", V), "call.ir")
    check_derivatives(inlined(module.main, module), [VECTOR], [True])
    with pytest.raises(NotDifferentiable, match=r"call.ir:3: tensor.call .*inlined"):
        jvp(module.main, [True])


def test_a_loop_that_counts_in_floats_is_not_linear() -> None:
    text = """
func @f(%x: V) -> V {
  %one = tensor.constant {value = 1.0} : tensor<[], f64>
  %out, %count = tensor.loop [%x, %one] {trip = 3} (
      %i: tensor<[], i64>, %a: V, %c: tensor<[], f64>) {
    %wide = tensor.broadcast %c {shape = [3]} : V
    %scaled = tensor.multiply %a, %wide : V
    %more = tensor.add %c, %c : tensor<[], f64>
    yield %scaled, %more
  } : V, tensor<[], f64>
  return %out
}"""
    with pytest.raises(NotDifferentiable, match=r"control.ir:4: tensor.loop carries %one.*linear"):
        transpose(func(text), 0)
    # Taken apart it is: the first loop counts, the second is linear.
    parts = linearise(func(text), [True])
    pulled = checked(transpose(parts.linear, len(parts.residual_sources)))
    made = interpret(parts.forward, VECTOR)
    (gradient,) = interpret(pulled, *made[1:], OTHER)
    assert np.allclose(gradient, 8 * OTHER)


def test_linear_values_may_be_captured() -> None:
    text = """
func @f(%p: tensor<[], bool>, %w: V, %x: V, %y: V) -> (V, tensor<[2, 3], f64>) {
  %a = tensor.cond %p (){
    %m = tensor.multiply %x, %w : V
    yield %m
  } () {
    yield %y
  } : V
  %b, %rows = tensor.loop [%x] {trip = 2} (%i: tensor<[], i64>, %c: V) {
    %m = tensor.multiply %y, %w : V
    %s = tensor.subtract %c, %m : V
    yield %s, %a
  } : V, tensor<[2, 3], f64>
  %d = tensor.add %a, %b : V
  return %d, %rows
}"""
    linear = func(text)
    pulled = checked(transpose(linear, 2))
    for taken in (True, False):
        known = [np.asarray(taken), OTHER]
        tangents = [RNG.standard_normal(3), RNG.standard_normal(3)]
        cotangents = [RNG.standard_normal(3), RNG.standard_normal((2, 3))]
        pushed = interpret(linear, *known, *tangents)
        gradients = interpret(pulled, *known, *cotangents)
        one = sum(float(np.sum(a * b)) for a, b in zip(cotangents, pushed, strict=True))
        other = sum(float(np.sum(a * b)) for a, b in zip(gradients, tangents, strict=True))
        assert abs(one - other) < 1e-12
