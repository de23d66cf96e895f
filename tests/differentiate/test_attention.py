"""Derivatives of attention: by query, key, value, captures, and what the region reads besides."""

import numpy as np
import pytest

from brimstone.ir.func import Func
from brimstone.ir.interpreter import interpret
from brimstone.ir.parser import parse
from brimstone.ir.verifier import verify
from brimstone.passes.differentiate import vjp
from kit.derivatives import check_derivatives, inexact_outputs

RNG = np.random.default_rng(1)

TEXT = """
func @attend<b: 1..4, h: 1..8, g: 1..8>(
    %q: tensor<[b, HEADS, 3, 2], f64>, %k: tensor<[b, GROUPS, 4, 2], f64>,
    %v: tensor<[b, GROUPS, 4, 5], f64>, %bias: SCORES, %cap: SCORES)
    -> (tensor<[b, HEADS, 3, 5], f64>, tensor<[b, HEADS, 3], f64>, tensor<[b, HEADS, 3], f64>) {
  %o, %l, %r = tensor.attention %q, %k, %v, %bias {scale = 0.5} (%s: SCORES, %m: SCORES) {
    %sum = tensor.add %s, %m : SCORES
    %flat = tensor.tanh %sum : SCORES
    %capped = tensor.multiply %flat, %cap : SCORES
    %row = tensor.iota {shape = [b, HEADS, 3, 4], axis = 2, dtype = i64} : PLACES
    %column = tensor.iota {shape = [b, HEADS, 3, 4], axis = 3, dtype = i64} : PLACES
    %seen = tensor.COMPARE %column, %row : tensor<[b, HEADS, 3, 4], bool>
    %least = tensor.constant {value = -inf} : tensor<[], f64>
    %none = tensor.broadcast %least {shape = [b, HEADS, 3, 4]} : SCORES
    %masked = tensor.select %seen, %capped, %none : SCORES
    yield %masked
  } : tensor<[b, HEADS, 3, 5], f64>, tensor<[b, HEADS, 3], f64>, tensor<[b, HEADS, 3], f64>
  return %o, %l, %r
}
"""


def attention(heads: str, groups: str, compare: str = "less_equal") -> Func:
    text = TEXT.replace("SCORES", "tensor<[b, HEADS, 3, 4], f64>").replace("COMPARE", compare)
    text = text.replace("PLACES", "tensor<[b, HEADS, 3, 4], i64>")
    module = parse(text.replace("HEADS", heads).replace("GROUPS", groups), "attention.ir")
    verify(module)
    return module.main


def arrays(heads: int, groups: int, batch: int = 2) -> list[np.ndarray]:
    shapes = [(heads, 3, 2), (groups, 4, 2), (groups, 4, 5), (heads, 3, 4), (heads, 3, 4)]
    return [RNG.standard_normal((batch, *shape)) for shape in shapes]


@pytest.mark.parametrize("heads, groups", [(2, 2), (4, 2), (3, 1)])
def test_derivatives(heads: int, groups: int) -> None:
    func = attention(str(heads), str(groups))
    check_derivatives(func, arrays(heads, groups), [True] * 5, h=1, g=1)


@pytest.mark.parametrize("heads, groups", [(6, 2), (3, 3), (4, 1)])
def test_derivatives_where_the_numbers_of_heads_are_symbols(heads: int, groups: int) -> None:
    sizes = {"h": heads, "g": groups}
    check_derivatives(attention("h", "g"), arrays(heads, groups), [True] * 5, **sizes)


@pytest.mark.parametrize("place", range(5))
def test_by_one_operand_alone(place: int) -> None:
    wrt = [each == place for each in range(5)]
    check_derivatives(attention("4", "2"), arrays(4, 2), wrt, h=1, g=1)


def test_a_row_that_sees_nothing_has_gradients_of_zero() -> None:
    func = attention("2", "2", "less")
    given = arrays(2, 2)
    outputs = interpret(func, *given, sizes={"h": 1, "g": 1})
    assert np.isneginf(outputs[1][:, :, 0]).all()
    pulled = vjp(func, [True] * 5, inexact_outputs(func))
    cotangents = [np.ones_like(each) for each in outputs]
    made = interpret(pulled, *given, *cotangents, sizes={"h": 1, "g": 1})[3:]
    assert all(np.isfinite(each).all() for each in made)
    assert not made[0][:, :, 0].any()
    assert made[0][:, :, 1:].all()


@pytest.mark.parametrize("far", [-1e17, -1e9, 1e9])
def test_weights_of_scores_that_are_all_far_from_0(far: float) -> None:
    """Beside such a log-sum-exp, the logarithm of the sum is rounded away."""
    func = attention("2", "2")
    query, key, value, bias, cap = arrays(2, 2)
    bias, cap = np.full_like(bias, 100 * np.sign(far)), np.full_like(cap, abs(far))
    given = query, key, value, bias, cap
    outputs = interpret(func, *given, sizes={"h": 1, "g": 1})
    cotangents = [np.ones_like(outputs[0]), *[np.zeros_like(each) for each in outputs[1:]]]
    pulled = vjp(func, [True] * 5, inexact_outputs(func))
    by_value = interpret(pulled, *given, *cotangents, sizes={"h": 1, "g": 1})[len(outputs) + 2]
    seen = [1 + 1 / 2 + 1 / 3, 1 / 2 + 1 / 3, 1 / 3, 0]
    expected = np.broadcast_to(np.reshape(seen, (4, 1)), by_value.shape)
    np.testing.assert_allclose(by_value, expected, rtol=1e-6)


def test_a_capture_that_no_score_needs_moves_nothing() -> None:
    """The log-sum-exp then may start a loop that is linear in what it carries."""
    rows, head = "tensor<[1, 1, 3], f64>", "tensor<[1, 1, 3, 2], f64>"
    module = parse(f"""
func @f(%q: {head}, %x: tensor<[], f64>) -> {rows} {{
  %o, %l, %r = tensor.attention %q, %q, %q, %x {{scale = 0.5}}
      (%s: tensor<[1, 1, 3, 3], f64>, %m: tensor<[], f64>) {{
    %flat = tensor.tanh %s : tensor<[1, 1, 3, 3], f64>
    yield %flat
  }} : {head}, {rows}, {rows}
  %wide = tensor.broadcast %x {{shape = [1, 1, 3]}} : {rows}
  %all = tensor.loop [%l] {{trip = 2, reverse = false}} (%i: tensor<[], i64>, %c: {rows}) {{
    %next = tensor.multiply %c, %wide : {rows}
    yield %next
  }} : {rows}
  return %all
}}""")
    verify(module)
    given = [RNG.standard_normal((1, 1, 3, 2)), np.asarray(0.7)]
    check_derivatives(module.main, given, [False, True])
    check_derivatives(module.main, given, [True, True])
