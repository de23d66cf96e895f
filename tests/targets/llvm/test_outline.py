"""What is said of a step once, for all sizes that choose the same."""

from typing import Any

import pytest

import brimstone as bs
from brimstone.ir.func import Module
from brimstone.runtime.host import Host, shared_host
from brimstone.runtime.steps import generalised, prepare
from brimstone.targets.llvm.code import Code
from brimstone.targets.llvm.outline import outline_of
from brimstone.targets.llvm.program import Preparation, Program
from brimstone.targets.llvm.road import compile_step
from brimstone.targets.llvm.whole import is_whole, plan_of
from kit.texts import read

STEP = """
func @f<n: 0..64, m: 0..64>(%x: array<[n, m], f32>, %k: array<[n, 1], i64>, %p: array<[], bool>)
    -> (array<[n, m], f32>, array<[], i64>) {
  %y = step.allocate : array<[n, m], f32>
  %more = step.allocate : array<[2*n, m], f32>
  step.inside %x, %k {by = "f", axes = [0]}
  %size = step.dim %x {axis = 1} : scalar<i64>
  %told = step.allocate : array<[], i64>
  step.store %size, %told
  step.fill %more {value = 2.0}
  %half = step.view %more {offset = n*m, shape = [n, m]} : array<[n, m], f32>
  step.when {size = n, at_least = 8} () {
    step.copy %half, %y
    yield
  } () {
    step.fill %y {value = 3.0}
    yield
  }
  step.loop {trip = n} (%i: scalar<i64>) {
    %from = step.row %half, %i : array<[m], f32>
    %to = step.row %y, %i : array<[m], f32>
    step.branch %p () {
      step.copy %from, %to
      yield
    } () {
      yield
    }
    yield
  }
  step.free %more
  return %y, %told
}
"""
SIZES = [(n, m) for n in (0, 1, 7, 8, 9, 64) for m in (0, 1, 5, 64)]


def program() -> Program:
    return Program(read(STEP), Code(read(STEP), {}), shared_host())


def general(function: Any) -> Program:
    """A function of arrays with as many columns, of any sizes."""
    with bs.device("cpu"):
        func = bs.jit(function).lower(bs.zeros((9, 32)), bs.zeros((8, 32))).ir.main
    return compile_step(prepare(Module([generalised(func, ()).func])), Host(2))


def prepared(step: Program, sizes: tuple[int, ...]) -> Preparation:
    made = Preparation(step, dict(zip(step.module.main.symbols, sizes, strict=True)))
    step.code.make(made.launched(made.flat(step.module.main.body)))
    return made


def planned(preparation: Preparation) -> Any:
    """All of a plan but what holds its code, and what is said of its actions."""
    assert is_whole(preparation)
    plan = plan_of(preparation)
    return plan._replace(held=None, script=plan.script._replace(about=None))


@pytest.mark.parametrize("latest", SIZES)
def test_a_plan_is_the_same_whatever_sizes_were_first(latest: tuple[int, int]) -> None:
    step = program()
    for sizes in (*SIZES, latest):
        made = planned(prepared(step, sizes))
    assert made == planned(prepared(program(), latest))


def test_sizes_that_choose_the_same_share_it() -> None:
    step = program()
    few, fewer, many = [prepared(step, sizes) for sizes in ((1, 2), (7, 5), (8, 5))]
    for each in (few, fewer, many):
        planned(each)
    outlines = [each.flow.whole.outline for each in (few, fewer, many) if each.flow.whole]
    assert [outlines.index(each) for each in outlines] == [0, 0, 2]


def test_parts_of_a_step_share_theirs_too() -> None:
    step = program()
    few, fewer, many = [prepared(step, sizes) for sizes in ((1, 2), (7, 5), (8, 5))]
    found = [outline_of(each.flow, each.flat(step.module.main.body)[:3]) for each in (few, fewer)]
    assert found[0] is found[1]
    assert outline_of(many.flow, many.flat(step.module.main.body)[:3]) is not found[0]


def attention(q: Any, k: Any) -> Any:
    """Products and rows: packed, shared by threads, and launched together, as sizes are."""
    weights = bs.softmax(q @ k.mT, axis=-1)
    return weights @ k, bs.sum(weights, axis=0)


@pytest.mark.parametrize("latest", [(2, 3), (1, 1), (7, 64), (64, 7), (257, 300), (600, 600)])
def test_launches_are_the_same_whatever_sizes_were_first(latest: tuple[int, int]) -> None:
    sizes = [(5, 5), (64, 7), (600, 600), (2, 3), (257, 300)]
    step, fresh = general(attention), general(attention)
    for each in (*sizes, latest):
        made = planned(prepared(step, (each[0], 32, each[1])))
    assert made == planned(prepared(fresh, (latest[0], 32, latest[1])))
