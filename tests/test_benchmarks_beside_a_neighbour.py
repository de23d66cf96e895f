"""Benchmarks beside a neighbour: it always goes, rests when asked, and is told from others."""

import json
import os
import signal
import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any, cast

import pytest

ROOT = Path(__file__).resolve().parents[1]
CORE = min(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None

pytestmark = pytest.mark.skipif(
    not (ROOT / "benchmarks").is_dir(), reason="these are tests of a checkout, and this is a copy"
)
needs_cores = pytest.mark.skipif(CORE is None, reason="the system lets nobody choose cores")


@pytest.fixture(autouse=True)
def benchmarks_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT)


@needs_cores
@pytest.mark.parametrize("problem", [None, ValueError, KeyboardInterrupt])
def test_the_neighbour_goes(problem: type[BaseException] | None) -> None:
    from benchmarks.harness.neighbour import spinning_on

    met: list[Any] = []
    try:
        with spinning_on(CORE) as neighbour:
            assert neighbour is not None
            met.append(neighbour)
            assert os.sched_getaffinity(neighbour.process) == {CORE}
            if problem:
                raise problem
    except (ValueError, KeyboardInterrupt) as caught:
        assert isinstance(caught, problem or ())
    assert met[0].core == CORE
    assert not is_alive(met[0].process)


@needs_cores
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_the_neighbour_goes_with_who_started_it(how: signal.Signals) -> None:
    program = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from benchmarks.harness.neighbour import spinning_on
with spinning_on({CORE}) as neighbour:
    print(neighbour.process, flush=True)
    sys.stdin.read()
"""
    command = [sys.executable, "-c", program]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as starter:
        assert starter.stdout is not None
        neighbour = int(starter.stdout.readline())
        assert is_alive(neighbour)
        starter.send_signal(how)
        starter.communicate()
    patience = time.monotonic() + 60
    while is_alive(neighbour) and time.monotonic() < patience:
        time.sleep(0.01)
    assert not is_alive(neighbour)


def is_alive(process: int) -> bool:
    """Whether it runs: one that has ended may wait for somebody to ask how."""
    return state_of(process) not in "ZX"


def state_of(process: int) -> str:
    """What it does, as the system says: R for running, S for sleeping; X if it is gone."""
    try:
        text = Path(f"/proc/{process}/stat").read_text("ascii")
    except OSError:
        return "X"
    return text.rpartition(")")[2].split()[0]


@needs_cores
def test_no_neighbour_starts_on_a_core_that_is_not_there() -> None:
    from benchmarks.harness.neighbour import spinning_on

    with pytest.raises(RuntimeError, match="no neighbour"), spinning_on(1 << 14):
        pass


@needs_cores
def test_a_watch_sees_others_and_forgives_the_neighbour(monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks.harness import load
    from benchmarks.harness.neighbour import Neighbour

    busy, of_neighbour = [0.0], [0.0]
    monkeypatch.setattr(load, "_busy_seconds", lambda _: busy[0])
    monkeypatch.setattr(load, "_seconds_of", lambda _: of_neighbour[0])
    alone, beside = load.Watch(), load.Watch(Neighbour(0, 1, print))
    assert alone.undisturbed()
    busy[0] = of_neighbour[0] = 1e6
    assert not alone.undisturbed()
    assert beside.undisturbed()


@needs_cores
def test_what_spins_in_another_thread_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """However soon it is looked at: the system may count what a thread has had ten ms later."""
    from benchmarks.harness import load

    monkeypatch.setattr(load, "SETTLE_TRIES", 1 << 20)
    begins = Event()

    def spin() -> None:
        begins.set()
        sha256(bytes(64 << 20))  # without Python's lock

    thread = Thread(target=spin)
    thread.start()
    begins.wait()
    load.settle()
    busy = thread.is_alive() and load.others_run()
    thread.join()
    assert not busy


def test_a_table_says_what_a_neighbour_costs(capsys: pytest.CaptureFixture[str]) -> None:
    from benchmarks.harness import results, slowdown
    from benchmarks.harness.work import Timing

    rounds = {"brimstone": ([1.5, 3.0, 9.0], [1.0, 2.0, 1.0]), "torch": ([8.0] * 3, [1.0] * 3)}
    work = SimpleNamespace(group="g", name="a work", bytes=0, operations=0)
    timings = [Timing(name, *each) for name, each in rounds.items()]
    row = results.row(cast(Any, work), timings, True, 2) | {"neighbour": True}
    assert row["slower"] == {"brimstone": 1.5, "torch": 8.0}
    slowdown.show([row, {**row, "slower": {"brimstone": 6.0}}])
    said = capsys.readouterr().out
    assert "times slower beside a neighbour" in said
    assert all(number in said for number in ("1.33", "1.50", "8.00"))
    assert "brimstone: 3.00 times slower in the mean, 6.00 at most" in said
    results.show([row])
    assert "g, 2 threads, beside a neighbour" in capsys.readouterr().out
    alone = results.row(cast(Any, work), [Timing("brimstone", [1.0])], True, 2)
    assert alone["slower"] == {}


def test_runs_with_and_without_a_neighbour_are_not_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from benchmarks.__main__ import compare

    for name, beside in (("alone", False), ("beside", True)):
        (tmp_path / name).write_text(json.dumps({"rows": [{"neighbour": beside}]}))
    for names in (("alone", "beside"), ("beside", "alone")):
        before, after = [tmp_path / name for name in names]
        assert compare(Namespace(before=before, after=after)) == 2
        assert "beside a neighbour" in capsys.readouterr().err


def comes(condition: Callable[[], bool]) -> bool:
    """Whether something comes to be so, however long that takes on a machine with other work."""
    patience = time.monotonic() + 60
    while not condition() and time.monotonic() < patience:
        pass
    return condition()


@needs_cores
def test_the_neighbour_rests() -> None:
    """It waits for what it is asked next, and has no time of its core until then."""
    from benchmarks.harness import load
    from benchmarks.harness.neighbour import spinning_on

    with spinning_on(CORE) as neighbour:
        assert neighbour is not None
        for _ in range(3):
            with neighbour.at_rest():
                assert comes(lambda: state_of(neighbour.process) == "S")  # it is about to wait
                before = load._seconds_of(neighbour.process)
                time.sleep(0.05)
                assert load._seconds_of(neighbour.process) == before
            assert comes(lambda before=before: load._seconds_of(neighbour.process) > before)


@needs_cores
def test_turns_beside_a_neighbour_are_of_as_many_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """But for those of who becomes so slow that nobody would wait for him."""
    from benchmarks.harness import load, rounds

    calls = {"quick": 0, "slow": 0}
    spins = False

    @contextmanager
    def at_rest() -> Iterator[None]:
        nonlocal spins
        spins = False
        yield
        spins = True

    @contextmanager
    def spinning_on(core: int | None) -> Iterator[SimpleNamespace]:
        nonlocal spins
        spins = True
        yield SimpleNamespace(core=core, process=0, at_rest=at_rest)

    def count_for(run: Callable[[], None]) -> int:
        assert not spins
        return 1000

    def run(name: str) -> None:
        calls[name] += 1
        if spins and name == "slow":
            time.sleep(0.01)

    monkeypatch.setattr(rounds, "ROUNDS", 2)
    monkeypatch.setattr(rounds, "REPEATS", 1)
    monkeypatch.setattr(rounds, "BESIDE_AT_MOST", 0.05)
    monkeypatch.setattr(rounds, "count_for", count_for)
    monkeypatch.setattr(rounds, "spinning_on", spinning_on)
    monkeypatch.setattr(load, "quiet", lambda neighbour: True)
    timings, _ = rounds.timed({name: partial(run, name) for name in calls}, CORE)
    assert calls["quick"] == 4000
    assert 2000 < calls["slow"] <= 2000 + 2 * 5
    assert [each.name for each in timings if min(each.seconds) >= 0.01] == ["slow"]


@needs_cores
def test_a_neighbour_that_is_gone_is_told_of() -> None:
    from benchmarks.harness.neighbour import spinning_on

    with pytest.raises((RuntimeError, BrokenPipeError)), spinning_on(CORE) as neighbour:
        assert neighbour is not None
        os.kill(neighbour.process, signal.SIGKILL)
        with neighbour.at_rest():
            pass
