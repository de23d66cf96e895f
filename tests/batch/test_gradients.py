"""Gradients of lanes are lanes of gradients, and batching keeps what ops say of their gradients."""

from typing import Any

import numpy as np
import pytest

from brimstone.ir.interpreter import interpret
from brimstone.ir.verifier import verify
from brimstone.passes.batch import batch
from brimstone.passes.differentiate import jvp, linearise, vjp
from kit.evaluate import Array, near
from kit.lanes import Lanes, batching_differs, func_of

V, P = "tensor<[3], f64>", "tensor<[], bool>"
HEADER = f"func @f(%x: {V}, %w: {V}, %p: {P}) -> {V}"

BODIES = {
    "elementwise": f"""
      %product = tensor.multiply %x, %w : {V}
      %y = tensor.sin %product : {V}""",
    "product": """
      %wide = tensor.contract %x, %w {left_batch = [], right_batch = [], left_contract = [],
        right_contract = [], dtype = f64} : tensor<[3, 3], f64>
      %squares = tensor.multiply %wide, %wide : tensor<[3, 3], f64>
      %y = tensor.reduce_sum %squares {axes = [1]} : tensor<[3], f64>""",
    "choice": f"""
      %y = tensor.cond %p () {{
        %a = tensor.multiply %x, %x : {V}
        yield %a
      }} () {{
        %b = tensor.multiply %x, %w : {V}
        yield %b
      }} : {V}""",
    "loop": f"""
      %y = tensor.loop [%x] {{trip = 3}} (%i: tensor<[], i64>, %c: {V}) {{
        %scaled = tensor.multiply %c, %w : {V}
        %next = tensor.tanh %scaled : {V}
        yield %next
      }} : {V}""",
    "checkpoint": f"""
      %y = tensor.checkpoint %x (%z: {V}) {{
        %a = tensor.multiply %z, %w : {V}
        %b = tensor.exp %a : {V}
        yield %b
      }} : {V}""",
    "custom_vjp": f"""
      %y = tensor.custom_vjp %x, %w (%a: {V}, %b: {V}) {{
        %c = tensor.multiply %a, %b : {V}
        yield %c
      }} (%a: {V}, %b: {V}) {{
        %c = tensor.multiply %a, %b : {V}
        yield %c, %b
      }} (%b: {V}, %d: {V}) {{
        %e = tensor.multiply %b, %d : {V}
        %three = tensor.constant {{value = [3.0, 3.0, 3.0]}} : {V}
        %g = tensor.multiply %three, %d : {V}
        yield %e, %g
      }} : {V}""",
}
COUNT = 3
CHOICES = (True, False, False), (False, True, False), (True, True, False), (True, True, True)


def text_of(name: str) -> str:
    return f"{HEADER} {{{BODIES[name]}\n      return %y\n}}"


def given() -> list[list[Array]]:
    rng = np.random.default_rng(0)
    predicates = np.array([True, False, True])
    return [[rng.standard_normal(3), rng.standard_normal(3), predicates[lane]] for lane in range(3)]


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("batched", CHOICES)
def test_lanes_of_gradients(name: str, batched: tuple[bool, ...]) -> None:
    """What differentiation has made is batched."""
    func = vjp(func_of(text_of(name)), (True, True, False), (0,))
    rng = np.random.default_rng(1)
    lanes = Lanes([[*each, rng.standard_normal(3)] for each in given()], COUNT, {})
    for cotangent in (False, True):
        assert batching_differs(func, (*batched, cotangent), lanes, units=4.0) is None


@pytest.mark.parametrize("name", [name for name in BODIES if name != "custom_vjp"])
def test_lanes_of_tangents(name: str) -> None:
    func = jvp(func_of(text_of(name)), (True, False, False))
    rng = np.random.default_rng(2)
    lanes = Lanes([[*each, rng.standard_normal(3)] for each in given()], COUNT, {})
    for batched in CHOICES:
        assert batching_differs(func, (*batched, True), lanes, units=4.0) is None


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("batched", CHOICES)
def test_gradients_of_lanes(name: str, batched: tuple[bool, ...]) -> None:
    """Of an argument that all lanes share, the gradient is the sum of theirs."""
    func = func_of(text_of(name))
    alone = vjp(func, (True, True, False), (0,))
    made, _ = batch(func, batched, COUNT)
    together = vjp(made, (True, True, False), (0,))
    verify(together)
    lanes, cotangents = Lanes(given(), COUNT, {}), np.random.default_rng(3).standard_normal((3, 3))
    _, *found = interpret(together, *lanes.stacked(batched), cotangents)
    expected = [interpret(alone, *lanes.alone(batched, i), cotangents[i])[1:] for i in range(COUNT)]
    for place, gradient in enumerate(found):
        stacked = np.stack([each[place] for each in expected])
        assert near(gradient, stacked if batched[place] else stacked.sum(0), units=64)


ROOT = """
func @f(%x: tensor<[], f64>) -> tensor<[], f64> {
  %0 = tensor.constant {value = 0.0} : tensor<[], f64>
  %positive = tensor.less %0, %x : tensor<[], bool>
  %y = tensor.cond %positive, %x (%a: tensor<[], f64>) {
    %outside = tensor.square_root %x : tensor<[], f64>
    %own = tensor.square_root %a : tensor<[], f64>
    %sum = tensor.add %outside, %own : tensor<[], f64>
    yield %sum
  } (%b: tensor<[], f64>) {
    %twice = tensor.add %b, %x : tensor<[], f64>
    yield %twice
  } : tensor<[], f64>
  return %y
}
"""


def test_no_gradient_comes_from_a_branch_that_a_lane_does_not_take() -> None:
    """There it is infinite, or no number, and so would be 0 times that."""
    made, _ = batch(func_of(ROOT), (True,), 4)
    lanes = np.array([0.0, 1.0, -1.0, 4.0])
    _, gradient = interpret(vjp(made, (True,), (0,)), lanes, np.ones(4))
    assert gradient.tolist() == [2, 1, 2, 0.5]


SHARED = """
func @f(%x: tensor<[2], f64>, %w: tensor<[], f64>, %m: tensor<[2, 2], f64>) -> tensor<[], f64> {
  %0 = tensor.constant {value = 0.0} : tensor<[], f64>
  %first = tensor.slice %x {start = [0], size = [1], step = [1]} : tensor<[1], f64>
  %one = tensor.reshape %first {shape = []} : tensor<[], f64>
  %positive = tensor.less %0, %one : tensor<[], bool>
  %y = tensor.cond %positive () {
    %wide = tensor.broadcast %w {shape = [2], axes = []} : tensor<[2], f64>
    %scaled = tensor.multiply %x, %wide : tensor<[2], f64>
    %logarithm = tensor.log %scaled : tensor<[2], f64>
    %moved = tensor.contract %m, %logarithm {left_batch = [], right_batch = [],
        left_contract = [1], right_contract = [0], dtype = f64} : tensor<[2], f64>
    %sum = tensor.reduce_sum %moved {axes = [0]} : tensor<[], f64>
    yield %sum
  } () {
    %root = tensor.square_root %w : tensor<[], f64>
    yield %root
  } : tensor<[], f64>
  return %y
}
"""


@pytest.mark.parametrize(
    "x, w",
    [
        ([[0.0, 2.0], [3.0, 4.0], [0.0, 0.0]], 2.0),  # there log is infinite, and a factor of it
        ([[-1.0, 2.0], [1.0, 4.0]], 2.0),  # and there it is no number
        ([[1.0, 2.0], [1.0, 4.0]], 1e-300),
        ([[0.0, 2.0], [-1.0, 4.0]], 2.0),
    ],
)
def test_what_lanes_share_has_gradients_of_those_that_read_it(x: Any, w: float) -> None:
    alone = func_of(SHARED)
    made, _ = batch(alone, (True, False, False), len(x))
    given, matrix = np.asarray(x), np.asarray([[1.0, 2.0], [3.0, 4.0]])
    wrt = (True, True, True)
    _, *found = interpret(vjp(made, wrt, (0,)), given, w, matrix, np.ones(len(x)))
    one = vjp(alone, wrt, (0,))
    lanes = [interpret(one, each, w, matrix, np.ones(()))[1:] for each in given]
    by_x, *shared = zip(*lanes, strict=True)
    np.testing.assert_allclose(found[0], np.stack(by_x), rtol=1e-12)
    for gradient, each in zip(found[1:], shared, strict=True):
        np.testing.assert_allclose(gradient, np.sum(each, axis=0), rtol=1e-12)


def test_a_branch_that_no_lane_takes_moves_nothing() -> None:
    """Also where what all lanes share is infinite there, and computed once."""
    made, _ = batch(func_of(SHARED), (True, False, False), 2)
    given = np.ones((2, 2)), np.asarray(0.25), np.eye(2), np.ones(2)
    by_w = interpret(vjp(made, (True, True, True), (0,)), *given)[2]
    assert by_w == 2 * 2 / 0.25
    made, _ = batch(func_of(SHARED.replace("tensor.log", "tensor.sin")), (True, False, False), 2)
    by_w = interpret(vjp(made, (True, True, True), (0,)), given[0], 0.0, *given[2:])[2]
    assert by_w == 4


def test_the_linear_part_is_batched_over_tangents() -> None:
    """As for a Jacobian: the residuals are shared, the tangents are the rows of the identity."""
    func = func_of(text_of("elementwise"))
    made = linearise(func, (True, False, False))
    x, w, p = given()[0]
    residuals = interpret(made.forward, x, w, p)[1:]
    flags = [False] * len(residuals) + [True]
    rows, varying = batch(made.linear, flags, 3)
    assert varying == (True,)
    (found,) = interpret(rows, *residuals, np.eye(3))
    assert np.allclose(found, np.diag(w * np.cos(w * x)))
