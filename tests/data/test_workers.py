"""Loaders with processes: the same batches, errors that arrive, and nobody left behind."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import data
from brimstone.data.process import Process
from kit.datasets import Deadly, Failing, Processes, Squares, counted, jittered, lazily, shaken

pytestmark = pytest.mark.slow  # a process takes a second to start where others work too


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Process]]:
    """The processes that a test has started, of which none may be left."""
    found: list[Process] = []
    begin = Process.__init__

    def noted(self: Process, fetch: Any) -> None:
        begin(self, fetch)
        found.append(self)

    monkeypatch.setattr(Process, "__init__", noted)
    yield found
    for each in found:
        each.end()


def over(processes: list[Process]) -> bool:
    """Whether they are all gone, and nobody has to wait for them."""
    return all(each._process.returncode is not None for each in processes)


def host(dataset: Any, batch: Any = 4, **how: Any) -> data.Loader:
    return data.Loader(dataset, batch, device="host", workers=2, **how)


def test_the_same_batches_as_without(started: list[Process]) -> None:
    how: dict[str, Any] = {"shuffle": True, "seed": 7, "augment": jittered, "augment_batch": shaken}
    loader = host(Squares(30), **how)
    plain = data.Loader(Squares(30), 4, device="host", prefetch=0, **how)
    for _ in range(2):
        for batch, same in zip(loader, plain, strict=True):
            assert str(batch) == str(same)
    assert len(started) == 2  # they are kept for the next epoch
    middle = host(Squares(30), **how)
    middle.restore({**plain.state(), "epoch": 1, "batch": 6})
    plain.restore({**plain.state(), "epoch": 1})
    assert [str(batch) for batch in middle] == [str(batch) for batch in plain][6:]
    del loader, middle
    assert over(started)


def test_who_makes_the_batches(started: list[Process]) -> None:
    loader = host(Processes(40), 1)
    made = {int(batch[0]) for batch in loader}
    assert made <= {each._process.pid for each in started}
    batch = next(iter(data.Loader(data.InMemory(np.arange(6.0)), 4, workers=1)))
    assert isinstance(batch, bs.Tensor)
    assert batch.tolist() == [0, 1, 2, 3]
    words = data.Loader(data.Stream(counted, 5), 3, workers=1, collate=str, prefetch=0)
    assert list(words) == ["[0, 1, 2]", "[3, 4]"]


def test_leaving_early_ends_them(started: list[Process]) -> None:
    for _ in host(Squares(1000), 1):
        break
    assert len(started) == 2
    assert over(started)
    batches = iter(data.Loader(Squares(1000), 1, device="host", workers=1))
    next(batches)
    batches.close()
    assert over(started)
    assert list(batches) == []
    with pytest.raises(KeyboardInterrupt):
        for _ in data.Loader(Squares(1000), 1, device="host", workers=1):
            raise KeyboardInterrupt
    assert over(started)


def test_errors_arrive(started: list[Process]) -> None:
    batches = iter(host(Failing()))
    next(batches)
    with pytest.raises(bs.OperationFailed) as caught:
        next(batches)
    text = str(caught.value)
    assert "Loader: item 5 of Failing: ValueError: five is out of order" in text
    assert "test_workers.py" in text
    assert "datasets.py" in text  # the worker's traceback
    assert 'raise ValueError("five is out of order")' in text
    assert over(started)


def test_a_death_is_an_error(started: list[Process]) -> None:
    batches = iter(host(Deadly()))
    assert next(batches)["place"].tolist() == [0, 1, 2, 3]
    words = "the batch of items 4, 5, 6, 7: its worker died of SIGKILL"
    with pytest.raises(bs.OperationFailed, match=words):
        next(batches)
    assert over(started)


def test_what_workers_cannot_be_told(started: list[Process], monkeypatch: Any) -> None:
    words = r"cannot be told: (?s:.*)test_workers\.py(?s:.*)workers=\"threads\""
    local = data.Mapped(range(10), lambda item: item)
    with pytest.raises(bs.ArgumentError, match=words):
        iter(host(local))
    with pytest.raises(bs.ArgumentError, match="cannot be told: cannot pickle"):
        iter(host(data.Mapped([threading.Lock()], str)))
    monkeypatch.setattr(Squares, "__module__", "__main__")
    with pytest.raises(bs.ArgumentError, match="Squares is defined in the script that is run"):
        iter(host(Squares()))
    assert started == []
    with pytest.raises(bs.ArgumentError, match="Squares is defined in the script that is run"):
        list(data.Loader(iter([Squares()]), 1, workers=1))


def test_what_workers_cannot_take(started: list[Process], tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "only_here.py").write_text("def same(item):\n    return item\n")
    monkeypatch.syspath_prepend(tmp_path)
    import only_here  # pyright: ignore[reportMissingImports]

    loader = data.Loader(data.Mapped(range(10), only_here.same), 4, workers=1)
    monkeypatch.undo()
    words = "a worker cannot take the dataset: ModuleNotFoundError: No module named 'only_here'"
    with pytest.raises(bs.OperationFailed, match=words):
        list(loader)
    with pytest.raises(bs.OperationFailed, match="a batch cannot be sent: PicklingError"):
        list(data.Loader(range(4), 4, workers=1, collate=lazily))


SCRIPT = """
    import os, signal, sys
    print("started")
    from brimstone import data
    from kit.datasets import Endless

    batches = iter(data.Loader(Endless(), 4, workers=2, device="host"))
    print(next(batches)["place"].tolist(), flush=True)
    if len(sys.argv) > 1:
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("ending", [[], ["killed"]], ids=["at its end", "killed"])
def test_a_script_runs_once_and_leaves_nobody(tmp_path: Path, ending: list[str]) -> None:
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT))
    paths = os.pathsep.join(path for path in sys.path if path)
    # What it says is read until its workers, which could say something too, have ended.
    done = subprocess.run(
        [sys.executable, script, *ending], env={**os.environ, "PYTHONPATH": paths},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.stdout.splitlines() == ["started", "[0, 1, 2, 3]"]
    assert done.stderr == ""
    assert done.returncode == (-signal.SIGKILL if ending else 0)
