"""Sorts in machine code: every dtype, and lines of all lengths."""

from typing import Any

import numpy as np
import pytest

from brimstone.ir import tensor
from brimstone.ir.builder import Builder
from brimstone.ir.dims import Symbol
from brimstone.ir.dtypes import DType, bf16, boolean, f16, f32, f64, i8, i64
from brimstone.ir.func import Func, Module, Return
from brimstone.ir.interpreter import interpret
from brimstone.ir.types import Tensor
from brimstone.passes.machine import Machine
from brimstone.passes.oracle import difference
from brimstone.runtime.host import shared_host
from brimstone.targets.llvm import descent, road
from brimstone.targets.llvm.cache import Cache
from brimstone.targets.llvm.program import Program
from brimstone.targets.llvm.schedules import chooser
from kit.played import played
from kit.special import special

N, M, K = Symbol("n", 0, 8), Symbol("m", 0, 1 << 20), Symbol("k", 1, 1 << 20)


def small(machine: Machine) -> Any:
    """Few elements are many."""
    choose = chooser(machine)
    return lambda shape: {**choose(shape), "chunk": 256, "room": 96, "share": 8}


def program(
    dtypes: list[DType], monkeypatch: pytest.MonkeyPatch, **named: Any
) -> tuple[Func, Program]:
    """A sort of lines, and of their places along."""
    monkeypatch.setattr(descent, "chooser", small)
    monkeypatch.setattr(road, "default_cache", lambda: Cache(None))  # nobody else chooses so
    func = Func("main", [Tensor((N, M), dtype) for dtype in dtypes], (N, M, K))
    builder = Builder(func.body)
    places = builder.emit(tensor.Iota, shape=(N, M), axis=1, dtype=i64)
    sort = builder.emit_all(tensor.Sort, [*func.arguments, places], axis=1, **named)
    builder.emit_all(Return, sort)
    made = road.compile_step(Module([func]), shared_host())
    assert not made.code.refused
    return func, made


def agree(func: Func, made: Program, lines: int, length: int, count: int = 1) -> None:
    """Compare with the interpreter on few different elements, some of them special."""
    rng = np.random.default_rng(length)
    sizes = {"n": lines, "m": length, "k": count}
    given = [
        rng.choice(rng.choice(special(each.dtype), 9), (lines, length)) for each in func.arguments
    ]
    expected = interpret(Module([func]), *given, sizes=sizes)
    assert difference(expected, played(made, given, sizes)) is None, sizes


@pytest.mark.parametrize("dtype", [f32, f64, bf16, i8, boolean], ids=str)
def test_lines(dtype: DType, monkeypatch: pytest.MonkeyPatch) -> None:
    func, made = program([dtype], monkeypatch, keys=1, descending=dtype in (f64, i8))
    for length in (0, 5, 33, 200):
        agree(func, made, 3, length)


def test_several_keys_and_long_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    func, made = program([i8, f16], monkeypatch, keys=2)
    for length in (20, 256, 257, 700):
        agree(func, made, 2, length)


@pytest.mark.parametrize(("dtype", "descending"), [(f32, True), (i64, False)])
def test_the_first_few(dtype: DType, descending: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    func, made = program([dtype], monkeypatch, keys=1, descending=descending, count=K)
    for length, count in ((40, 3), (255, 8), (256, 1), (1000, 20), (3000, 31)):
        agree(func, made, 2, length, count)


def test_candidates_that_get_better_all_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    func, made = program([f32], monkeypatch, keys=1, descending=True, count=K)
    x = np.arange(3000, dtype=np.float32).reshape(2, 1500)
    sizes = {"n": 2, "m": 1500, "k": 7}
    assert difference(interpret(Module([func]), x, sizes=sizes), played(made, [x], sizes)) is None
