"""What nothing can interrupt is done so that who waits for it can be."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Thread, current_thread, main_thread

import pytest

import brimstone as bs
from brimstone.targets.llvm.interruptible import MUCH, do

INTERRUPTED = """
import signal
from threading import Event, main_thread
from brimstone.targets.llvm.interruptible import MUCH, do
signal.signal(signal.SIGALRM, signal.default_int_handler)
go_on, over = Event(), Event()
def work():
    signal.pthread_kill(main_thread().ident, signal.SIGALRM)
    go_on.wait()
    over.set()
try:
    do(work, MUCH)
except KeyboardInterrupt:
    print("interrupted", over.is_set())
go_on.set()
print(over.wait(60))
"""


def test_an_interrupt_does_not_wait_for_the_end() -> None:
    command = [sys.executable, "-c", INTERRUPTED]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "interrupted False\nTrue\n"


AT_THE_END = """
import signal
from threading import Event, Thread, main_thread
from time import sleep
from brimstone.targets.llvm.interruptible import MUCH, do
signal.signal(signal.SIGALRM, signal.default_int_handler)
begun = Event()
def work(name):
    if begun.is_set():
        signal.pthread_kill(main_thread().ident, signal.SIGALRM)
    begun.set()
    sleep(0.5)
    print(name + "\\n", end="")  # in one piece
Thread(target=lambda: do(lambda: work("of another thread"), MUCH), daemon=True).start()
begun.wait()
try:
    do(lambda: work("interrupted"), MUCH)
except KeyboardInterrupt:
    print("the end")
"""


def test_the_end_of_the_process_waits() -> None:
    command = [sys.executable, "-c", AT_THE_END]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert sorted(done.stdout.splitlines()) == ["interrupted", "of another thread", "the end"]


@pytest.mark.parametrize("elements", [0, MUCH - 1, MUCH])
def test_it_is_done_when_the_call_returns(elements: int) -> None:
    """In the main thread, and in one that nobody interrupts; what is raised is raised there."""

    def fails() -> None:
        raise ZeroDivisionError("in the work")

    def asks() -> None:
        did.clear()
        do(lambda: did.append(current_thread()), elements)
        own = elements < MUCH or current_thread() is not main_thread()
        assert [each is current_thread() for each in did] == [own]
        with pytest.raises(ZeroDivisionError, match="in the work"):
            do(fails, elements)

    did = list[object]()
    asks()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asks).result()


def test_it_is_done_without_another_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Thread) -> None:
        raise RuntimeError("can't start new thread")

    did = list[object]()
    with monkeypatch.context() as patch:
        patch.setattr(Thread, "start", refuse)
        do(lambda: did.append(current_thread()), MUCH)
    assert did == [current_thread()]


def test_a_large_decomposition_is_what_it_was() -> None:
    with bs.device("cpu"):
        x = bs.random.normal(bs.random.key(0), (160, 160))
        orthogonal, upper = bs.jit(bs.linalg.qr)(x)
        assert float(bs.abs(orthogonal @ upper - x).max()) < 1e-4
