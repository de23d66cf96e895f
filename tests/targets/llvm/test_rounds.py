"""Loops and branches without Python: they do what they do in the interpreter."""

from typing import Any

import numpy as np
import pytest

from brimstone.ir.interpreter import interpret
from brimstone.runtime.host import shared_host
from brimstone.targets.llvm.code import Code
from brimstone.targets.llvm.preparation import Preparation
from brimstone.targets.llvm.program import Program
from brimstone.targets.llvm.whole import is_whole, plan_of
from brimstone.targets.script import Kind
from kit.played import played
from kit.texts import read

HEAD = """
func @f<n: 0..64>(%x: array<[n, 3, 4], f32>, %p: array<[n], bool>) -> array<[n, 3, 4], f32> {
  %y = step.allocate : array<[n, 3, 4], f32>
  step.fill %y {value = 0.0}
"""
TAIL = """
  return %y
}
"""
NESTED = """
  step.loop {trip = n} (%i: scalar<i64>) {
    %from = step.row %x, %i : array<[3, 4], f32>
    %to = step.row %y, %i : array<[3, 4], f32>
    step.loop {trip = 3, reverse = true} (%j: scalar<i64>) {
      %a = step.row %from, %j : array<[4], f32>
      %b = step.row %to, %j : array<[4], f32>
      step.copy %a, %b
      yield
    }
    yield
  }
"""
VIEWS = """
  step.loop {trip = n, reverse = true} (%i: scalar<i64>) {
    %from = step.row %x, %i : array<[3, 4], f32>
    %part = step.view %from {offset = 2, shape = [5, 2]} : array<[5, 2], f32>
    %all = step.view %y {offset = 0, shape = [n, 6, 2]} : array<[n, 6, 2], f32>
    %to = step.row %all, %i : array<[6, 2], f32>
    step.loop {trip = 5} (%j: scalar<i64>) {
      %a = step.row %part, %j : array<[2], f32>
      %b = step.row %to, %j : array<[2], f32>
      %kept = step.allocate : array<[2], f32>
      step.copy %a, %kept
      step.copy %kept, %b
      step.free %kept
      yield
    }
    yield
  }
"""
DIAGONAL = """
  step.loop {trip = 3} (%i: scalar<i64>) {
    %square = step.view %y {offset = 0, shape = [3, 3]} : array<[3, 3], f32>
    %line = step.row %square, %i : array<[3], f32>
    %element = step.row %line, %i : array<[], f32>
    step.fill %element {value = 7.0}
    yield
  }
"""
BRANCHES = """
  %once = step.allocate : array<[], bool>
  step.loop {trip = n} (%i: scalar<i64>) {
    %more = step.row %p, %i : array<[], bool>
    %from = step.row %x, %i : array<[3, 4], f32>
    %to = step.row %y, %i : array<[3, 4], f32>
    step.branch %more () {
      %kept = step.allocate : array<[3, 4], f32>
      step.copy %from, %kept
      step.copy %kept, %to
      step.free %kept
      yield
    } () {
      step.fill %once {value = true}
      step.while %once () {
        step.fill %to {value = 5.0}
        step.fill %once {value = false}
        yield
      }
      yield
    }
    yield
  }
  step.free %once
"""
INDICES = """
  %numbers = step.allocate : array<[n, 2], i64>
  %rows = step.dim %x {axis = 0} : scalar<i64>
  step.loop {trip = n, reverse = true} (%i: scalar<i64>) {
    %pair = step.row %numbers, %i : array<[2], i64>
    %first = step.view %pair {offset = 0, shape = []} : array<[], i64>
    %second = step.view %pair {offset = 1, shape = []} : array<[], i64>
    step.store %i, %first
    step.store %rows, %second
    %bytes = step.view %first {offset = 0, shape = [2], dtype = f32} : array<[2], f32>
    %to = step.row %y, %i : array<[3, 4], f32>
    %begin = step.view %to {offset = 6, shape = [2]} : array<[2], f32>
    step.copy %bytes, %begin
    %more = step.view %second {offset = 0, shape = [2], dtype = f32} : array<[2], f32>
    %end = step.view %to {offset = 10, shape = [2]} : array<[2], f32>
    step.copy %more, %end
    yield
  }
  step.free %numbers
"""
BODIES = {
    "nested": NESTED,
    "views": VIEWS,
    "diagonal": DIAGONAL,
    "branches": BRANCHES,
    "indices": INDICES,
}


def program(body: str) -> Program:
    module = read(HEAD + body + TAIL)
    return Program(module.main, Code(lambda: module, {}), shared_host())


def inputs(size: int) -> list[Any]:
    source = np.random.default_rng(size)
    return [source.standard_normal((size, 3, 4)).astype(np.float32), source.random(size) < 0.5]


@pytest.mark.parametrize("size", [1, 2, 7, 64])
@pytest.mark.parametrize("name", BODIES)
def test_rounds_are_those_of_the_interpreter(name: str, size: int) -> None:
    step, given = program(BODIES[name]), inputs(size)
    (expected,) = interpret(step.code.module, *given)
    for _ in range(2):  # slots are used again
        (found,) = played(step, given)
        assert found.tobytes() == expected.tobytes()


def test_no_round_at_all() -> None:
    for name in ("nested", "views", "branches", "indices"):
        assert played(program(BODIES[name]), inputs(0))[0].shape == (0, 3, 4)


def preparation(step: Program, size: int) -> Preparation:
    return Preparation(step, {symbol: size for symbol in step.main.symbols})


@pytest.mark.parametrize("name", BODIES)
def test_python_has_no_part_in_it(name: str) -> None:
    step = program(BODIES[name])
    prepared = preparation(step, 5)
    assert is_whole(prepared)


def test_a_row_that_is_not_there_is_left_to_python() -> None:
    """It knows what to say of it."""
    step = program(DIAGONAL.replace("trip = 3", "trip = n"))
    for size, whole in ((3, True), (4, False)):
        prepared = preparation(step, size)
        assert is_whole(prepared) is whole


def test_memory_of_a_body_is_had_once() -> None:
    step = program(VIEWS)
    prepared = preparation(step, 7)
    plan = plan_of(prepared)
    assert plan.arena == 64
    counts = [sum(act.kind is kind for act in plan.script.actions) for kind in Kind]
    assert counts[Kind.LOOP] == counts[Kind.NEXT] == 2
    assert counts[Kind.COPY] == 2
    assert len(plan.script.places) < 8
