"""From funcs to functions: compiled once, kept on disk, unloaded with the last function."""

import gc
from pathlib import Path

import numpy as np
import pytest

from brimstone.ir.func import Func
from brimstone.ir.parser import parse
from brimstone.targets.llvm import build as module
from brimstone.targets.llvm.build import KernelError, build
from brimstone.targets.llvm.cache import Cache
from brimstone.targets.llvm.compile import CompileError
from brimstone.targets.llvm.workers import Workers
from kit.loops import loops
from kit.machine_code import call

STORE = """
func @NAME(%to: buffer<i64, global>) {
  %zero = loop.constant {value = 0} : scalar<i64> at "model.py":7
  %number = loop.constant {value = NUMBER} : scalar<i64> at "model.py":7
  loop.store %to, %zero, %number at "model.py":8
  return
}"""


def store(name: str, number: int) -> Func:
    return parse(STORE.replace("NAME", name).replace("NUMBER", str(number))).main


def run(code: object, func: Func) -> int:
    found = np.zeros(1, np.int64)
    call(code, func, [found])
    return int(found[0])


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


def test_kernels_by_name(cache: Cache) -> None:
    funcs = [store("one", 1), store("two", 2)]
    kernels = build(funcs, cache)
    assert [*kernels] == ["one", "two"] and len(kernels) == 2
    assert [run(kernels[func.name], func) for func in funcs] == [1, 2]


def test_a_function_keeps_its_code() -> None:
    func = store("kept", 5)
    code = build([func], Cache(None))["kept"]
    gc.collect()
    again = build([func], Cache(None))["kept"]
    assert (run(code, func), run(again, func)) == (5, 5)


def test_what_is_on_disk_is_not_compiled(
    cache: Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRIMSTONE_REPRODUCERS", str(tmp_path))
    build([store("one", 1), store("two", 2)], cache)
    compiled: list[str] = []

    def note(self: Workers, texts: list[str], machine: object) -> list[CompileError]:
        compiled.extend(texts)
        return [CompileError("no") for _ in texts]

    monkeypatch.setattr(Workers, "compile", note)
    func = store("two", 2)
    assert run(build([func], cache)["two"], func) == 2
    assert not compiled
    with pytest.raises(KernelError):
        build([store("two", 2), store("three", 3)], cache)
    assert len(compiled) == 1 and "@three" in compiled[0]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("define void @broken() { nonsense }", "expected instruction opcode"),
        ("define void @broken() {\n call void @g()\n ret void }\ndeclare void @g()", "g"),
    ],
)
def test_an_error_names_the_lines_and_the_files(
    text: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRIMSTONE_REPRODUCERS", str(tmp_path / "new"))
    monkeypatch.setattr(module, "print_llvm", lambda funcs, machine: text)
    with pytest.raises(KernelError, match=r"model\.py:7, model\.py:8, .*: .*@broken") as error:
        build([store("broken", 1)], Cache(None))
    assert why in str(error.value)
    assert str(tmp_path / "new" / "broken.ll") in str(error.value)
    assert (tmp_path / "new" / "broken.ll").read_text() == text
    loops((tmp_path / "new" / "broken.ir").read_text())
