"""Loops of so many steps, scores and calls, in which something differs from lane to lane."""

import numpy as np
import pytest

from brimstone.ir.errors import VerifyError
from brimstone.ir.func import Module
from brimstone.ir.parser import parse
from brimstone.ir.verifier import verify
from brimstone.passes.batch import batch
from kit.lanes import Lanes, batching_differs, func_of, same_alone

CHAIN = """
func @f<n: 0..9>(%xs: tensor<[n, 2], f32>, %a: tensor<[2], f32>, %b: tensor<[2], f32>,
    %c: tensor<[2], f32>) -> (tensor<[2], f32>, tensor<[2], f32>, tensor<[2], f32>,
    tensor<[n, 2], f32>, tensor<[n], i64>) {
  %p, %q, %r, %stack, %steps = tensor.loop [%a, %b, %c], %xs {trip = n, reverse = true}
      (%i: tensor<[], i64>, %u: tensor<[2], f32>, %v: tensor<[2], f32>, %w: tensor<[2], f32>,
       %x: tensor<[2], f32>) {
    %sum = tensor.add %u, %x : tensor<[2], f32>
    yield %sum, %u, %v, %w, %i
  } : tensor<[2], f32>, tensor<[2], f32>, tensor<[2], f32>, tensor<[n, 2], f32>, tensor<[n], i64>
  return %p, %q, %r, %stack, %steps
}
"""


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("steps", [0, 1, 4])
def test_what_differs_spreads_from_step_to_step(place: int, steps: int) -> None:
    rng = np.random.default_rng(0)
    shapes = [(steps, 2), (2,), (2,), (2,)]
    given = [[rng.standard_normal(s).astype(np.float32) for s in shapes] for _ in range(3)]
    batched = [each == place for each in range(4)]
    same_alone(CHAIN, batched, *given, n=steps)
    _, varying = batch(func_of(CHAIN), batched, 3)
    reached = max(place, 1) - 1
    assert varying == (reached < 1, reached < 2, True, True, False)


NESTED = """
func @f(%xs: tensor<[3, 2], f32>, %w: tensor<[2], f32>) -> (tensor<[], f32>, tensor<[3, 2], f32>) {
  %zero = tensor.constant {value = 0.0} : tensor<[], f32>
  %total, %rows = tensor.loop [%zero], %xs {trip = 3}
      (%i: tensor<[], i64>, %s: tensor<[], f32>, %x: tensor<[2], f32>) {
    %inner, %row = tensor.loop [%s], %x {trip = 2}
        (%j: tensor<[], i64>, %t: tensor<[], f32>, %y: tensor<[], f32>) {
      %weight = tensor.reduce_sum %w {axes = [0]} : tensor<[], f32>
      %scaled = tensor.multiply %y, %weight : tensor<[], f32>
      %next = tensor.add %t, %scaled : tensor<[], f32>
      yield %next, %scaled
    } : tensor<[], f32>, tensor<[2], f32>
    yield %inner, %row
  } : tensor<[], f32>, tensor<[3, 2], f32>
  return %total, %rows
}
"""


def test_loops_in_loops_read_what_differs_outside() -> None:
    rng = np.random.default_rng(1)
    shapes = [(3, 2), (2,)]
    given = [[rng.standard_normal(s).astype(np.float32) for s in shapes] for _ in range(3)]
    for batched in ((True, False), (False, True), (True, True)):
        same_alone(NESTED, batched, *given)


@pytest.mark.parametrize("place", range(4))
def test_scores_see_what_differs(place: int) -> None:
    """One of queries, keys, what is handed to the region, and what the region reads outside."""
    text = """
    func @f(%q: tensor<[2, 2, 3, 4], f32>, %k: tensor<[2, 1, 5, 4], f32>, %b: tensor<[3, 5], f32>,
        %c: tensor<[5], f32>)
        -> (tensor<[2, 2, 3, 4], f32>, tensor<[2, 2, 3], f32>, tensor<[2, 2, 3], f32>) {
      %o, %l, %r = tensor.attention %q, %k, %k, %b {scale = 0.5}
          (%s: tensor<[2, 2, 3, 5], f32>, %bias: tensor<[3, 5], f32>) {
        %wide = tensor.broadcast %bias {shape = [2, 2, 3, 5], axes = [2, 3]}
          : tensor<[2, 2, 3, 5], f32>
        %more = tensor.broadcast %c {shape = [2, 2, 3, 5], axes = [3]} : tensor<[2, 2, 3, 5], f32>
        %t = tensor.add %s, %wide : tensor<[2, 2, 3, 5], f32>
        %u = tensor.add %t, %more : tensor<[2, 2, 3, 5], f32>
        yield %u
      } : tensor<[2, 2, 3, 4], f32>, tensor<[2, 2, 3], f32>, tensor<[2, 2, 3], f32>
      return %o, %l, %r
    }
    """
    rng = np.random.default_rng(2)
    shapes = [(2, 2, 3, 4), (2, 1, 5, 4), (3, 5), (5,)]
    given = [[rng.standard_normal(s).astype(np.float32) for s in shapes] for _ in range(3)]
    same_alone(text, [each == place for each in range(4)], *given)


CALLS = """
func @main(%x: tensor<[3], f32>, %y: tensor<[4], f32>) -> tensor<[], f32> {
  %a = tensor.call %x {callee = @norm} : tensor<[], f32>
  %b = tensor.call %y {callee = @norm} : tensor<[], f32>
  %sum = tensor.add %a, %b : tensor<[], f32>
  return %sum
}

func @norm<n: 0..64>(%v: tensor<[n], f32>) -> tensor<[], f32> {
  %twice = tensor.call %v {callee = @double} : tensor<[n], f32>
  %sum = tensor.reduce_sum %twice {axes = [0]} : tensor<[], f32>
  return %sum
}

func @double<m: 0..64>(%v: tensor<[m], f32>) -> tensor<[m], f32> {
  %twice = tensor.add %v, %v : tensor<[m], f32>
  return %twice
}
"""


def test_calls_are_put_in_line_at_their_sizes() -> None:
    module = parse(CALLS)
    verify(module)
    rng = np.random.default_rng(3)
    given = [[rng.standard_normal(size).astype(np.float32) for size in (3, 4)] for _ in range(3)]
    lanes = Lanes(given, 3, {})
    for batched in ((True, False), (False, True), (True, True)):
        assert batching_differs(module.main, batched, lanes, module=module) is None
    made, _ = batch(module.main, (True, False), 2, module=module)
    lines = {str(op.location) for op in made.walk()}
    assert "<text>:3, <text>:10" not in lines  # its own line first, then that of the call
    assert any(line.endswith("<text>:3") and line != "<text>:3" for line in lines)


def test_a_call_of_a_func_that_is_not_handed_over_is_refused() -> None:
    with pytest.raises(VerifyError, match=r":3: tensor.call: .* hand over its module"):
        batch(parse(CALLS).main, (True, True), 2)


def test_a_call_that_is_the_same_in_all_lanes_may_stay() -> None:
    module = parse(CALLS)
    made, varying = batch(module.main, (False, False), 2)
    assert varying == (False,)
    verify(Module([made, module["norm"], module["double"]]))
