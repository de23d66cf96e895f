"""Profiles: every kernel that ran is in them, with its line, its bytes and its time."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pytest

import brimstone as bs
from brimstone.runtime import profile as recording


@pytest.fixture(autouse=True)
def cpu() -> Any:
    with bs.device("cpu"):
        yield


def softmax(x: Any) -> Any:
    return bs.softmax(x, -1)


def test_kernels_are_counted_with_their_bytes() -> None:
    step, x = bs.jit(softmax), bs.ones((300, 400)).sync()
    bs.sync(step(x))
    with bs.profile() as profile:
        for _ in range(7):
            bs.sync(step(x))
    (row,) = [row for row in profile.rows() if row.kind == "kernel"]
    assert (row.count, row.bytes) == (7, 7 * 2 * 300 * 400 * 4)
    assert "test_profile.py" in row.lines
    assert row.seconds > 0
    calls = [event for event in profile.events if event.kind == "call"]
    assert len(calls) == 7
    assert all(event.begin <= event.end and event.used > 0 for event in calls)
    assert row.name in str(profile)


def test_what_waits_at_the_end_is_part_of_it() -> None:
    step, x = bs.jit(lambda x: x @ x), bs.ones((700, 700)).sync()
    bs.sync(step(x))
    with bs.profile() as profile:
        for _ in range(3):
            step(x)
    assert len([event for event in profile.events if event.kind == "call"]) == 3


def test_a_trace_is_what_browsers_read(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    with bs.profile(path):
        carry, _ = bs.scan(lambda c, x: (c + x, c), bs.zeros((3,)), bs.ones((5, 3)))
        assert carry.tolist() == [5, 5, 5]
    events = json.loads(path.read_text())["traceEvents"]
    assert {"M", "X"} <= {event["ph"] for event in events}
    spans = [event for event in events if event["ph"] == "X"]
    assert {"kernel", "host"} <= {event["cat"] for event in spans}
    for event in spans:
        assert event["ts"] >= 0
        assert event["dur"] >= 0
    for begin, end in zip(
        [event for event in events if event["ph"] == "b"],
        [event for event in events if event["ph"] == "e"],
        strict=True,
    ):
        assert begin["id"] == end["id"]
        assert begin["ts"] <= end["ts"]


def test_rounds_of_loops_and_compilation_are_in_it() -> None:
    with bs.profile() as profile:
        made, _ = bs.scan(lambda c, x: (c * 3 + x, c), bs.zeros((2, 3)), bs.ones((4, 2, 3)))
        made.numpy()
    counts = {row.name: row.count for row in profile.rows()}
    (rounds,) = [count for name, count in counts.items() if name.startswith("multiply_add")]
    assert rounds == 4
    assert "prepare a step" in counts


def test_what_the_core_does_between_is_not_said_to_be_done_by_python() -> None:
    def one_more(y: Any) -> Any:
        return y + 1

    def function(x: Any) -> Any:
        doubled = x[1:] * 2
        return bs.host_call(one_more, doubled, doubled) * 3

    step, x = bs.jit(function), bs.ones((5,))
    bs.sync(step(x))
    with bs.profile() as profile:
        bs.sync(step(x))
    rows = profile.rows()
    (host,) = [row.name for row in rows if row.kind == "host"]
    assert host.startswith("step.host one_more")
    assert len([row for row in rows if row.kind == "kernel"]) == 2


def test_threads_are_called_what_they_were_called(tmp_path: Path) -> None:
    """Also those that have ended meanwhile."""
    path = tmp_path / "trace.json"
    early = ThreadPoolExecutor(1, "early")
    early.submit(run_here, 0).result()
    with bs.profile(path):
        with ThreadPoolExecutor(1, "late") as late:
            late.submit(run_here, 1).result()
        early.submit(run_here, 2).result()
        early.shutdown()
    named = [each for each in json.loads(path.read_text())["traceEvents"] if each["ph"] == "M"]
    assert {"early_0", "late_0"} <= {each["args"]["name"] for each in named}


def run_here(number: int) -> None:
    with bs.device("cpu"):
        bs.sync(bs.ones((10,)) + number)


@pytest.mark.parametrize("path", [3, True, b"", "", "there/is/no/such/folder.json", ["x"]])
def test_a_path_that_cannot_be_written_is_refused_before_anything_runs(path: Any) -> None:
    ran = False
    with pytest.raises((bs.ArgumentError, OSError)) as caught, bs.profile(path):
        ran = True
    assert not ran
    assert not recording._OPEN
    assert "profile: expected the path" in str(caught.value) or caught.value.filename


def test_a_trace_is_written_where_the_process_stood(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "below").mkdir()
    with bs.profile("trace.json"):
        assert not [each for each in tmp_path.iterdir() if each.is_file()]
        monkeypatch.chdir("below")
        bs.sync(bs.ones((10,)) + 1)
    assert json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert [each.name for each in tmp_path.iterdir() if each.is_file()] == ["trace.json"]


def test_a_trace_that_cannot_be_written_leaves_the_error_what_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "below"
    folder.mkdir()
    with pytest.raises(ZeroDivisionError) as caught, bs.profile(folder / "trace.json"):
        folder.rmdir()
        raise ZeroDivisionError
    assert "The profile is not written: " in caught.value.__notes__[0]
    folder.mkdir()
    with pytest.raises(FileNotFoundError), bs.profile(folder / "trace.json"):
        folder.rmdir()


def test_nothing_is_noted_otherwise() -> None:
    bs.sync(bs.ones((10,)) + 1)
    with bs.profile() as profile:
        pass
    assert list(profile.events) == []
    assert profile.rows() == []
    assert str(profile)


def test_one_in_another_has_a_part_of_what_that_has() -> None:
    x = bs.asarray([0.5, 1.5])
    with bs.profile() as outer:
        bs.sync(bs.tanh(x))
        with bs.profile() as inner:
            bs.sync(bs.exp(x))
        bs.sync(bs.sin(x))
    (own,) = [each for each in inner.rows() if each.kind == "kernel"]
    assert "exp" in own.name
    assert [each.count for each in outer.rows() if each.kind == "kernel"] == [1, 1, 1]
    assert all(each.begin >= 0 for each in (*inner.events, *outer.events))
    assert not recording._OPEN


def test_each_thread_may_have_one() -> None:
    x = bs.asarray([0.5, 1.5]).sync()

    def run() -> int:
        with bs.device("cpu"), bs.profile() as profile:
            for number in range(20):
                bs.sync(x + number)
        return sum([each.count for each in profile.rows() if each.kind == "kernel"])

    with ThreadPoolExecutor(3) as pool:
        counts = [each.result() for each in [pool.submit(run) for _ in range(3)]]
    assert min(counts) >= 20
    assert not recording._OPEN


def test_it_ends_while_another_thread_goes_on() -> None:
    step, done = bs.jit(lambda x: x * 0.5), Event()
    x = bs.ones((3,)).sync()

    def go_on() -> None:
        while not done.is_set():
            step(x)

    with ThreadPoolExecutor(1) as threads:
        going = threads.submit(go_on)
        with bs.profile() as profile:
            bs.sync([step(x) for _ in range(100)])
        done.set()
        going.result()
    assert sum([row.count for row in profile.rows() if row.kind == "kernel"]) >= 100


def test_an_error_ends_it_well() -> None:
    with pytest.raises(ZeroDivisionError), bs.profile() as profile:
        bs.sync(bs.ones((10,)) + 3)
        raise ZeroDivisionError
    assert profile.rows()
    with bs.profile():
        pass


@pytest.mark.parametrize("name", ["wait_for_all", "_taken"])
def test_an_interrupt_leaves_it_to_others(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it begins, or as it ends, it waits for what was asked for before."""

    def interrupted() -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(recording, name, interrupted)
        with pytest.raises(KeyboardInterrupt), bs.profile():
            pass
    with pytest.raises(KeyboardInterrupt), bs.profile():
        monkeypatch.setattr(recording, name, interrupted)
    monkeypatch.undo()
    with bs.profile() as profile:
        bs.sync(bs.ones((10,)) + 2)
    assert profile.rows()


def test_functions_that_are_gone() -> None:
    with bs.profile() as profile:
        for number in range(3):
            bs.sync(bs.jit(lambda x, n=number: x * (n + 7.5))(bs.ones((5,))))
    assert len([event for event in profile.events if event.kind == "call"]) >= 3
