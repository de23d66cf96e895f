"""Compiling in several processes: the same code, no hang, nothing left behind."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from time import monotonic, sleep
from types import FrameType
from typing import Any

import pytest

from brimstone.targets.llvm import interruptible
from brimstone.targets.llvm import workers as module
from brimstone.targets.llvm.compile import CompileError
from brimstone.targets.llvm.lower import compile_kernel
from brimstone.targets.llvm.machines import AVX512
from brimstone.targets.llvm.workers import Workers
from kit.interrupts import interrupted
from kit.work import PATIENCE

TEXTS = [
    f"func @f{number}(%x: view<1, i64>) with {{grid: [1]}} {{\n"
    f"  %y = tile.constant {{value = {number}}} : scalar<i64>\n"
    "  %z = tile.full %y {shape = [1]} : tile<[1], i64>\n"
    "  tile.store %x, %z, %y\n  return\n}\n"
    for number in range(12)
]
WRONG = "func @f() { nonsense }"
READY = (
    "import sys; tasks = sys.stdin.buffer; tasks.read(int.from_bytes(tasks.read(8), 'little'));"
    "sys.stdout.buffer.write(b'\\5' + bytes(7) + b'ready'); sys.stdout.flush();"
)


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Iterator[Workers]:
    """One helper, for texts of any size, beside a process that is slow itself."""
    monkeypatch.setattr(module, "CHARACTERS_WORTH_STARTING", 0)
    monkeypatch.setattr(module, "CHARACTERS_WORTH_SENDING", 0)
    made = Workers(1)
    yield made
    made.end()


def count_compiled_here(monkeypatch: pytest.MonkeyPatch, seconds: float) -> list[str]:
    """The texts that this process compiles from now on, each of which takes it a while."""
    here: list[str] = []
    plain = module.compile_here

    def slowly(task: Any) -> Any:
        here.append(task.text)
        sleep(seconds)
        return plain(task)

    monkeypatch.setattr(module, "compile_here", slowly)
    return here


def wait_for(condition: Any) -> None:
    """Wait until something holds."""
    end = monotonic() + PATIENCE
    while not condition():
        assert monotonic() < end
        sleep(0.005)


def looks_at_signals(frame: FrameType, event: str) -> bool:
    """Whether Python looks at signals in what is tested here, and in what it waits with."""
    return event in ("call", "c_return") and frame.f_code.co_filename in FILES


FILES = (module.__file__, interruptible.__file__, threading.__file__)
EXPECTED = [compile_kernel(text, AVX512) for text in TEXTS]


def test_little_is_compiled_in_this_process() -> None:
    pool = Workers(2)
    assert pool.compile(TEXTS, AVX512) == EXPECTED
    assert not pool.helpers


def test_what_is_refused_is_said_in_its_place() -> None:
    first, wrong, last = Workers(0).compile([TEXTS[0], WRONG, TEXTS[1]], AVX512)
    assert [first, last] == EXPECTED[:2]
    assert isinstance(wrong, CompileError) and "nonsense" in str(wrong)


def test_helpers_help_and_die(pool: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    assert pool.compile(TEXTS, AVX512) == EXPECTED  # while the helper starts
    here = count_compiled_here(monkeypatch, 0.1)

    def is_helped() -> bool:  # once the helper is ready, which may take seconds
        here.clear()
        made = pool.compile([*TEXTS, WRONG, WRONG], AVX512)
        assert made[:-2] == EXPECTED
        assert [str(each) for each in made[-2:]] == [str(made[-1])] * 2
        return len(here) < len(TEXTS)

    wait_for(is_helped)
    (helper,) = pool.helpers
    os.kill(helper.process.pid, signal.SIGKILL)
    assert pool.compile(TEXTS, AVX512) == EXPECTED
    wait_for(lambda: pool.deaths == 1)


def test_what_is_compiled_ahead_is_left_to_helpers(
    pool: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = count_compiled_here(monkeypatch, 0.0)
    assert [pool.compile_ahead(text, AVX512) for text in TEXTS[:3]] == EXPECTED[:3]
    assert isinstance(pool.compile_ahead(WRONG, AVX512), CompileError)
    assert not here
    assert Workers(0).compile_ahead(TEXTS[0], AVX512) is None


def test_a_helper_that_does_not_start_is_no_loss(
    pool: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "COMMAND", ("-c", "raise SystemExit"))
    count_compiled_here(monkeypatch, 0.01)
    assert pool.compile(TEXTS, AVX512) == EXPECTED
    wait_for(lambda: pool.deaths)


def test_after_some_deaths_no_helper_is_started(
    pool: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "COMMAND", ("-c", "raise SystemExit"))
    for deaths in range(1, module.DEATHS_AT_MOST + 1):
        pool.start(AVX512, 1)
        wait_for(lambda deaths=deaths: pool.deaths == deaths and not pool.helpers)
    pool.start(AVX512, 1)
    assert pool.compile(TEXTS, AVX512) == EXPECTED
    assert not pool.helpers


def test_a_text_that_kills_its_helper_twice_is_refused(
    pool: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "COMMAND", ("-S", "-c", READY + "tasks.read(1)"))
    count_compiled_here(monkeypatch, 0.3)
    first, second = pool.compile(TEXTS[:2], AVX512)
    assert isinstance(first, CompileError) and "died" in str(first)
    assert second == EXPECTED[1]


def test_a_helper_that_hangs_is_not_waited_for(
    pool: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "COMMAND", ("-S", "-c", READY + "import time; time.sleep(99)"))
    monkeypatch.setattr(module, "PATIENCE", 0.2)
    count_compiled_here(monkeypatch, 0.1)
    assert pool.compile(TEXTS[:3], AVX512) == EXPECTED[:3]


def test_helpers_end_with_their_process() -> None:
    script = (
        "from brimstone.targets.llvm.workers import workers\n"
        "from brimstone.targets.llvm.machines import AVX512\n"
        "import time\n"
        "pool = workers()\n"
        "pool.count = 1\n"
        "pool.start(AVX512, 1)\n"
        "while not pool.helpers: time.sleep(0.001)\n"
        "print(pool.helpers[0].process.pid)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    assert not run.stderr
    with pytest.raises(ProcessLookupError):
        os.kill(int(run.stdout), 0)


def test_no_interrupt_leaves_the_lock_taken_or_a_thread_counted(
    pool: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(machine: Any) -> Any:
        raise OSError

    monkeypatch.setattr(module, "Helper", refuse)
    monkeypatch.setattr(module, "compile_here", lambda task: task.text.encode())
    with ThreadPoolExecutor(1) as other:
        for times in count():
            pool.deaths = 0
            is_over = not interrupted(
                lambda: pool.compile(TEXTS[:2], AVX512), times, looks_at_signals
            )
            assert other.submit(pool._lock.acquire, timeout=PATIENCE).result()
            other.submit(pool._lock.release).result()
            wait_for(lambda: not pool._feeding)
            if is_over:
                break
    assert times > 20
    assert pool.compile(TEXTS[:2], AVX512) == [text.encode() for text in TEXTS[:2]]
