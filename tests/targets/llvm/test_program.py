"""Steps on the CPU do what they do in the interpreter."""

from functools import partial
from typing import Any

import numpy as np
import pytest

from brimstone.ir.errors import ExecutionError
from brimstone.ir.interpreter import interpret
from brimstone.ir.step import View
from brimstone.runtime.host import shared_host
from brimstone.targets.llvm.code import Code
from brimstone.targets.llvm.outline import Outline
from brimstone.targets.llvm.preparation import Preparation
from brimstone.targets.llvm.program import PREPARED_AT_MOST, Program
from brimstone.targets.llvm.whole import is_whole
from kit.played import played
from kit.texts import read

F32 = np.float32

MEMORY = """
func @f<n: 0..64>(%x: array<[n, 2], f32>) -> (array<[n], i32>, array<[2*n], f32>) {
  %a = step.allocate : array<[n, 4], i32>
  %flat = step.view %x {offset = 0, shape = [2*n]} : array<[2*n], f32>
  %b = step.allocate : array<[2*n], f32>
  step.copy %flat, %b
  step.fill %a {value = 7}
  %part = step.view %a {offset = n, shape = [n]} : array<[n], i32>
  %c = step.allocate : array<[n], i32>
  step.copy %part, %c
  step.free %a
  return %c, %b
}
"""
KEPT = """
func @f<n: 0..64>(%x: array<[n, 2], f32>) -> array<[n, 2], f32> {
  %unused = step.allocate : array<[n, 2], f32>
  %y = step.allocate : array<[n, 2], f32>
  step.fill %unused {value = 3.0}
  step.copy %x, %y
  return %y
}
"""
LOOP = """
func @f<n: 0..64>(%x: array<[n, 2], f32>) -> array<[n, 2], f32> {
  %sums = step.allocate : array<[n, 2], f32>
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
  return %sums
}
func @add(%x: tensor<[2], f32>, %y: tensor<[2], f32>) -> tensor<[2], f32> {
  %z = tensor.add %x, %y : tensor<[2], f32>
  return %z
}
"""
BRANCH = """
func @f<n: 0..64>(%x: array<[n, 2], f32>, %p: array<[], bool>) -> array<[n, 2], f32> {
  %a = step.allocate : array<[n, 2], f32>
  step.branch %p () {
    step.copy %x, %a
    yield
  } () {
    step.fill %a {value = 1.0}
    yield
  }
  return %a
}
"""
WHEN = """
func @f<n: 0..64>(%x: array<[n, 2], f32>) -> array<[n, 2], f32> {
  %a = step.allocate : array<[n, 2], f32>
  step.when {size = n, at_least = 7} () {
    step.copy %x, %a
    yield
  } () {
    step.fill %a {value = 1.0}
    yield
  }
  return %a
}
"""
VIEWED = """
func @f<n: 0..64>(%x: array<[n, 2], f32>) -> array<[2*n], f32> {
  %a = step.allocate : array<[2*n], f32>
  %flat = step.view %x {offset = 0, shape = [2*n]} : array<[2*n], f32>
  step.when {size = n, at_least = 7} () {
    step.copy %flat, %a
    yield
  } () {
    step.launch [%flat], %a {kernel = @same, grid = []}
    yield
  }
  return %a
}
func @same<n: 0..128>(%x: tensor<[n], f32>) -> tensor<[n], f32> {
  return %x
}
"""
"""A view of which only one region leaves something to Python."""
SIZES = """
func @f<n: 0..64>(%x: array<[n, 2], f32>) -> array<[], i64> {
  %n = step.dim %x {axis = 0} : scalar<i64>
  %a = step.allocate : array<[], i64>
  step.launch [%n], %a {kernel = @number, grid = []}
  return %a
}
func @number(%x: tensor<[], i64>) -> tensor<[], i64> {
  return %x
}
"""
BACKWARDS = """
func @f<n: 0..64>(%x: array<[n, 2], f32>) -> array<[n, 2], f32> {
  %y = step.allocate : array<[n, 2], f32>
  %last = step.allocate : array<[], i64>
  step.fill %last {value = 63}
  step.loop {trip = n, reverse = true} (%i: scalar<i64>) {
    %row = step.row %x, %i : array<[2], f32>
    %made = step.row %y, %i : array<[2], f32>
    step.launch [%row, %last], %made {kernel = @scale, grid = []}
    step.store %i, %last
    yield
  }
  step.free %last
  return %y
}
func @scale(%x: tensor<[2], f32>, %i: tensor<[], i64>) -> tensor<[2], f32> {
  %f = tensor.cast %i {dtype = f32} : tensor<[], f32>
  %b = tensor.broadcast %f {shape = [2], axes = []} : tensor<[2], f32>
  %z = tensor.multiply %x, %b : tensor<[2], f32>
  return %z
}
"""
WHILE = """
func @f<n: 0..64>(%x: array<[n, 2], f32>) -> array<[2], i64> {
  %count = step.allocate : array<[2], i64>
  step.fill %count {value = 0}
  %more = step.allocate : array<[], bool>
  step.fill %more {value = true}
  step.while %more () {
    step.launch [%count, %x], %count, %more {kernel = @count, grid = []}
    yield
  }
  step.free %more
  return %count
}
func @count<n: 0..64>(%c: tensor<[2], i64>, %x: tensor<[n, 2], f32>)
    -> (tensor<[2], i64>, tensor<[], bool>) {
  %one = tensor.constant {value = 1} : tensor<[], i64>
  %ones = tensor.broadcast %one {shape = [2], axes = []} : tensor<[2], i64>
  %next = tensor.add %c, %ones : tensor<[2], i64>
  %reached = tensor.reduce_maximum %next {axes = [0]} : tensor<[], i64>
  %size = tensor.dim %x {axis = 0} : tensor<[], i64>
  %more = tensor.less %reached, %size : tensor<[], bool>
  return %next, %more
}
"""


def program(text: str) -> Program:
    return Program(read(text).main, Code(partial(read, text), {}), shared_host())


def inputs(size: int) -> Any:
    return np.arange(2 * size, dtype=F32).reshape(size, 2)


@pytest.mark.parametrize("size", [0, 1, 7, 64])
@pytest.mark.parametrize(
    "text",
    [MEMORY, LOOP, SIZES, WHEN, VIEWED, BACKWARDS, WHILE],
    ids=["memory", "loop", "sizes", "when", "viewed", "backwards", "while"],
)
def test_a_step_does_what_the_interpreter_does(text: str, size: int) -> None:
    x = inputs(size)
    for mine, theirs in zip(played(program(text), [x]), interpret(read(text), x), strict=True):
        assert mine.dtype == theirs.dtype
        assert mine.tolist() == theirs.tolist()


@pytest.mark.parametrize("holds", [True, False])
def test_a_branch(holds: bool) -> None:
    x = inputs(3)
    (found,) = played(program(BRANCH), [x, np.asarray(holds)])
    assert found.tolist() == (x if holds else np.ones_like(x)).tolist()


def test_memory_that_is_neither_freed_nor_given_back_has_a_holder() -> None:
    """The core alone would give it to somebody else while the step runs."""
    step = program(KEPT)
    preparation = Preparation(step, {symbol: 7 for symbol in step.main.symbols})
    assert not is_whole(preparation)
    (found,) = played(step, [inputs(7)])
    assert found.tolist() == inputs(7).tolist()


@pytest.mark.parametrize("size", [6, 7])
def test_what_a_region_would_do_that_is_not_chosen_does_not_count(size: int) -> None:
    step = program(VIEWED)
    preparation = Preparation(step, {symbol: size for symbol in step.main.symbols})
    ops = [*preparation.flat(step.main.body)]
    (view,) = [op for op in ops if isinstance(op, View)]
    copied, launched = sorted(view.part.uses, key=lambda op: op.name)
    assert preparation.flow.is_skipped(copied) is (size < 7)
    assert preparation.flow.is_skipped(launched) is (size >= 7)
    assert not preparation.flow.is_skipped(view)
    outline = Outline(preparation.flow, [op for op in ops if op.name != "step.launch"])
    assert len(outline.seen) == (size < 7)


def test_results_are_read_only() -> None:
    for result in played(program(MEMORY), [inputs(3)]):
        assert not result.flags.writeable


def test_many_sizes_one_after_another() -> None:
    step = program(LOOP)
    for size in (*range(PREPARED_AT_MOST), 3):
        assert played(step, [inputs(size)])[0].tolist() == np.cumsum(inputs(size), axis=0).tolist()


def test_a_size_outside_its_bounds() -> None:
    with pytest.raises(ExecutionError, match="the size n is 65"):
        played(program(LOOP), [inputs(65)])


def test_what_fails_names_its_line() -> None:
    text = LOOP.replace("step.row %x, %i", "step.row %sums, %i").replace("trip = n", "trip = n + 1")
    with pytest.raises(ExecutionError, match=r"step\.row.*index 2") as caught:
        played(program(text), [inputs(2)])
    assert str(caught.value.location).startswith("model.py:")
