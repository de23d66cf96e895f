"""From funcs to functions: compiled once, kept on disk, unloaded with the last function."""

import gc
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from brimstone.ir.func import Func
from brimstone.ir.parser import parse
from brimstone.targets.llvm import failures
from brimstone.targets.llvm import lower as lowering
from brimstone.targets.llvm.build import build
from brimstone.targets.llvm.cache import Cache
from brimstone.targets.llvm.compile import CompileError
from brimstone.targets.llvm.failures import KernelError
from brimstone.targets.llvm.lower import lower
from brimstone.targets.llvm.machines import host
from brimstone.targets.llvm.naming import name_of, text_of
from brimstone.targets.llvm.workers import Workers
from kit.loops import loops
from kit.machine_code import call

STORE = """
func @f<n: BOUNDS>(%to: view<1, i64, {size: [n], unit_stride: 0}>) with {grid: [1]} {
  %zero = tile.constant {value = 0} : scalar<i64> at "model.py":7
  %number = tile.constant {value = NUMBER} : scalar<i64> at "model.py":7
  %tile = tile.full %number {shape = [1]} : tile<[1], i64> at "model.py":8
  tile.store %to, %tile, %zero at "model.py":8
  return
}"""
RANDOM = """
func @f(%to: view<1, i64>) with {grid: [1]} {
  %zero = tile.constant {value = 0} : scalar<i64> at "model.py":7
  %number = tile.constant {value = 1} : scalar<i64> at "model.py":7
  %tile = tile.full %number {shape = [4096]} : tile<[4096], i64> at "model.py":9
  tile.store %to, %tile, %zero at "model.py":9
  return
}"""


def store(number: int, bounds: str = "1..4096") -> Func:
    return parse(STORE.replace("BOUNDS", bounds).replace("NUMBER", str(number))).main


def run(code: object, func: Func) -> int:
    found = np.zeros(1, np.int64)
    call(code, lower(func, host()), [found, 1, 1])
    return int(found[0])


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


def test_kernels_by_name(cache: Cache) -> None:
    funcs = {"one": partial(store, 1), "two": partial(store, 2)}
    kernels = build(funcs, cache)
    assert [run(kernels[name], func()) for name, func in funcs.items()] == [1, 2]


def test_a_function_keeps_its_code() -> None:
    func = store(5)
    code = build({"kept": lambda: func}, Cache(None))["kept"]
    gc.collect()
    again = build({"kept": lambda: func}, Cache(None))["kept"]
    assert (run(code, func), run(again, func)) == (5, 5)


def test_what_is_on_disk_is_not_compiled(
    cache: Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRIMSTONE_REPRODUCERS", str(tmp_path))
    build({"one": partial(store, 1), "two": partial(store, 2)}, cache)
    compiled: list[str] = []

    def note(self: Workers, texts: list[str], machine: object) -> list[CompileError]:
        compiled.extend(texts)
        return [CompileError("no") for _ in texts]

    monkeypatch.setattr(Workers, "compile", note)
    func = store(2)
    assert run(build({"two": lambda: func}, cache)["two"], func) == 2
    assert not compiled
    with pytest.raises(KernelError):
        build({"two": lambda: func, "three": partial(store, 3)}, cache)
    assert len(compiled) == 1 and "@three" in compiled[0]


def test_a_kernel_that_is_refused_names_the_lines() -> None:
    made = build({"large": lambda: parse(RANDOM).main, "one": partial(store, 1)}, Cache(None))
    assert str(made["large"]).startswith("model.py:9: tile<[4096], i64> fills")
    assert run(made["one"], store(1)) == 1


def test_why_a_kernel_is_refused_keeps_no_frames() -> None:
    """They lead to the user's, with all his tensors."""
    why = build({"large": lambda: parse(RANDOM).main}, Cache(None))["large"]
    assert (why.__traceback__, why.__cause__, why.__context__) == (None, None, None)


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
    for module in (failures, lowering):
        monkeypatch.setattr(module, "print_llvm", lambda funcs, machine: text)
    with pytest.raises(KernelError, match=r"model\.py:7, model\.py:8: .*@broken") as error:
        build({"broken": partial(store, 1)}, Cache(None))
    assert why in str(error.value)
    assert str(tmp_path / "new" / "broken.ll") in str(error.value)
    assert (tmp_path / "new" / "broken.ll").read_text() == text
    loops((tmp_path / "new" / "broken.ir").read_text())


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("1..2147483647", "4..9223372036854775804 % 4", False),
        ("1..2147483647", "6..9223372036854775804 % 3", True),
        ("2..2147483647", "1..4294967296", True),
        ("0..2147483647", "1..2147483647", False),
        ("1..64", "1..2147483647", False),
        ("1..64", "1..32", False),
    ],
)
def test_kernels_are_one_where_their_sizes_differ_in_nothing_that_counts(
    one: str, other: str, alike: bool
) -> None:
    first, second = store(1, one), store(1, other)
    assert (name_of(first) == name_of(second)) == alike
    assert (text_of(first, "f") == text_of(second, "f")) == alike
    widened = parse(text_of(second, "g")).main
    assert widened.name == "g" and name_of(widened) == name_of(second)


def test_a_size_by_which_is_divided_is_no_smaller_than_it_was() -> None:
    by = "ceildiv(n + 1, 2) - 1"  # which is 0 where n is 1
    texts = [
        STORE.replace("NUMBER", "1").replace("BOUNDS", f"{least}..2147483647") for least in (2, 3)
    ]
    funcs = [parse(text.replace("grid: [1]", f"grid: [ceildiv(100, {by})]")).main for text in texts]
    assert [parse(text_of(func, "f")).main.symbols[0].minimum for func in funcs] == [2, 3]
    assert name_of(funcs[0]) != name_of(funcs[1])
