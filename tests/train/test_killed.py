"""Runs that are interrupted, and runs that are killed at random moments."""

import os
import random
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from brimstone import train
from brimstone.train.saving import files
from kit.training import EPOCHS, Momentum, command, data, digest, loss, model
from kit.work import PATIENCE

TESTS = Path(__file__).parents[1]
STEPS = EPOCHS * len(data())


@cache
def expected() -> str:
    return digest(train.Learner(loss, Momentum()).fit(model(), data(), epochs=EPOCHS))


def started(folder: Path, pause: str = "0") -> subprocess.Popen[str]:
    """A run in a process of its own."""
    line = command(str(folder), pause)
    return subprocess.Popen(line, cwd=TESTS, stdout=subprocess.PIPE, text=True)


def ended(process: subprocess.Popen[str]) -> str:
    """The last line of a process that ends by itself."""
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    return output.splitlines()[-1]


@pytest.fixture
def server() -> Iterator[subprocess.Popen[str]]:
    """A process that begins runs at once, one after the other."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command(), cwd=TESTS, stdin=pipe, stdout=pipe, text=True) as process:
        yield process


def killed(server: subprocess.Popen[str], folder: Path, line: int) -> int:
    """Kill a run with SIGKILL after so many lines; the step of the last checkpoint there is."""
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(f"{folder}\n")
    server.stdin.flush()
    process = int(server.stdout.readline())
    lines = iter(server.stdout.readline, "over\n")
    told = [*islice(lines, line)]
    if len(told) == line:
        with suppress(ProcessLookupError):  # the run has ended meanwhile
            os.kill(process, signal.SIGKILL)
    told += lines
    assert all(each.startswith(("ready", "all epochs")) for each in told)
    files.sweep(folder / "checkpoints")  # first of all, as the next run does
    found = files.checkpoints(folder / "checkpoints")
    return files.step_of(found[-1]) if found else 0


def resumed(folder: Path, known: int) -> None:
    """A run that goes on from a checkpoint at least as late as `known`, to the same bits."""
    told: list[Any] = []
    run = train.Learner(loss, Momentum()).fit(
        model(), data(), epochs=EPOCHS, listeners=[told.append], saving=train.Saving(folder)
    )
    assert told[0].step >= known
    assert digest(run) == expected()


@pytest.mark.slow
def test_killed_at_fifty_moments_a_run_ends_with_the_same_weights(
    tmp_path: Path, server: subprocess.Popen[str]
) -> None:
    choose = random.Random(1)
    for number in range(10):
        folder = tmp_path / str(number)
        known = 0
        for _ in range(5):
            at = killed(server, folder, choose.randrange(1, 24))
            assert at >= known
            known = at
        resumed(folder, known)


def test_a_killed_run_goes_on(tmp_path: Path, server: subprocess.Popen[str]) -> None:
    known = killed(server, tmp_path, 5)
    assert known >= 2
    resumed(tmp_path, known)


def test_an_interrupt_finishes_the_step_and_writes(tmp_path: Path) -> None:
    process = started(tmp_path, "0.01")
    assert process.stdout is not None
    while process.stdout.readline().strip() != "ready 3":
        pass
    os.kill(process.pid, signal.SIGINT)
    assert ended(process).startswith("interrupted")
    known = files.step_of(files.checkpoints(tmp_path / "checkpoints")[-1])
    assert 3 <= known < STEPS
    resumed(tmp_path, known)
