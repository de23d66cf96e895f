"""Forks beside threads that load modules, or hold locks: the child has all that it needs."""

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from threading import Event, RLock, Thread
from time import monotonic

import pytest

from brimstone.frontend import forking
from brimstone.passes import forks
from kit.forked import child

FIRST = """
import os, signal, threading, time
import brimstone as bs

def work(number):
    with bs.device("cpu"):
        return float((bs.ones((3,)) * number).sum())

thread = threading.Thread(target=work, args=(1,))
thread.start()
children = []
for number in range(12):
    process = os.fork()
    if process == 0:
        signal.alarm(100)  # which ends it, if it hangs
        os._exit(0 if work(number) == 3 * number else 1)
    children.append(process)
    time.sleep(0.002 * number)
thread.join()
print([os.waitpid(each, 0)[1] for each in children], work(2))
"""


STEP = """
with bs.device("cpu"):
    given = [(bs.ones((size, size)) / size).sync() for size in (3, 40, 200)]
step = bs.jit(lambda x: bs.sum(bs.tanh(x @ x) * 3 + bs.sum(x)) / x.size)

def work(number):
    with bs.device("cpu"):
        assert all([float(step(x)) > 0 for x in given])
    return 3.0 * number
"""
BEGINS = {
    "the first tensor of all": FIRST,
    "a step": FIRST.replace("\nthread =", STEP + "\nthread ="),
}


@pytest.mark.parametrize("name", BEGINS)
def test_a_fork_while_a_thread_makes(name: str) -> None:
    environment = os.environ | {"BRIMSTONE_CACHE": ""}
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", BEGINS[name]]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=200, env=environment
    )
    assert done.stdout.split("]") == ["[" + ", ".join(["0"] * 12), " 6.0\n"]
    assert "Exception ignored" not in done.stderr


def test_a_fork_lets_go_of_locks_that_others_wait_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever holds one of them, and wants another one that the fork has taken."""
    monkeypatch.setattr(forks, "LOCKS", {})
    earlier, later = (forks.held_across_forks(RLock()) for _ in range(2))
    has, done = Event(), Event()

    def take_both() -> None:
        with earlier:
            has.set()
            done.wait(0.1)  # by then, somebody else has the later one
            with later:
                done.set()

    thread = Thread(target=take_both)
    thread.start()
    assert has.wait(10)
    process = child(lambda: [each.acquire(timeout=5) or 1 / 0 for each in (earlier, later)])
    assert status_of(process) == 0
    thread.join(10)
    assert done.is_set()


@pytest.fixture
def slowly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Event:
    """A module that takes until the event to load."""
    source = "import test_forking_event\ntest_forking_event.event.wait(10)\nis_there = True\n"
    (tmp_path / "loaded_slowly.py").write_text(source)
    (tmp_path / "test_forking_event.py").write_text(
        "from threading import Event\nevent = Event()\n"
    )
    for name in ("loaded_slowly", "test_forking_event"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(forking, "OURS", {"loaded_slowly"})
    event: Event = import_module("test_forking_event").event
    return event


def status_of(process: int) -> int:
    return os.waitpid(process, 0)[1]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_waits_for_modules_that_others_load(slowly: Event) -> None:
    thread = Thread(target=import_module, args=("loaded_slowly",))
    thread.start()
    Thread(target=lambda: (slowly.wait(0.1), slowly.set())).start()
    process = child(lambda: import_module("loaded_slowly").is_there or 1 / 0)
    assert status_of(process) == 0
    thread.join()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_it_does_not_wait_for_what_is_stuck(slowly: Event, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forking, "PATIENCE", 0.05)
    thread = Thread(target=import_module, args=("loaded_slowly",))
    thread.start()
    begin = monotonic()
    assert status_of(child(lambda: None)) == 0
    assert 0.05 <= monotonic() - begin < 5
    slowly.set()
    thread.join()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_lock_that_comes_up_as_a_fork_waits_is_waited_for_too(
    slowly: Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one of a module that is loaded meanwhile."""
    monkeypatch.setattr(forks, "LOCKS", {**forks.LOCKS})
    lock, has, may_go = RLock(), Event(), Event()

    def load() -> None:
        import_module("loaded_slowly")
        with forks.held_across_forks(lock):
            has.set()
            may_go.wait(10)

    def go_on() -> None:
        slowly.set()
        has.wait(10)
        may_go.wait(0.1)
        may_go.set()

    for each in (load, go_on):
        Thread(target=each).start()

    def in_the_child() -> None:
        assert lock.acquire(timeout=5)

    assert status_of(child(in_the_child)) == 0
    assert lock.acquire(timeout=5)
    lock.release()
