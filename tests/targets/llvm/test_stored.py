"""Lowered steps on disk: found by the same step, as they were, and lowered again for what is not
told of them."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from brimstone.ir.errors import IRError
from brimstone.ir.func import Func, Module
from brimstone.ir.interpreter import interpret
from brimstone.ir.locations import UNKNOWN, Location
from brimstone.ir.parser import parse
from brimstone.ir.printer import print_func
from brimstone.passes.copying import copy_func
from brimstone.passes.oracle import difference
from brimstone.runtime.host import shared_host
from brimstone.runtime.records import plan_words
from brimstone.targets.llvm import build, code, program, road
from brimstone.targets.llvm.cache import Cache
from brimstone.targets.llvm.descent import lowered
from brimstone.targets.llvm.heads import Head
from brimstone.targets.llvm.machines import MODELS, host
from brimstone.targets.llvm.program import Preparation, Program
from brimstone.targets.llvm.whole import plan_of
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
    known = {symbol: sizes[symbol.name] for symbol in made.module.main.symbols}
    return plan_words(plan_of(Preparation(made, known))).words


def test_what_another_process_has_made_is_read(disk: Cache, lowerings: list[Module]) -> None:
    func = contraction("nn")
    first = step(func)
    check(first, func, SMALL)
    assert len(lowerings) == 1
    again = step(func)
    check(again, func, SMALL)
    assert len(lowerings) == 1
    assert print_func(again.module.main, locations=True) == print_func(
        first.module.main, locations=True
    )
    assert len(words(again, SMALL)) == len(words(first, SMALL))
    assert {name: again.code.heads[name] for name in first.code.heads} == first.code.heads


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
    code._KNOWN.clear()
    assert disk.folder is not None
    for path in disk.folder.rglob("*.object"):
        if b'"main"' not in path.read_bytes()[:64]:
            path.unlink()
    check(step(func), func, SMALL)
    assert len(lowerings) == 2


def test_versions_for_large_results_are_told_of(
    disk: Cache, lowerings: list[Module], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "LARGE", 4 << 10)
    monkeypatch.setattr(program, "past_caches_from", lambda: 8 << 10)
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
        assert "model.py" in {op.location[0][0] for op in made.module.main.walk() if op.location}
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
        assert not any(op.location for op in made.module.main.walk())
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
    for path in disk.folder.rglob("*.object"):
        path.write_bytes(path.read_bytes()[:-1])
    check(step(func), func, SMALL)
    assert len(lowerings) == 2 and "damaged" in str(recwarn.pop().message)


@pytest.mark.parametrize("name", ["turned", "layers"])
def test_heads_are_written_and_read(name: str) -> None:
    module, _ = lowered(Module([ending(name)]), host(), apart=False, given=True)
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


def test_steps_are_lowered_the_same_in_every_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else what is stored of one process would tell of other kernels in another."""
    script = (
        "from brimstone.ir.func import Module; from brimstone.ir.printer import print_module;"
        "from brimstone.targets.llvm.descent import lowered;"
        "from brimstone.targets.llvm.machines import host; from kit.endings import ending;"
        "made, _ = lowered(Module([ending('layers')]), host(), apart=False, given=True);"
        "print(print_module(made, locations=True))"
    )
    texts = set[str]()
    for seed in ("1", "2"):
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        done = subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).parents[2],
        )
        texts.add(done.stdout)
    assert len(texts) == 1 and "func @" in texts.pop()
