"""Steps whose plans depend on their sizes in all ways that there are.

Comes in: numbers for sizes. Goes out: a step by its text, with loops, branches, views, stores,
checks and choices; one of a function, with products and rows; what is prepared of them at some
sizes.
Never: a plan; that is what tests are of.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest

import brimstone as bs
from brimstone.ir.func import Module
from brimstone.runtime.host import Host, shared_host
from brimstone.runtime.steps import generalised, prepare
from brimstone.targets.llvm.code import Code
from brimstone.targets.llvm.preparation import Preparation
from brimstone.targets.llvm.program import Program
from brimstone.targets.llvm.road import compile_step
from brimstone.targets.tape import Tape
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


def attention(q: Any, k: Any) -> Any:
    """Products and rows: packed, shared by threads, and launched together, as sizes are."""
    weights = bs.softmax(q @ k.mT, axis=-1)
    return weights @ k, bs.sum(weights, axis=0)


def program() -> Program:
    return Program(read(STEP).main, Code(partial(read, STEP), {}), shared_host())


def general(function: Any) -> Program:
    """A function of arrays with as many columns, of any sizes."""
    with bs.device("cpu"):
        func = bs.jit(function).lower(bs.zeros((9, 32)), bs.zeros((8, 32))).ir.main
    return compile_step(prepare(Module([generalised(func, ()).func])), Host(2))


def prepared(step: Program, sizes: Sequence[int], tape: Tape | None = None) -> Preparation:
    """What is known of a step at some sizes, which a tape may be given."""
    made = step._prepare(sizes, tape)
    step.code.make(made.launched())
    return made


def planned(patch: pytest.MonkeyPatch) -> list[Any]:
    """The sizes for which plans are written from now on, where no step is known yet."""
    sizes, made = list[Any](), Program._new

    def noted(step: Program, given: Any) -> Any:
        sizes.append(given)
        return made(step, given)

    patch.setattr(Program, "_new", noted)
    patch.setattr("brimstone.runtime.steps._STEPS", {})
    return sizes
