"""Kernels are written when somebody looks into them; launches that are alike are copied."""

from functools import partial
from inspect import CO_GENERATOR
from threading import Thread
from time import sleep
from types import FrameType
from typing import Any

import numpy as np
import pytest

from brimstone.ir import parse, print_func, step, verify
from brimstone.ir.builder import Builder
from brimstone.ir.func import Func, Return
from brimstone.ir.interpreter import interpret
from brimstone.ir.types import INDEX
from brimstone.passes.tiling import tile, writer
from brimstone.passes.tiling.late import Begun, LateFunc, when_asked
from kit.interrupts import interrupted

SCHEDULE = {
    "m": 4, "n": 8, "k": 8, "kept": 64, "few": 4, "alone": 64, "chunk": 32, "together": 4,
    "beside": 2, "lines": 2, "dots": 2, "along": 8, "unroll": 2, "wide": 16,
    "low": 2, "broad": 16, "near": 256, "much": 3, "apart": 1,
    "some": 3, "many": 64, "deep": 64, "part": 2,
}  # fmt: skip

TWICE = """
func @main<n: 1..64, m: 1..64>(%a: array<[n, m], f32>, %b: array<[n, m], f32>)
    -> (array<[n, n], f32>, array<[n, n], f32>, array<[n, n], f32>) {
  %x = step.allocate : array<[n, n], f32>
  %y = step.allocate : array<[n, n], f32>
  %z = step.allocate : array<[n, n], f32>
  step.launch [%a, %a], %x {kernel = @one, grid = []}
  step.launch [%a, %b], %y {kernel = @two, grid = []}
  step.launch [%b, %a], %z {kernel = @one, grid = []}
  return %x, %y, %z
}
"""
KERNEL = """
func @NAME<n: 1..64, m: 1..64>(%a: tensor<[n, m], f32>, %b: tensor<[n, m], f32>)
    -> tensor<[n, n], f32> {
  %y = tensor.contract %a, %b {left_batch = [], right_batch = [], left_contract = [1],
    right_contract = [1], dtype = f32} : tensor<[n, n], f32>
  return %y
}
"""
TAKEN = """
func @main<n: 1..64>(%x: array<[n], f32>, %i: array<[4, 1], i32>)
    -> (array<[4], f32>, array<[4], f32>) {
  %y = step.allocate : array<[4], f32>
  %z = step.allocate : array<[4], f32>
  step.launch [%x, %i], %y {kernel = @one, grid = []}
  step.launch [%x, %i], %z {kernel = @two, grid = []}
  return %y, %z
}
"""
TAKING = """
func @NAME<n: 1..64>(%x: tensor<[n], f32>, %i: tensor<[4, 1], i32>) -> tensor<[4], f32> {
  %y = tensor.gather %x, %i {axes = [0], outside = error} : tensor<[4], f32>
  return %y
}
"""


def twice(main: str, kernel: str) -> Any:
    return parse(main + kernel.replace("NAME", "one") + kernel.replace("NAME", "two"), "twice")


@when_asked
def late(made: list[int], certain: bool = True) -> Begun:
    """A func that says when it is written, and takes its time."""
    head = Func("f", [INDEX])

    def write() -> None:
        made.append(1)
        sleep(0.01)
        Builder(head.body).emit_all(Return, [])

    return Begun(head, (), write, certain)


def is_no_generator(frame: FrameType, _: str) -> bool:
    """Generators do not count: Python takes no error from one that is closed."""
    return not frame.f_code.co_flags & CO_GENERATOR


def test_a_func_is_written_once_when_its_body_is_wanted() -> None:
    made: list[int] = []
    func, _ = late(made)
    func.name += "_"
    assert func.arguments[0].type is INDEX and not made
    found: list[int] = []
    threads = [Thread(target=lambda: found.append(len([*func.walk()]))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (found, made) == ([1] * 4, [1])
    assert func.body.parent is func


def test_what_a_func_has_not_is_not_written() -> None:
    made: list[int] = []
    func, _ = late(made)
    assert isinstance(func, LateFunc)
    with pytest.raises(AttributeError, match="colour"):
        _ = func.colour
    assert not made


def test_what_may_be_refused_is_written_at_once() -> None:
    made: list[int] = []
    func, _ = late(made, certain=False)
    assert made and not isinstance(func, LateFunc)


def test_what_is_interrupted_is_begun_anew() -> None:
    """Wherever the interrupt comes, and if it comes twice."""

    def kernels() -> list[Func]:
        module = tile(twice(TWICE, KERNEL), lambda shape: SCHEDULE, shared=True).module
        return [func for func in module if isinstance(func, LateFunc)]

    for place, func in enumerate(kernels()):
        expected, after, again = print_func(func), 1, True
        while again:
            other = kernels()[place]
            again = interrupted(partial(getattr, other, "body"), after - 1, is_no_generator)
            interrupted(partial(getattr, other, "body"), after // 2, is_no_generator)
            assert len(other.arguments) == len(func.arguments)
            assert print_func(other) == expected
            assert other.body.parent is other
            after = after * 3 // 2 + 1


def test_only_kernels_that_are_looked_at_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []

    def close(func: Func, builder: Builder) -> None:
        written.append(func.name)
        builder.emit_all(Return, [])

    monkeypatch.setattr(writer, "close_func", close)
    made = tile(twice(TWICE, KERNEL), lambda shape: SCHEDULE, shared=True).module
    assert len(made) > 5 and not written
    assert len(made["one_alone"].body.arguments) == 3
    assert written == ["one_alone"]


def test_launches_of_equal_kernels_are_copied_to_their_own_arrays_and_lines() -> None:
    module = twice(TWICE, KERNEL)
    made = tile(module, lambda shape: SCHEDULE, shared=True).module
    verify(made)
    launches = [op for op in made.main.walk() if isinstance(op, step.Launch)]
    lines = [line for op in launches for _, line in op.location]
    assert {*lines} == {7, 8, 9} and lines == sorted(lines)
    random = np.random.default_rng(0)
    for size in (1, 5, 40):
        a, b = random.integers(-3, 4, (2, size, 7)).astype(np.float32)
        for mine, theirs in zip(interpret(made, a, b), interpret(module, a, b), strict=True):
            assert mine.tolist() == theirs.tolist()


def test_an_index_outside_is_found_where_it_is_used() -> None:
    made = tile(twice(TAKEN, TAKING), lambda shape: SCHEDULE, shared=True).module
    checks = [op for op in made.main.walk() if isinstance(op, step.Inside)]
    module = twice(TAKEN, TAKING)
    expected = [module[name].results[0].op.location for name in ("one", "two")]
    assert [op.location for op in checks] == expected
