"""While loops that lanes leave together, or one by one: those that wait are not noticed."""

import numpy as np
import pytest

from brimstone.ir.errors import ExecutionError
from brimstone.ir.interpreter import interpret
from brimstone.passes.batch import batch
from kit.evaluate import Array
from kit.lanes import func_of, same_alone

GATHER = "{axes = [0], batch = 0, outside = error}"
X = np.arange(5, dtype=np.float32) * 1.5

SUM_UP_TO = f"""
func @f(%x: tensor<[5], f32>, %start: tensor<[], i64>, %stop: tensor<[], i64>)
    -> (tensor<[], i64>, tensor<[], f32>) {{
  %nothing = tensor.constant {{value = 0.0}} : tensor<[], f32>
  %count, %sum = tensor.while %start, %nothing (%i: tensor<[], i64>, %unused: tensor<[], f32>) {{
    %more = tensor.less %i, %stop : tensor<[], bool>
    yield %more
  }} (%i: tensor<[], i64>, %s: tensor<[], f32>) {{
    %one = tensor.constant {{value = 1}} : tensor<[], i64>
    %place = tensor.reshape %i {{shape = [1]}} : tensor<[1], i64>
    %element = tensor.gather %x, %place {GATHER} : tensor<[], f32>
    %next = tensor.add %i, %one : tensor<[], i64>
    %added = tensor.add %s, %element : tensor<[], f32>
    yield %next, %added
  }} : tensor<[], i64>, tensor<[], f32>
  return %count, %sum
}}
"""


def whole(*values: int) -> list[Array]:
    return [np.array(value) for value in values]


def test_lanes_that_agree_when_to_stop_carry_only_what_differs() -> None:
    given = [(X + lane, np.array(1), np.array(4)) for lane in range(3)]
    same_alone(SUM_UP_TO, (True, False, False), *given)
    made = batch(func_of(SUM_UP_TO), (True, False, False), 3)
    assert made[1] == (False, True)


def test_lanes_stop_one_by_one() -> None:
    """A lane that has read the end of x waits at an index outside, and reads no more."""
    spans = [(3, 5), (0, 5), (0, 3), (4, 4), (9, 2)]
    given = [(X + lane, np.array(a), np.array(b)) for lane, (a, b) in enumerate(spans)]
    same_alone(SUM_UP_TO, (True, True, True), *given)
    same_alone(SUM_UP_TO, (False, True, True), *given)
    until_five = [(X, np.array(start), np.array(5)) for start in (4, 0, 5)]
    same_alone(SUM_UP_TO, (False, True, False), *until_five)


def test_no_lanes_at_all() -> None:
    made, _ = batch(func_of(SUM_UP_TO), (False, False, True), 0)
    count, total = interpret(made, X, np.array(0), np.zeros(0, np.int64))
    assert (count.shape, total.shape) == ((0,), (0,))


def test_an_index_that_a_running_lane_has_still_fails() -> None:
    made, _ = batch(func_of(SUM_UP_TO), (False, False, True), 2)
    with pytest.raises(ExecutionError, match="index 5 at"):
        interpret(made, X, np.array(0), np.array([1, 6]))


def test_a_loop_keeps_its_line() -> None:
    func = func_of(SUM_UP_TO)
    made, _ = batch(func, (False, False, True), 2)
    lines = {op.name: str(op.location) for op in made.body}
    assert lines["tensor.while"] == "<text>:5"
    assert all(op.location for op in made.walk())


def test_a_loop_in_a_branch_not_taken_takes_no_step() -> None:
    """Alone, it would go on for ever."""
    text = """
    func @f(%p: tensor<[], bool>, %x: tensor<[], i64>) -> tensor<[], i64> {
      %r = tensor.cond %p () {
        yield %x
      } () {
        %never = tensor.while %x (%i: tensor<[], i64>) {
          %yes = tensor.equal %x, %x : tensor<[], bool>
          yield %yes
        } (%i: tensor<[], i64>) {
          %one = tensor.constant {value = 1} : tensor<[], i64>
          %next = tensor.add %i, %one : tensor<[], i64>
          yield %next
        } : tensor<[], i64>
        yield %never
      } : tensor<[], i64>
      return %r
    }
    """
    given = [(np.array(True), x) for x in whole(3, 4)]
    same_alone(text, (True, False), *given)
    same_alone(text, (True, True), *given)


FIRST_NEGATIVE = f"""
    func @f(%x: tensor<[4], f32>, %start: tensor<[], i64>) -> tensor<[], i64> {{
      %end = tensor.while %start (%i: tensor<[], i64>) {{
        %place = tensor.reshape %i {{shape = [1]}} : tensor<[1], i64>
        %element = tensor.gather %x, %place {GATHER} : tensor<[], f32>
        %zero = tensor.constant {{value = 0.0}} : tensor<[], f32>
        %positive = tensor.less %zero, %element : tensor<[], bool>
        yield %positive
      }} (%i: tensor<[], i64>) {{
        %one = tensor.constant {{value = 1}} : tensor<[], i64>
        %next = tensor.add %i, %one : tensor<[], i64>
        yield %next
      }} : tensor<[], i64>
      return %end
    }}
"""


def test_a_condition_that_reads_places() -> None:
    """Of lanes that wait, the condition sees what it saw when they stopped."""
    x = np.array([1, 1, 1, -1], np.float32)
    given = [(x, start) for start in whole(0, 3, 2)]
    same_alone(FIRST_NEGATIVE, (False, True), *given)


def test_a_condition_that_reads_a_place_that_is_alike_in_all_lanes() -> None:
    text = f"""
    func @f(%x: tensor<[4], i64>, %at: tensor<[1], i64>, %start: tensor<[], i64>)
        -> tensor<[], i64> {{
      %end = tensor.while %start (%i: tensor<[], i64>) {{
        %stop = tensor.gather %x, %at {GATHER} : tensor<[], i64>
        %more = tensor.less %i, %stop : tensor<[], bool>
        yield %more
      }} (%i: tensor<[], i64>) {{
        %step = tensor.gather %x, %at {GATHER} : tensor<[], i64>
        %next = tensor.add %i, %step : tensor<[], i64>
        yield %next
      }} : tensor<[], i64>
      return %end
    }}
    """
    given = [(np.array([3, 1, 4, 1]), np.array([2]), start) for start in whole(0, 9, -3)]
    same_alone(text, (False, False, True), *given)


def test_a_condition_in_a_branch_not_taken_reads_nothing() -> None:
    body = FIRST_NEGATIVE.partition("{\n")[2].partition("return")[0]
    text = f"""
    func @f(%p: tensor<[], bool>, %x: tensor<[4], f32>, %start: tensor<[], i64>)
        -> tensor<[], i64> {{
      %r = tensor.cond %p () {{
        {body}
        yield %end
      }} () {{
        yield %start
      }} : tensor<[], i64>
      return %r
    }}
    """
    x = np.array([1, 1, 1, -1], np.float32)
    given = [(np.array(p), x, np.array(start)) for p, start in [(True, 1), (False, 9), (True, 3)]]
    same_alone(text, (True, False, True), *given)
    same_alone(text, (True, True, True), *given)


def test_loops_that_wait_within_loops_that_wait() -> None:
    """The inner loop counts to where the outer one is, or to what is the same in all lanes."""
    text = """
    func @f(%m: tensor<[], i64>, %n: tensor<[], i64>) -> (tensor<[], i64>, tensor<[], i64>) {
      %one = tensor.constant {value = 1} : tensor<[], i64>
      %zero = tensor.constant {value = 0} : tensor<[], i64>
      %i, %sum = tensor.while %zero, %zero (%i: tensor<[], i64>, %s: tensor<[], i64>) {
        %more = tensor.less %i, %m : tensor<[], bool>
        yield %more
      } (%i: tensor<[], i64>, %s: tensor<[], i64>) {
        %next = tensor.add %i, %one : tensor<[], i64>
        %t = tensor.while %zero (%j: tensor<[], i64>) {
          %more = tensor.less %j, %n : tensor<[], bool>
          yield %more
        } (%j: tensor<[], i64>) {
          %following = tensor.add %j, %one : tensor<[], i64>
          yield %following
        } : tensor<[], i64>
        %u = tensor.while %s (%j: tensor<[], i64>) {
          %more = tensor.less %j, %i : tensor<[], bool>
          yield %more
        } (%j: tensor<[], i64>) {
          %following = tensor.add %j, %t : tensor<[], i64>
          yield %following
        } : tensor<[], i64>
        yield %next, %u
      } : tensor<[], i64>, tensor<[], i64>
      return %i, %sum
    }
    """
    given = [(m, n) for m, n in zip(whole(4, 0, 7, 2), whole(1, 0, 3, 2), strict=True)]
    same_alone(text, (True, False), *given)
    same_alone(text, (False, True), *given[2:])
    same_alone(text, (True, True), *[given[0], given[2], given[3]])
