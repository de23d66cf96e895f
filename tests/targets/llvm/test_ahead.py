"""Kernels for other sizes are made beside a step that runs again, and are nobody's loss."""

import os
import subprocess
import sys
from collections.abc import Iterator
from errno import ENOSPC
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any

import pytest

from brimstone.ir.func import Func, Module
from brimstone.ir.interpreter import interpret
from brimstone.passes.oracle import difference
from brimstone.runtime.host import shared_host
from brimstone.targets.llvm import ahead as module
from brimstone.targets.llvm import build, code, preparation, program, road, workers
from brimstone.targets.llvm.ahead import Ahead
from brimstone.targets.llvm.compile import CompileError
from brimstone.targets.llvm.program import Program
from brimstone.targets.llvm.worker import outcome
from kit.contractions import contraction
from kit.played import played
from kit.tiling import arrays_for, kernel
from kit.work import PATIENCE

PRODUCT = {"m": 20, "k": 30, "n": 24}
OTHERS = [{"m": 2, "k": 30, "n": 24}, {"m": 300, "k": 40, "n": 300}, {"m": 20, "k": 900, "n": 24}]
"""Few rows, many elements, a long sum: other kernels than `PRODUCT` launches."""
AMID = """
import os, sys
import numpy as np
import brimstone as bs
from brimstone.targets.llvm import ahead
ahead.BEFORE = 0.0
@bs.jit
def product(x, y):
    return bs.sum(x @ y)
with bs.device("cpu"):
    def run(rows):
        return float(product(bs.ones((rows, 64)), bs.ones((64, 512)))) == rows * 64 * 512
    assert all([run(20) for _ in range(5)])
    if "fork" in sys.argv:
        child = os.fork()
        if child == 0:
            os._exit(0 if run(20) and run(2) and run(300) else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert run(300)
"""


class Compiler:
    """Stands for helpers: compiles in the thread that asks, or what it is told to answer."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answer: Any = outcome
        self.ended = Event()

    def expect(self, ops: int, machine: Any) -> None:
        """It is always there."""

    def compile(self, texts: list[str], machine: Any) -> list[Any]:
        return [outcome(text, machine) for text in texts]

    def compile_ahead(self, text: str, machine: Any) -> Any:
        self.asked.append(text)
        return self.answer(text, machine)

    def end(self) -> None:
        self.ended.set()


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch) -> Iterator[Compiler]:
    """No code is known, or on disk, but what a test makes."""
    made = Compiler()
    monkeypatch.setattr(module, "workers", lambda: made)
    monkeypatch.setattr(workers, "workers", lambda: made)
    for each in (build, road):
        monkeypatch.setattr(each, "default_cache", lambda: build.Cache(None))
    monkeypatch.setattr(code, "_KNOWN", {})
    monkeypatch.setattr(module, "BEFORE", 0.0)
    monkeypatch.setattr(module, "REST", 0)
    ahead = Ahead()
    for each in (module, program):
        monkeypatch.setattr(each, "ahead", lambda: ahead)
    yield made
    ahead.end()


def step(func: Func) -> Program:
    func.name = "main"
    return road.compile_step(Module([func]), shared_host())


def check(made: Program, func: Func, sizes: dict[str, int]) -> None:
    """The step does what the interpreter does."""
    arguments = arrays_for(func, sizes, whole=True)
    expected = interpret(Module([func]), *arguments)
    assert difference(expected, played(made, arguments, sizes)) is None, sizes


def nobody(*_: Any) -> Any:
    raise AssertionError("this has been made ahead")


def test_what_runs_again_has_code_for_other_sizes(
    compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    func = contraction("nn")
    made = step(func)
    check(made, func, PRODUCT)
    launched, known = len(made.code), len(code._KNOWN)
    check(made, func, PRODUCT)
    module.ahead().wait()
    assert len(code._KNOWN) == known + len(compiler.asked), "none is made twice"
    assert len(made.code) >= launched + len(compiler.asked) > launched
    monkeypatch.setattr(code, "build", nobody)
    for sizes in OTHERS:
        check(made, func, sizes)


def test_what_runs_once_has_not(compiler: Compiler) -> None:
    func = contraction("nn")
    made = step(func)
    check(made, func, PRODUCT)
    check(made, func, {**PRODUCT, "m": 21})
    module.ahead().wait()
    assert not compiler.asked


def test_a_few_kernels_are_not_worth_it(
    compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preparation, "MAY_BE_LARGE", 1 << 10)
    func = kernel(lambda x: x + x, "n f32")
    made = step(func)
    for _ in range(2):
        check(made, func, {"n": 4000})
    module.ahead().wait()
    assert not compiler.asked


def test_a_full_disk_does_not_stop_it(
    compiler: Compiler, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    func = contraction("nn")
    made = step(func)
    check(made, func, PRODUCT)
    disk = build.Cache(tmp_path)
    monkeypatch.setattr(build, "default_cache", lambda: disk)

    def full(*given: Any) -> None:
        raise OSError(ENOSPC, "no space")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        check(made, func, PRODUCT)
        module.ahead().wait()  # its thread would end with an error that fails this test
    assert len(compiler.asked) > 1
    assert disk.held() == (0, 0)
    monkeypatch.setattr(code, "build", nobody)
    for sizes in OTHERS:
        check(made, func, sizes)


@pytest.mark.parametrize("answer", [None, CompileError("no"), b"no object"])
def test_what_is_not_made_ahead_is_made_when_it_is_launched(
    compiler: Compiler, answer: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    compiler.answer = lambda *_: answer
    func = contraction("nn")
    made = step(func)
    for sizes in [PRODUCT, PRODUCT, *OTHERS]:
        check(made, func, sizes)
        module.ahead().wait()
    assert compiler.asked
    assert not os.listdir(tmp_path)  # nobody has launched what cannot be loaded


def test_results_that_may_become_large(compiler: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "WORTH_FORESEEING", 1)
    monkeypatch.setattr(preparation, "MAY_BE_LARGE", 1 << 10)
    monkeypatch.setattr(preparation, "LARGE", 1 << 13)
    monkeypatch.setattr(preparation, "past_caches_from", lambda: 1 << 13)
    func = kernel(lambda x: x + x, "n f32")
    small, large = step(func), step(func)
    for sizes in [{"n": 200}, {"n": 200}, {"n": 300}]:
        check(small, func, sizes)
        module.ahead().wait()
    assert not compiler.asked
    for _ in range(2):
        check(large, func, {"n": 300})
    module.ahead().wait()
    (text,) = compiler.asked
    assert "past_caches" in text
    monkeypatch.setattr(code, "build", nobody)
    check(large, func, {"n": 4000})


def test_the_end_does_not_wait_for_the_rest(compiler: Compiler) -> None:
    begun = Event()

    def until_the_end(*_: Any) -> None:
        begun.set()
        assert compiler.ended.wait(PATIENCE)

    compiler.answer = until_the_end
    func = contraction("nn")
    made = step(func)
    for _ in range(2):
        check(made, func, PRODUCT)
    assert begun.wait(PATIENCE)
    module.ahead().end()
    assert len(compiler.asked) == 1


def test_the_end_comes_before_the_beginning(
    compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BEFORE", PATIENCE)
    func = contraction("nn")
    made = step(func)
    for _ in range(2):
        check(made, func, PRODUCT)
    began = monotonic()
    module.ahead().end()
    assert monotonic() - began < PATIENCE / 2
    assert not compiler.asked


def test_most_of_the_time_others_have_the_cores(
    compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part that takes 2 seconds is followed by a rest of 9 times as many."""
    seconds, rests = [0.0], list[float]()

    def rest(taken: float) -> None:
        rests.append(taken)
        seconds[0] += taken

    def answer(*_: Any) -> None:
        seconds[0] += 2.0

    compiler.answer = answer
    monkeypatch.setattr(module, "REST", 9)
    monkeypatch.setattr(module, "perf_counter", lambda: seconds[0])
    monkeypatch.setattr(module.ahead()._ended, "wait", rest)
    func = contraction("nn")
    made = step(func)
    for _ in range(2):
        check(made, func, PRODUCT)
    module.ahead().wait()
    assert len(compiler.asked) > 1
    assert sum(rests) == pytest.approx(18.0 * len(compiler.asked))


def test_others_may_have_the_lock_between_parts(compiler: Compiler) -> None:
    func = contraction("nn")
    made = step(func)
    check(made, func, PRODUCT)
    sizes = {symbol: PRODUCT[symbol.name] for symbol in made.main.symbols}
    other = next(program.Preparation(made, sizes).foreseen(made.main.body))
    assert len([*made.code.make_ahead(other)]) > 2
    assert made.code.get(other.name) is not None
    assert not [*made.code.make_ahead(other)]  # it is there


def test_who_has_code_made_does_not_load_what_makes_it() -> None:
    """It would take the second step of a program a tenth of a second."""
    script = (
        "import sys; from brimstone.targets.llvm.ahead import ahead; ahead();"
        "print([name for name in sys.modules if 'bind_cpu' in name or 'llvm.emit' in name])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert ran.stdout == "[]\n"


@pytest.mark.parametrize("more", ["fork", "end"])
def test_processes_that_fork_or_end_amid_it(more: str, tmp_path: Any) -> None:
    variables = {**os.environ, "BRIMSTONE_CACHE": str(tmp_path)}
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", AMID, more]
    ran = subprocess.run(
        command, env=variables, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")
