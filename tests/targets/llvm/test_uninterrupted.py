"""No interrupt of the main thread gets into llvmlite, and each is answered."""

import gc
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread, current_thread, main_thread
from traceback import walk_tb
from types import FrameType
from typing import Any

import pytest

from brimstone.targets.llvm import load as loading
from brimstone.targets.llvm.compile import CompileError, compile_text, target_machine
from brimstone.targets.llvm.library import llvm
from brimstone.targets.llvm.load import load
from brimstone.targets.llvm.machines import host
from brimstone.targets.llvm.uninterrupted import Aside, uninterrupted
from kit.interrupts import interrupted

TEXT = "define void @NAME(ptr %0, ptr %1, ptr %2) {\n ret void\n}\n"
BROKEN = "define void @NAME() { nonsense }"


def of_llvmlite(frame: FrameType, _: str = "") -> bool:
    """Whether this is Python of llvmlite's."""
    return "llvmlite" in Path(frame.f_code.co_filename).parts


def refused() -> None:
    with pytest.raises(CompileError):
        compile_text(BROKEN, host())


def loaded_and_dropped() -> None:
    made = compile_text(TEXT.replace("NAME", "dropped"), host())
    for _ in range(2):
        assert list(load([made], ["dropped"])) == ["dropped"]
        gc.collect()


WORK = [
    lambda: compile_text(TEXT, host()),
    lambda: target_machine.__wrapped__(host()),
    llvm.__wrapped__,
    host.__wrapped__,
    refused,
    loaded_and_dropped,
]


@pytest.mark.parametrize("work", WORK, ids=["text", "target", "llvm", "host", "refused", "load"])
def test_no_interrupt_gets_into_llvmlite(work: Callable[[], object]) -> None:
    llvm()  # the main thread imports it
    assert not interrupted(work, 0, of_llvmlite)


def test_code_that_nobody_has_any_more_is_unloaded() -> None:
    load([], [])  # what is gone already
    before = set(loading._LOADED)
    names = ["one", "two"]
    made = load([compile_text(TEXT.replace("NAME", name), host()) for name in names], names)
    new = set(loading._LOADED) - before
    assert len(new) == 2
    kept = made["one"]
    del made
    load([], [])
    assert new & set(loading._LOADED), "a function keeps all that it is part of"
    del kept
    load([], [])
    assert not new & set(loading._LOADED)


def test_an_error_comes_with_where_it_was_and_without_objects() -> None:
    """Who drops it would end them."""
    with pytest.raises(CompileError, match="expected instruction") as raised:
        compile_text(BROKEN, host())
    cause = raised.value.__cause__
    assert cause is not None
    frames = [frame for frame, _ in walk_tb(cause.__traceback__)]
    assert {"compile_text", "parse_assembly"} <= {frame.f_code.co_name for frame in frames}
    assert not any([frame.f_locals for frame in frames if of_llvmlite(frame)])


@pytest.fixture
def where() -> Iterator[Callable[[], Any]]:
    yield uninterrupted(current_thread)


def test_only_the_main_thread_has_another_one_do_it(where: Callable[[], Any]) -> None:
    assert where() not in (current_thread(), main_thread())
    assert where() is where(), "which is kept"

    def nested() -> list[Any]:
        return [current_thread(), where()]

    one, other = uninterrupted(nested)()
    assert one is other
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(where).result() is pool.submit(current_thread).result()


def test_it_is_done_without_another_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Thread) -> None:
        raise RuntimeError("can't start new thread")

    alone = Aside()
    with monkeypatch.context() as patch:
        patch.setattr(Thread, "start", refuse)
        assert alone.make(current_thread) is current_thread()
        alone.finish()
    assert alone.make(current_thread) is not current_thread()
    alone.end()
    assert alone.make(current_thread) is current_thread()


def run(script: str, *given: str) -> str:
    """What a process says, which ends as it should."""
    command = [sys.executable, "-X", "faulthandler", "-c", script, *given]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=200)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


IN_THE_LOCK = """
import os, signal, sys
from threading import Event, Thread, current_thread, main_thread
from llvmlite.binding import ffi
from brimstone.targets.llvm.compile import compile_text
from brimstone.targets.llvm.machines import host
signal.alarm(100)  # ends the process where it hangs
signal.signal(signal.SIGINT, signal.default_int_handler)
text = "define void @f() {\\n ret void\\n}\\n"
expected, left, go_on = compile_text(text, host()), [0], Event()
def taken():
    left[0] -= 1
    if left[0] == 0:
        signal.pthread_kill(main_thread().ident, signal.SIGINT)
        if current_thread() is not main_thread():
            go_on.wait()  # the work is not over before the interrupt is answered
def strike(number):
    left[0] = number
    go_on.clear()
    try:
        compile_text(text, host())
        left[0] = 0
    except KeyboardInterrupt:
        return True
    return False
ffi.register_lock_callback(taken, lambda: None)
"""
ANSWERED = """
numbers = [1, 2, 5, 12, 20]
print([strike(number) and (go_on.set() or compile_text(text, host()) == expected)
       for number in numbers])
"""
FORKED = """
assert strike(3)
Thread(target=lambda: (Event().wait(0.2), go_on.set())).start()
child = os.fork()
if child == 0:
    signal.alarm(100)  # of its own
    sys.exit(0 if compile_text(text, host()) == expected else 1)
print(os.waitpid(child, 0)[1], go_on.is_set())
"""
ENDED = """
assert strike(3)
left[0] = -1000000
def later():
    Event().wait(0.2)
    print("the work goes on", flush=True)
    go_on.set()
Thread(target=later, daemon=True).start()
"""


def test_an_interrupt_in_the_midst_is_answered_and_breaks_nothing() -> None:
    """It comes where llvmlite has just taken its lock."""
    assert run(IN_THE_LOCK + ANSWERED) == "[True, True, True, True, True]\n"


def test_a_fork_waits_for_work_that_nobody_waits_for() -> None:
    assert run(IN_THE_LOCK + FORKED) == "0 True\n"


def test_the_end_of_the_process_waits_for_it() -> None:
    assert run(IN_THE_LOCK + ENDED) == "the work goes on\n"


HANDLER = """
def handle(*_):
    done.append(compile_text(text, host()) == expected)
signal.signal(signal.SIGINT, handle)
done = []
go_on.wait = lambda: None
print(strike(4), done)
"""


def test_a_handler_may_ask_while_the_main_thread_waits() -> None:
    assert run(IN_THE_LOCK + HANDLER) == "False [True]\n"


STRESS = """
import faulthandler, random, signal, sys, time
import brimstone as bs
faulthandler.dump_traceback_later(200, exit=True)
bs.device("cpu").__enter__()
random.seed(int(sys.argv[1]))
signal.signal(signal.SIGALRM, signal.default_int_handler)
def work():
    (bs.sin(bs.ones(n % 11 + 2)) ** (n % 5 + 2) * n).sum().sync()
    bs.jit(lambda x: bs.cumulative_sum(x * 0.5**n).sum())(bs.ones(n % 7 + 2)).sync()
n = 0
work()  # loads modules; an interrupt in what Python itself calls then is told, and lost
until, times, n = time.monotonic() + 5, 0, 0
while time.monotonic() < until:
    n += 1
    try:
        signal.setitimer(signal.ITIMER_REAL, random.random() * 0.05 + 1e-3, 0.003)
        try:
            work()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        times += 1
    signal.setitimer(signal.ITIMER_REAL, 0)
    assert (bs.ones(3) * n + n).tolist() == [2 * n] * 3
print(times > 5)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="POSIX signals")
def test_signals_at_any_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRIMSTONE_CACHE", "")
    assert run(STRESS, "1") == "True\n"
