"""Lowered steps on disk: found by the same step, as they were, and lowered again for what is not
told of them."""

import os
import subprocess
import sys
from errno import ENOSPC
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.ir.dtypes import f32
from brimstone.ir.errors import IRError
from brimstone.ir.func import Func, Module
from brimstone.ir.interpreter import interpret
from brimstone.ir.locations import UNKNOWN, Location
from brimstone.ir.parser import parse
from brimstone.ir.printer import print_func, print_module
from brimstone.passes.copying import copy_func
from brimstone.passes.oracle import difference
from brimstone.runtime.host import shared_host
from brimstone.runtime.records import plan_words
from brimstone.targets.llvm import build, code, descent, preparation, road
from brimstone.targets.llvm.cache import STEP, Cache
from brimstone.targets.llvm.code import Changed, Foreseen
from brimstone.targets.llvm.descent import descend
from brimstone.targets.llvm.heads import Head
from brimstone.targets.llvm.machines import MODELS, host
from brimstone.targets.llvm.preparation import Preparation
from brimstone.targets.llvm.program import Program
from brimstone.targets.llvm.schedules import chooser
from brimstone.targets.llvm.whole import plan_of
from kit.agreeing import program as random_program
from kit.agreement import disagreement
from kit.contractions import contraction
from kit.endings import ending
from kit.played import played
from kit.tiling import arrays_for, kernel

Sizes = dict[str, int]
SMALL, LARGE = {"m": 20, "k": 30, "n": 24}, {"m": 300, "k": 40, "n": 300}
"""They launch different kernels of a product."""


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cache:
    """An empty disk; no code is known."""
    made = Cache(tmp_path)
    for each in (build, road):
        monkeypatch.setattr(each, "default_cache", lambda: made)
    monkeypatch.setattr(code, "_KNOWN", {})
    return made


@pytest.fixture
def lowerings(monkeypatch: pytest.MonkeyPatch) -> list[Module]:
    """What is lowered."""
    found, lower = list[Module](), road.lowered

    def noted(module: Module, *settings: Any, **named: Any) -> Any:
        found.append(module)
        return lower(module, *settings, **named)

    monkeypatch.setattr(road, "lowered", noted)
    return found


def step(func: Func) -> Program:
    """The step of a copy, as another process would make it."""
    made = copy_func(func)
    made.name = "main"
    return road.compile_step(Module([made]), shared_host())


def check(made: Program, func: Func, sizes: Sizes) -> None:
    """The step does what the interpreter does."""
    arguments = arrays_for(func, sizes, whole=True)
    expected = interpret(Module([func]), *arguments)
    assert difference(expected, played(made, arguments, sizes)) is None, sizes


def words(made: Program, sizes: Sizes) -> Any:
    """The plan for some sizes, but for where code lies."""
    known = {symbol: sizes[symbol.name] for symbol in made.main.symbols}
    plan = plan_of(Preparation(made, known))
    addresses = {kernel.address for kernel in made.code._kernels.values()}
    return [each for each in plan_words(plan).words if each not in addresses]


def test_what_another_process_has_made_is_read(disk: Cache, lowerings: list[Module]) -> None:
    func = contraction("nn")
    first = step(func)
    check(first, func, SMALL)
    assert len(lowerings) == 1
    again = step(func)
    check(again, func, SMALL)
    assert len(lowerings) == 1
    texts = [print_func(each.main, locations=True) for each in (first, again)]
    assert texts[0] == texts[1]
    assert words(again, SMALL) == words(first, SMALL)
    assert again.code.heads == first.code.heads


def test_random_programs_are_read_as_they_were(disk: Cache, lowerings: list[Module]) -> None:
    for seed in range(6):
        for _ in range(2):
            assert disagreement(seed) is None
    assert len(lowerings) == 12, "of each seed with and without fusion"


def test_what_python_has_a_part_in_is_read(
    disk: Cache, lowerings: list[Module], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loops, branches, a call on the host, and an argument that is given away."""

    def function(x: Any, flag: Any) -> Any:
        total = bs.fori_loop(0, 3, lambda i, c: bs.sqrt(c + c) + i, x)
        other = bs.cond(flag, lambda a: a + a, lambda a: a - 1, total)
        called = bs.host_call(outside, other, other)
        return called + total, other

    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    results, counts = list[Any](), list[int]()
    for _ in range(2):
        monkeypatch.setattr("brimstone.runtime.steps._STEPS", {})
        with bs.device("cpu"):
            made = bs.jit(function, donate="x")(bs.asarray(x), bs.asarray(True))
            results.append([each.numpy().tolist() for each in made])
        counts.append(len(lowerings))
    assert results[0] == results[1]
    assert counts[0] == counts[1] > 0


def outside(x: Any) -> Any:
    return x * 3


def test_kernels_that_are_not_told_of_are_lowered_once(
    disk: Cache, lowerings: list[Module]
) -> None:
    func = contraction("nn")
    check(step(func), func, SMALL)
    again = step(func)
    for sizes in (SMALL, LARGE, SMALL, {**LARGE, "m": 2}):
        check(again, func, sizes)
    assert len(lowerings) == 2
    third = step(func)
    for sizes in (LARGE, {**LARGE, "m": 2}, SMALL):
        check(third, func, sizes)
    assert len(lowerings) == 2


def test_code_that_is_gone_is_compiled_again(disk: Cache, lowerings: list[Module]) -> None:
    func = contraction("nn")
    check(step(func), func, SMALL)
    forget_code(disk)
    check(step(func), func, SMALL)
    assert len(lowerings) == 2


def test_versions_for_large_results_are_told_of(
    disk: Cache, lowerings: list[Module], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preparation, "LARGE", 4 << 10)
    monkeypatch.setattr(preparation, "past_caches_from", lambda: 8 << 10)
    func = kernel(lambda x: x + x, "n f32")
    for _ in range(2):
        made = step(func)
        for count in (100, 1024, 4096):
            check(made, func, {"n": count})
        assert sorted(map(bool, made.code.versions.values())) == [True, True]
    assert len(lowerings) == 1


def test_a_step_of_other_lines_is_another_one(disk: Cache, lowerings: list[Module]) -> None:
    func = contraction("nn")
    check(step(func), func, SMALL)
    for op in func.walk():
        op.location = Location(("model.py", 3))
    for _ in range(2):
        made = step(func)
        check(made, func, SMALL)
        assert "model.py" in {op.location[0][0] for op in made.main.walk() if op.location}
    assert len(lowerings) == 2


def test_a_step_without_kernels_is_one_too(disk: Cache, lowerings: list[Module]) -> None:
    func = parse("""
    func @zeros<n: 0..100>() -> (tensor<[n], f32>) {
      %zero = tensor.constant {value = 0.0} : tensor<[], f32>
      %zeros = tensor.broadcast %zero {shape = [n], axes = []} : tensor<[n], f32>
      return %zeros
    }""").main
    for each in (func, *func.walk()):
        each.location = UNKNOWN
    for _ in range(2):
        made = step(func)
        assert played(made, [], {"n": 3})[0].tolist() == [0, 0, 0]
        assert not any(op.location for op in made.main.walk())
    assert len(lowerings) == 1


def test_what_a_kernel_is_refused_for_is_found_out_anew(
    disk: Cache, lowerings: list[Module], monkeypatch: pytest.MonkeyPatch
) -> None:
    func = kernel(lambda x: x + x, "n f32")
    with monkeypatch.context() as patch:
        patch.setattr(code, "build", lambda funcs: dict.fromkeys(funcs, IRError("it is a test")))
        check(step(func), func, {"n": 9})
    assert disk.held() == (0, 0)
    check(step(func), func, {"n": 9})
    assert len(lowerings) == 2


def test_a_damaged_file_is_not_read(
    disk: Cache, lowerings: list[Module], recwarn: pytest.WarningsRecorder
) -> None:
    func = contraction("nn")
    check(step(func), func, SMALL)
    assert disk.folder is not None
    for path in disk.folder.rglob("*.step"):
        path.write_bytes(path.read_bytes()[:-1])
    check(step(func), func, SMALL)
    assert len(lowerings) == 2 and "damaged" in str(recwarn.pop().message)


def test_what_cannot_be_read_is_lowered(disk: Cache, lowerings: list[Module]) -> None:
    func = contraction("nn")
    for content in (b"", b"[]", b"{", b'{"main": "func", "heads": {}, "versions": []}'):
        check(step(func), func, SMALL)
        assert disk.folder is not None
        for path in disk.folder.rglob("*.step"):
            disk.put(path.parent.name + path.stem, content, STEP)
    check(step(func), func, SMALL)
    assert len(lowerings) == 5


def test_where_nothing_can_be_stored_steps_run(
    disk: Cache, lowerings: list[Module], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*given: Any) -> None:
        raise OSError(ENOSPC, "no space")

    func = contraction("nn")
    check(step(func), func, LARGE)
    lines = copy_func(func)
    for op in lines.walk():
        op.location = Location(("\udcff.py", 3))
    made = step(lines)
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        check(made, lines, LARGE)
    check(step(lines), lines, LARGE)
    assert len(lowerings) == 3


def forget_code(disk: Cache) -> None:
    """No kernel has code any more, here or on disk."""
    code._KNOWN.clear()
    assert disk.folder is not None
    for path in disk.folder.rglob("*.object"):
        path.unlink()


def test_a_step_that_is_lowered_in_another_way_now_is_not_mixed(
    disk: Cache, lowerings: list[Module], monkeypatch: pytest.MonkeyPatch
) -> None:
    func = kernel(lambda x: x + x, "n f32")
    check(step(func), func, {"n": 9})
    forget_code(disk)
    other = next(model for model in MODELS.values() if model.vector_bytes != host().vector_bytes)
    with monkeypatch.context() as patch:
        patch.setattr(descent, "chooser", lambda machine: chooser(other))
        with pytest.raises(Changed, match="removed"):
            check(step(func), func, {"n": 9})
    check(step(func), func, {"n": 9})
    assert len(lowerings) == 3


def test_a_kernel_that_is_lowered_in_another_way_now_gets_no_name(
    disk: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    func = contraction("nn")
    check(step(func), func, SMALL)
    forget_code(disk)
    monkeypatch.setattr(code, "name_of", lambda func: "another")
    with pytest.raises(Changed):
        check(step(func), func, SMALL)
    assert disk.held()[0] == 0


def test_what_is_made_ahead_of_a_step_that_is_lowered_otherwise_now_is_dropped(
    disk: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody hears of it before somebody launches what is missing."""
    func = contraction("nn")
    check(step(func), func, SMALL)
    made = step(func)
    (name, *_) = made.code.heads
    forget_code(disk)
    monkeypatch.setattr(code, "name_of", lambda func: "another")
    monkeypatch.setattr(code, "object_ahead", lambda make, name: make())
    assert made._place.get() is not None
    for _ in made._make_ahead(Foreseen(name)):
        pass
    assert made._place.get() is None


@pytest.mark.parametrize("name", ["turned", "layers"])
def test_heads_are_written_and_read(name: str) -> None:
    module, _ = descend(Module([ending(name)]), host(), apart=False, given=True)
    for func in [*module][1:]:
        head = Head.of(func)
        assert Head.written(parse(print_func(head.as_func("head"))).main.attributes) == head
    assert any(Head.of(func).scratch for func in [*module][1:])


def test_a_step_is_lowered_for_its_machine(
    disk: Cache, lowerings: list[Module], monkeypatch: pytest.MonkeyPatch
) -> None:
    func = contraction("nn")
    check(step(func), func, SMALL)
    other = next(model for model in MODELS.values() if model.name != host().name)
    monkeypatch.setattr(road, "processor", lambda: other)
    step(func)
    assert len(lowerings) == 2


def test_each_op_a_kernel_is_another_step(
    disk: Cache, lowerings: list[Module], monkeypatch: pytest.MonkeyPatch
) -> None:
    func = ending("layers")
    for fuse in ("1", "0", "0"):
        with monkeypatch.context() as patch:
            patch.setenv("BRIMSTONE_FUSE", fuse)
            made = step(func)
        check(made, func, dict.fromkeys([symbol.name for symbol in func.symbols], 9))
    assert len(lowerings) == 2
    assert len(made.code.module) > 4, "as it was lowered, whatever the environment says now"


AGAIN = """
import sys
import numpy as np
import brimstone as bs

def loss(w, x):
    return bs.mean(bs.maximum(x @ w, 0) ** 2)

with bs.device("cpu"):
    x = bs.asarray(np.ones((64, 48), np.float32))
    step = bs.jit(bs.value_and_grad(loss))
    value, gradient = step(bs.asarray(np.ones((48, 32), np.float32)), x)
    assert float(value) == 48 * 48 and gradient.numpy()[0, 0] == 3
print([name for name in sys.modules if "passes.tiling" in name or "passes.fuse" in name])
"""


def test_another_process_loads_no_pass_that_lowers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRIMSTONE_CACHE", str(tmp_path))
    runs = [
        subprocess.run(
            [sys.executable, "-c", AGAIN], capture_output=True, text=True, check=True
        ).stdout.strip()
        for _ in range(2)
    ]
    assert runs[0] != "[]" and runs[1] == "[]"


def test_steps_are_lowered_the_same_each_time() -> None:
    """Else what is stored of one process would tell of other kernels in another."""
    for each in (random_program(5, f32), ending("layers")):
        texts, kept = set[str](), list[Module]()
        for _ in range(12):  # sets are gone through by where things lie in memory
            made, _ = descend(Module([copy_func(each)]), host(), apart=False, given=True)
            kept.append(made)
            texts.add(print_module(made, locations=True))
        assert len(texts) == 1
