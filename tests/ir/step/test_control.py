"""Loops and branches of the host."""

import numpy as np
import pytest

from brimstone.ir.interpreter import interpret
from kit.texts import failing, read, refused

ROWS = """
func @f<n: 0..64>(%x: array<[n, 2], f32>, %sums: array<[n, 2], f32>) {
  %total = step.allocate : array<[2], f32>
  step.fill %total {value = 0.0}
  step.loop {trip = n} (%i: scalar<i64>) {
    %row = step.row %x, %i : array<[2], f32>
    %sum = step.row %sums, %i : array<[2], f32>
    step.launch [%total, %row], %total {kernel = @add, grid = []}
    step.copy %total, %sum
    yield
  }
  step.free %total
  return
}
func @add(%x: tensor<[2], f32>, %y: tensor<[2], f32>) -> tensor<[2], f32> {
  %z = tensor.add %x, %y : tensor<[2], f32>
  return %z
}
"""


@pytest.mark.parametrize("size", [0, 1, 7])
def test_a_loop_carries_in_memory(size: int) -> None:
    x = np.arange(2 * size, dtype=np.float32).reshape(size, 2)
    sums = np.zeros_like(x)
    interpret(read(ROWS), x, sums)
    assert (sums == np.cumsum(x, axis=0)).all()


def test_a_loop_backwards_begins_with_the_last_index() -> None:
    x = np.arange(14, dtype=np.float32).reshape(7, 2)
    sums = np.zeros_like(x)
    interpret(read(ROWS.replace("trip = n", "trip = n, reverse = true")), x, sums)
    assert (sums == np.cumsum(x[::-1], axis=0)[::-1]).all()


def loop(trip: str = "3", header: str = "%i: scalar<i64>", body: str = "yield") -> str:
    return f"""
func @f<n: 0..9>(%x: array<[n], f32>) {{
  step.loop {{trip = {trip}}} ({header}) {{
    {body}
  }}
  return
}}
"""


@pytest.mark.parametrize(
    ("program", "problem"),
    [
        (loop(header=""), "the region body takes (), expected (scalar<i64>)"),
        (loop(header="%i: scalar<i32>"), "the region body takes (scalar<i32>), expected"),
        (loop(body="yield %i"), "the region body yields (scalar<i64>), expected ()"),
        (loop(body="return"), "the region body does not end in yield"),
        (loop(trip="-2"), "-2 is not a size"),
    ],
)
def test_a_loop_that_breaks_a_rule(program: str, problem: str) -> None:
    assert problem in refused(program)


def test_a_trip_count_that_comes_out_negative() -> None:
    message = failing(loop(trip="n - 4"), np.zeros(1, np.float32))
    assert message == "model.py:3: step.loop: the trip count n - 4 is -3"
    interpret(read(loop(trip="n - 4")), np.zeros(4, np.float32))


BRANCH = """
func @f(%p: array<[], bool>, %x: array<[2], f32>) {
  step.branch %p () {
    step.fill %x {value = 1.0}
    step.fill %p {value = false}
    yield
  } () {
    step.fill %x {value = 2.0}
    yield
  }
  return
}
"""


def test_a_branch_reads_its_predicate_from_memory() -> None:
    module, predicate, x = read(BRANCH), np.asarray(True), np.zeros(2, np.float32)
    interpret(module, predicate, x)
    assert x.tolist() == [1, 1]
    interpret(module, predicate, x)
    assert x.tolist() == [2, 2]


@pytest.mark.parametrize(
    ("program", "problem"),
    [
        (
            BRANCH.replace("%p: array<[]", "%p: array<[1]"),
            "the predicate has rank 0: array<[1], bool>",
        ),
        (BRANCH.replace("branch %p", "branch %x"), "predicate has type array<[2], f32>, expected"),
        (
            BRANCH.replace("} () {", "} (%i: scalar<i64>) {"),
            "the region on_false takes (scalar<i64>)",
        ),
        (BRANCH.replace("yield", "yield %x", 1), "the region on_true yields (array<[2], f32>)"),
    ],
)
def test_a_branch_that_breaks_a_rule(program: str, problem: str) -> None:
    assert problem in refused(program)


WHILE = """
func @f(%p: array<[], bool>, %x: array<[2], f32>) {
  step.while %p () {
    step.launch [%x], %x, %p {kernel = @halve, grid = []}
    yield
  }
  return
}
func @halve(%x: tensor<[2], f32>) -> (tensor<[2], f32>, tensor<[], bool>) {
  %half = tensor.constant {value = 0.5} : tensor<[], f32>
  %halves = tensor.broadcast %half {shape = [2], axes = []} : tensor<[2], f32>
  %y = tensor.multiply %x, %halves : tensor<[2], f32>
  %most = tensor.reduce_maximum %y {axes = [0]} : tensor<[], f32>
  %one = tensor.constant {value = 1.0} : tensor<[], f32>
  %more = tensor.less %one, %most : tensor<[], bool>
  return %y, %more
}
"""


@pytest.mark.parametrize(("holds", "left"), [(True, [1.0, 0.75]), (False, [8.0, 6.0])])
def test_a_loop_reads_its_predicate_before_each_step(holds: bool, left: list[float]) -> None:
    predicate, x = np.asarray(holds), np.array([8.0, 6.0], np.float32)
    interpret(read(WHILE), predicate, x)
    assert x.tolist() == left
    assert not predicate


@pytest.mark.parametrize(
    ("program", "problem"),
    [
        (WHILE.replace("%p: array<[]", "%p: array<[1]"), "the predicate has rank 0"),
        (WHILE.replace("while %p ()", "while %p (%i: scalar<i64>)"), "the region body takes (sca"),
        (WHILE.replace("yield", "yield %x"), "the region body yields (array<[2], f32>)"),
    ],
)
def test_a_loop_on_a_condition_that_breaks_a_rule(program: str, problem: str) -> None:
    assert problem in refused(program)


WHEN = """
func @f<n: 0..9>(%x: array<[n], f32>) {
  step.when {size = 2*n, at_least = 6} () {
    step.fill %x {value = 1.0}
    yield
  } () {
    step.fill %x {value = 2.0}
    yield
  }
  return
}
"""


@pytest.mark.parametrize(("size", "filled"), [(0, 0), (1, 2), (2, 2), (3, 1), (9, 1)])
def test_what_runs_follows_from_a_size(size: int, filled: float) -> None:
    x = np.zeros(size, np.float32)
    interpret(read(WHEN), x)
    assert x.tolist() == [filled] * size


@pytest.mark.parametrize(
    ("program", "problem"),
    [
        (WHEN.replace("2*n", "-2"), "-2 is not a size"),
        (
            WHEN.replace("6} () {", "6} (%i: scalar<i64>) {"),
            "the region enough takes (scalar<i64>), expected ()",
        ),
        (
            WHEN.replace("} () {", "} (%i: scalar<i64>) {").replace(
                "6} (%i: scalar<i64>) {", "6} () {"
            ),
            "the region below takes (scalar<i64>), expected ()",
        ),
        (WHEN.replace("yield", "yield %x", 1), "the region enough yields (array<[n], f32>)"),
    ],
)
def test_a_choice_by_size_that_breaks_a_rule(program: str, problem: str) -> None:
    assert problem in refused(program)
