"""Derivatives that the program itself decides: stopped, computed again, or given by a rule."""

import numpy as np
import pytest

from brimstone.ir import tensor
from brimstone.ir.func import Func
from brimstone.ir.interpreter import interpret
from brimstone.ir.parser import parse
from brimstone.ir.printer import print_func
from brimstone.ir.verifier import verify
from brimstone.passes.differentiate import NotDifferentiable, jvp, linearise, vjp
from kit.derivatives import assert_near, check_backward, check_derivatives, check_gradients, checked

RNG = np.random.default_rng(2)
X, Y, C = (RNG.standard_normal(3) for _ in range(3))
V = "tensor<[3], f64>"

STOP = """
func @f(%x: V) -> V {
  %s = tensor.sin %x : V
  %c = tensor.stop_gradient %s : V
  %p = tensor.multiply %x, %c : V
  return %p
}
"""

# A body with a loop, that reads a value from outside, and is used twice.
CHECKPOINT = """
func @f(%x: V, %w: V) -> (V, V) {
  %e = tensor.exp %w : V
  %a, %b = tensor.checkpoint %x, %e (%t: V, %u: V) {
    %s = tensor.sin %t : V
    %m = tensor.multiply %s, %e : V
    %out, %rows = tensor.loop [%m], (%i: tensor<[], i64>, %h: V) {
      %n = tensor.multiply %h, %u : V
      %q = tensor.tanh %n : V
      yield %q, %h
    } : V, tensor<[3, 3], f64>
    %sum = tensor.reduce_sum %rows {axes = [0]} : V
    yield %out, %sum
  } : V, V
  %z = tensor.multiply %a, %b : V
  return %z, %b
}
""".replace("tensor.loop [%m], (", "tensor.loop [%m] {trip = 3} (")

# exp, whose gradient is said to be 3 times what it is; the count goes through.
RULE = """
func @f(%x: V, %n: tensor<[], i32>, %y: V) -> (V, tensor<[], i32>, V) {
  %a, %k, %m = tensor.custom_vjp %x, %n, %y (%t: V, %i: tensor<[], i32>, %u: V) {
    %e = tensor.exp %t : V
    %p = tensor.multiply %t, %u : V
    yield %e, %i, %p
  } (%t: V, %i: tensor<[], i32>, %u: V) {
    %e = tensor.exp %t : V
    %p = tensor.multiply %t, %u : V
    yield %e, %i, %p, %e, %t, %u
  } (%e: V, %t: V, %u: V, %c: V, %d: V) {
    %one = tensor.multiply %c, %e : V
    %two = tensor.add %one, %one : V
    %three = tensor.add %two, %one : V
    %by_t = tensor.multiply %d, %u : V
    %by_x = tensor.add %three, %by_t : V
    %by_y = tensor.multiply %d, %t : V
    yield %by_x, %by_y
  } : V, tensor<[], i32>, V
  %s = tensor.sin %a : V
  return %s, %k, %m
}
"""


# In a loop: a rule of the program's own, a checkpoint in a checkpoint, and ops that are written as
# others or make loops themselves, with values from all around.
ALL_AT_ONCE = """
func @f(%x: V, %w: V, %i: tensor<[3, 1], i64>) -> (V, tensor<[2, 3], f64>) {
  %e = tensor.sin %w : V
  %last, %rows = tensor.loop [%x] {trip = 2} (%j: tensor<[], i64>, %h: V) {
    %a = tensor.checkpoint %h (%t: V) {
      %m = tensor.multiply %t, %e : V
      %b = tensor.checkpoint %m, %e (%u: V, %f: V) {
        %c = tensor.cumulative_product %u {axis = 0, reverse = true} : V
        %q = tensor.custom_vjp %c (%r: V) {
          %s = tensor.tanh %r : V
          yield %s
        } (%r: V) {
          %s = tensor.tanh %r : V
          yield %s, %s
        } (%s: V, %g: V) {
          %one = tensor.multiply %g, %s : V
          %two = tensor.multiply %one, %s : V
          %less = tensor.subtract %g, %two : V
          yield %less
        } : V
        %d = tensor.multiply %q, %f : V
        yield %d
      } : V
      %n = tensor.scatter %b, %i, %t
        {axes = [0], batch = 0, combiner = multiply, outside = error} : V
      yield %n
    } : V
    %k = tensor.reduce_product %a {axes = [0]} : tensor<[], f64>
    %p = tensor.broadcast %k {shape = [3]} : V
    %y = tensor.subtract %a, %p : V
    yield %y, %a
  } : V, tensor<[2, 3], f64>
  return %last, %rows
}
"""


def func(text: str) -> Func:
    module = parse(text.replace("V", V), "custom.ir")
    verify(module)
    return module.main


def test_no_gradient_flows_through_a_stop() -> None:
    pulled = vjp(func(STOP), [True], [0])
    product, gradient = interpret(pulled, X, C)
    assert np.array_equal(product, X * np.sin(X))
    assert np.array_equal(gradient, C * np.sin(X))
    _, tangent = interpret(jvp(func(STOP), [True]), X, C)
    assert np.array_equal(tangent, C * np.sin(X))


@pytest.mark.parametrize("wrt", [(True, True), (True, False), (False, True)])
def test_checkpoints(wrt: tuple[bool, bool]) -> None:
    check_derivatives(func(CHECKPOINT), [X, Y], wrt)


def test_a_checkpoint_keeps_its_arguments_alone() -> None:
    parts = linearise(func(CHECKPOINT), [True, True])
    kept = {value.name for value in parts.linear.arguments[: len(parts.residual_sources)]}
    # x and e are its arguments, a and b are factors of z, which is outside.
    assert kept == {"x", "e", "a", "b"}
    again = [op for op in parts.linear.walk() if isinstance(op, tensor.Checkpoint)]
    assert len(again) == 1
    assert any(isinstance(op, tensor.Sin) for op in again[0].body), "the body runs again"
    assert not [op for op in parts.forward.body if isinstance(op, tensor.Loop)]


def test_the_backward_of_a_checkpoint_is_one() -> None:
    pulled = vjp(func(CHECKPOINT), [True, True], [0, 1])
    forward, backward = (op for op in pulled.body if isinstance(op, tensor.Checkpoint))
    assert len(forward.outputs) == 2
    text = print_func(pulled)
    assert text.count("tensor.tanh") == 2, "once forward, once again, and for nothing else"
    assert {value.type.text for value in backward.outputs} == {V}


def test_a_rule_of_the_programs_own() -> None:
    pulled = checked(vjp(func(RULE), [True, False, True], [0, 2]))
    made = interpret(pulled, X, np.int32(5), Y, C, C)
    assert np.array_equal(made[0], np.sin(np.exp(X)))
    assert made[1] == 5
    slope = C * np.cos(np.exp(X)) * np.exp(X)
    assert_near(made[3], 3 * slope + C * Y, 1e-12, "by x")
    assert_near(made[4], C * X, 1e-12, "by y")


def test_its_linear_func_runs_too() -> None:
    parts = linearise(func(RULE), [True, False, False])
    residuals = interpret(checked(parts.forward), X, np.int32(5), Y)[3:]
    by_first, by_second = interpret(checked(parts.linear), *residuals, C)
    assert_near(by_first, 3 * C * np.cos(np.exp(X)) * np.exp(X), 1e-12, "a tangent")
    assert_near(by_second, C * Y, 1e-12, "a tangent")


def test_its_gradient_is_differentiated_like_any_func() -> None:
    pulled = vjp(func(RULE), [True, False, True], [0, 2])
    given = [X, np.int32(5), Y, C, C]
    check_derivatives(pulled, given, [True, False, True, True, True], orders=1)
    check_backward(pulled, given, [True, False, True, True, True], RNG, {})


def test_a_rule_for_gradients_does_not_go_forward() -> None:
    with pytest.raises(NotDifferentiable, match=r"custom.ir:3: tensor.custom_vjp has a rule"):
        jvp(func(RULE), [True, False, False])


def test_a_rule_is_not_asked_where_nothing_changes() -> None:
    made = jvp(func(RULE.replace("tensor.sin %a", "tensor.sin %y")), [False, False, False])
    assert len(made.results) == 5


def test_a_rule_may_not_read_what_is_differentiated() -> None:
    text = RULE.replace("%p = tensor.multiply %t, %u : V\n    yield %e, %i, %p\n",
                        "%p = tensor.multiply %t, %x : V\n    yield %e, %i, %p\n")  # fmt: skip
    with pytest.raises(NotDifferentiable, match="from outside: hand it over as an argument"):
        linearise(func(text), [True, False, False])


def test_a_linear_func_has_no_derivative_by_its_residuals() -> None:
    parts = linearise(func(RULE), [True, False, True])
    count = len(parts.residual_sources)
    check_derivatives(
        parts.linear,
        [*interpret(parts.forward, X, np.int32(5), Y)[3:], X, Y],
        [*[False] * count, True, True],
    )
    with pytest.raises(NotDifferentiable, match=r"tensor.linear_call is known by its transpose"):
        jvp(parts.linear, [True] * (count + 2))


@pytest.mark.parametrize("wrt", [(True, True), (True, False), (False, True)])
def test_all_at_once(wrt: tuple[bool, bool]) -> None:
    """Backward against differences, since the rule of the program's own does not go forward."""
    given = [X, Y, np.array([[2], [0], [2]])]
    check_gradients(func(ALL_AT_ONCE), given, [*wrt, False])
    pulled = vjp(func(ALL_AT_ONCE), [*wrt, False], [0, 1])
    more = [*given, RNG.standard_normal(3), RNG.standard_normal((2, 3))]
    check_gradients(pulled, more, [*wrt, False, True, True])
