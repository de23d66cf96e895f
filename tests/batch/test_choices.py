"""Choices that lanes make together, or each on its own: the branch not taken is not noticed."""

import numpy as np
import pytest

from brimstone.ir.errors import ExecutionError
from brimstone.ir.interpreter import interpret
from brimstone.passes.batch import batch
from kit.evaluate import Array
from kit.lanes import func_of, same_alone, text_of

GATHER = "{axes = [0], batch = 0, outside = error}"
X = np.arange(5, dtype=np.float32) * 1.5

CHOICE = f"""
func @f<n: 0..64>(%p: tensor<[], bool>, %x: tensor<[n], f32>, %at: tensor<[1], i64>)
    -> tensor<[], f32> {{
  %chosen = tensor.cond %p, %at (%place: tensor<[1], i64>) {{
    %element = tensor.gather %x, %place {GATHER} : tensor<[], f32>
    yield %element
  }} (%unused: tensor<[1], i64>) {{
    %sum = tensor.reduce_sum %x {{axes = [0]}} : tensor<[], f32>
    yield %sum
  }} : tensor<[], f32>
  return %chosen
}}
"""


def booleans(*values: bool) -> list[Array]:
    return [np.array(value) for value in values]


def test_one_choice_for_all_lanes_stays_a_choice() -> None:
    text = text_of(CHOICE, (False, True, True))
    assert "tensor.cond" in text
    assert "tensor.select" not in text


@pytest.mark.parametrize("predicate", [True, False])
def test_a_region_reads_what_differs_outside(predicate: bool) -> None:
    given = [(np.array(predicate), X + lane, np.array([lane])) for lane in range(3)]
    for batched in ((False, True, False), (False, True, True), (False, False, True)):
        same_alone(CHOICE, batched, *given, n=5)


def test_lanes_choose_on_their_own() -> None:
    given = [(p, X + 1, np.array([1])) for p in booleans(True, False, True)]
    for batched in ((True, False, False), (True, True, False), (True, True, True)):
        same_alone(CHOICE, batched, *given, n=5)
    never_empty = CHOICE.replace("n: 0..64", "n: 1..64")
    assert "tensor.cond" not in text_of(never_empty, (True, False, False))


def test_an_index_in_a_branch_not_taken_is_never_used() -> None:
    pairs = [(True, 4), (False, 77), (False, -1), (True, 0)]
    given = [(np.array(p), X, np.array([at])) for p, at in pairs]
    nobody = [(np.array(False), X, np.array([9]))] * 2
    for text in (CHOICE, CHOICE.replace("n: 0..64", "n: 1..64")):
        same_alone(text, (True, False, True), *given, n=5)
        same_alone(text, (True, True, True), *given, n=5)
        same_alone(text, (True, False, False), *nobody, n=5)


def test_an_index_in_the_branch_taken_still_fails() -> None:
    for text in (CHOICE, CHOICE.replace("n: 0..64", "n: 1..64")):
        made, _ = batch(func_of(text), (True, False, True), 2)
        with pytest.raises(ExecutionError, match=r":5: tensor.gather: index 9 .* of size 5"):
            interpret(made, np.array([True, False]), X, np.array([[9], [9]]))


def test_an_empty_tensor_is_not_read_in_a_branch_not_taken() -> None:
    empty = np.zeros(0, np.float32)
    given = [(np.array(False), empty, np.array([at])) for at in (0, 3)]
    for batched in ((True, False, False), (True, True, True), (True, False, True)):
        same_alone(CHOICE, batched, *given, n=0)


def test_a_kernel_in_a_branch_not_taken_does_not_run() -> None:
    text = """
    func @f(%p: tensor<[], bool>, %x: tensor<[2], f32>) -> tensor<[2], f32> {
      %r = tensor.cond %p () {
        %y = tensor.custom %x {kernel = "kit.outside:raises"} : tensor<[2], f32>
        yield %y
      } () {
        yield %x
      } : tensor<[2], f32>
      return %r
    }
    """
    given = [(np.array(False), X[:2] + lane) for lane in range(3)]
    same_alone(text, (True, True), *given)
    same_alone(text, (True, False), *given)


def test_a_scatter_in_a_branch_not_taken_writes_nowhere() -> None:
    text = """
    func @f(%p: tensor<[], bool>, %x: tensor<[3], f32>, %at: tensor<[2, 1], i32>)
        -> tensor<[3], f32> {
      %r = tensor.cond %p () {
        %ones = tensor.constant {value = [1.0, 2.0]} : tensor<[2], f32>
        %y = tensor.scatter %x, %at, %ones
          {axes = [0], batch = 0, combiner = add, outside = error} : tensor<[3], f32>
        yield %y
      } () {
        yield %x
      } : tensor<[3], f32>
      return %r
    }
    """
    pairs = [(True, [0, 2]), (False, [9, 9]), (True, [1, 1])]
    given = [(np.array(p), X[:3], np.array(at, np.int32)[:, None]) for p, at in pairs]
    same_alone(text, (True, False, True), *given)
    same_alone(text, (True, True, True), *given)


def test_a_matrix_in_a_branch_not_taken_need_not_be_finite() -> None:
    text = """
    func @f(%p: tensor<[], bool>, %x: tensor<[2, 2], f64>) -> tensor<[2], f64> {
      %zeros = tensor.constant {value = [0.0, 0.0]} : tensor<[2], f64>
      %r = tensor.cond %p () {
        %left, %values, %right = tensor.svd %x {full = false}
          : tensor<[2, 2], f64>, tensor<[2], f64>, tensor<[2, 2], f64>
        yield %values
      } () {
        yield %zeros
      } : tensor<[2], f64>
      return %r
    }
    """
    numbers = [(True, 1.0), (False, np.inf), (False, np.nan), (True, -2.0)]
    given = [(np.array(p), np.array([[x, 1], [2, 3]])) for p, x in numbers]
    same_alone(text, (True, True), *given)
    same_alone(text, (True, False), *[given[1]] * 2)


def test_choices_within_choices() -> None:
    text = f"""
    func @f(%p: tensor<[], bool>, %q: tensor<[], bool>, %x: tensor<[5], f32>,
        %at: tensor<[1], i64>) -> tensor<[], f32> {{
      %zero = tensor.constant {{value = 0.0}} : tensor<[], f32>
      %r = tensor.cond %p () {{
        %s = tensor.cond %q () {{
          yield %zero
        }} () {{
          %element = tensor.gather %x, %at {GATHER} : tensor<[], f32>
          yield %element
        }} : tensor<[], f32>
        yield %s
      }} () {{
        yield %zero
      }} : tensor<[], f32>
      return %r
    }}
    """
    four = [(True, True, 8), (True, False, 4), (False, True, -5), (False, False, 99)]
    given = [(np.array(p), np.array(q), X, np.array([at])) for p, q, at in four]
    same_alone(text, (True, True, False, True), *given)
    agreed = [given[1], given[3]]
    same_alone(text, (True, False, False, True), *agreed)


def test_what_fails_at_some_sizes_only_does_not_fail_in_a_branch_not_taken() -> None:
    """A slice that begins before its tensor, and the place of the largest of nothing."""
    text = """
    func @f<n: 0..64>(%p: tensor<[], bool>, %x: tensor<[n], f32>)
        -> (tensor<[], f32>, tensor<[], i32>) {
      %zero = tensor.constant {value = 0.0} : tensor<[], f32>
      %nowhere = tensor.constant {value = -1} : tensor<[], i32>
      %r, %at = tensor.cond %p () {
        %last = tensor.slice %x {start = [n - 1], size = [1], step = [1]} : tensor<[1], f32>
        %number = tensor.reshape %last {shape = []} : tensor<[], f32>
        %most = tensor.arg_maximum %x {axis = 0, dtype = i32} : tensor<[], i32>
        yield %number, %most
      } () {
        yield %zero, %nowhere
      } : tensor<[], f32>, tensor<[], i32>
      return %r, %at
    }
    """
    for size, predicates in ((0, (False, False)), (3, (True, False, True))):
        given = [(np.array(p), X[:size] + lane) for lane, p in enumerate(predicates)]
        same_alone(text, (True, False), *given, n=size)
        same_alone(text, (True, True), *given, n=size)
