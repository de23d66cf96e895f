"""What training costs besides its kernels, each figure beside its budget.

    python -m benchmarks.training_costs [names]

`first`: the first step of the MLP, where nothing is compiled, and in a new process that finds all
of it on disk; a batch of another size after that, and how many kernels it compiles. `memory`: what
is planned for a step of the GPT, and what PyTorch takes for it; what the pool keeps after 100 and
after 10,000 steps of the MLP. `python`: Python's part in a step of 150 parameters. `loaders`: how
many batches a loader makes in the time that the digits CNN takes for one; plain ones, and those of
the demo, moved and padded. `dashboard`: an epoch of the demo beside the dashboard, in a terminal of
its own, over one of the same run while the dashboard rests. Each is measured in processes of its
own. Exits with 1 beyond a budget.
"""

import argparse
import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from statistics import mean, median
from threading import Thread
from time import perf_counter, sleep
from typing import Any, NamedTuple
from unittest import mock

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

import brimstone as bs
from benchmarks.learning import cases
from benchmarks.learning.trainers import learner, ours, peers
from brimstone import nn, train
from brimstone.command.demo.digits import handwritten
from brimstone.command.demo.training import BATCH, Training
from brimstone.data import InMemory, Loader
from brimstone.runtime import calls
from brimstone.runtime.held import Dealer
from brimstone.train.events import EpochEnded
from brimstone.train.render import chosen_renderer

PROCESSES, WATCHES = 5, 6
HELPERS_DONE = 4.0
"""Seconds after which the helpers of a process have compiled what is left to them."""
PARAMETERS = 150
FEWER = 28
"""So many rows less has the other batch."""
STEPS, FEW_STEPS, MANY_STEPS = 2000, 100, 10_000
EPOCHS, WATCHED_EPOCHS, TURN = 60, 360, 10
SCREEN = 40, 120
"""Lines and columns."""
MICRO, MILLI, MEGA = 1e6, 1e3, 1e-6


class Figure(NamedTuple):
    """Something measured; `most` says that it may be so much at most, else it is so much at least.
    Without a budget it stands there for comparison."""

    name: str
    value: float
    unit: str
    budget: float | None = None
    most: bool = True

    @property
    def holds(self) -> bool:
        """Whether it is within its budget."""
        if self.budget is None:
            return True
        return self.value <= self.budget if self.most else self.value >= self.budget


def first() -> list[Figure]:
    """First steps, and another batch."""
    cold = list[dict[str, float]]()
    for _ in range(PROCESSES):
        with tempfile.TemporaryDirectory() as fresh:
            cold.append(_child("first_steps", BRIMSTONE_CACHE=fresh))
            sleep(HELPERS_DONE)  # they write there
    with tempfile.TemporaryDirectory() as kept:
        _child("first_steps", BRIMSTONE_CACHE=kept)
        sleep(HELPERS_DONE)
        warm = [_child("first_steps", BRIMSTONE_CACHE=kept) for _ in range(PROCESSES)]
        sleep(HELPERS_DONE)
    return [
        Figure("first step, nothing compiled yet", _median(cold, "first"), "s", 1.5),
        Figure("first step, all of it on disk", _median(warm, "first"), "s", 0.4),
        Figure("step of another batch size", _median(warm, "other") * MILLI, "ms", 5),
        Figure("kernels compiled for it", max([each["compiled"] for each in warm]), "", 0),
    ]


def first_steps() -> dict[str, float]:
    """In a process of its own: the first step of the MLP, and one of another batch."""
    from brimstone.targets.llvm.code import kernels_known

    case = _case("mlp")
    trainer, batch = ours(case), next(case.batches())
    given, fewer = trainer.put(batch), trainer.put(tuple([each[:-FEWER] for each in batch]))
    began = perf_counter()
    trainer.step(given)
    ended = perf_counter()
    for _ in range(3):
        trainer.step(given)
    known, again = kernels_known(), perf_counter()
    trainer.step(fewer)
    seconds = perf_counter() - again
    return {"first": ended - began, "other": seconds, "compiled": kernels_known() - known}


def memory() -> list[Figure]:
    """Planned and taken memory."""
    planned = _child("planned")["bytes"] * MEGA
    figures: list[Figure] = []
    most = None
    if find_spec("torch"):
        most = _child("taken")["bytes"] * MEGA
        figures.append(Figure("memory that PyTorch takes for it", most, "MB"))
    kept = _child("pool")
    more = (kept["after"] - kept["before"]) * MEGA
    return [
        Figure("memory planned for a step of the GPT", planned, "MB", most),
        *figures,
        Figure(f"more kept after {MANY_STEPS:,} steps", more, "MB", 0),
    ]


def planned() -> dict[str, float]:
    """In a process of its own: what a step of the GPT is planned to take."""
    case = _case("gpt")
    makes = learner(case)
    batch = tuple([bs.asarray(each) for each in next(case.batches())])
    found = makes.planned_memory(makes.begin(case.ours()), batch)
    assert found is not None
    return {"bytes": found.total}


def taken() -> dict[str, float]:
    """In a process of its own: what PyTorch's GPT, its moments and its steps add to the process,
    which has made steps of a small one before."""
    small, case = cases(["gpt"], small=True)["gpt"], _case("gpt")
    trainer = peers(small)
    trainer.step(trainer.put(next(small.batches())))
    weights, batch = case.weights, next(case.batches())
    before = _resident("VmRSS")
    trainer = peers(case, weights=weights)
    given = trainer.put(batch)
    for _ in range(3):
        trainer.step(given)
    return {"bytes": _resident("VmHWM") - before}


def pool() -> dict[str, float]:
    """In a process of its own: what is kept after some steps, and after many."""
    case = cases(["mlp"], small=True)["mlp"]
    trainer = ours(case)
    batch, kept = trainer.put(next(case.batches())), list[int]()
    for count in (FEW_STEPS, MANY_STEPS - FEW_STEPS):
        for _ in range(count):
            trainer.step(batch)
        kept.append(bs.memory_use().kept)
    return {"before": kept[0], "after": kept[1]}


def python() -> list[Figure]:
    """Python's part in a step."""
    found = [_child("parts")["python"] for _ in range(3)]
    name = f"Python's part in a step of {PARAMETERS} parameters"
    return [Figure(name, median(found) * MICRO, "µs", 15)]


def parts() -> dict[str, float]:
    """In a process of its own: what `Learner.step` takes, less the call of its program."""
    inside = list[float]()

    def timed(*how: Any) -> Any:
        dealer = Dealer(*how)

        def call(*given: Any) -> Any:
            start = perf_counter()
            made = dealer(*given)
            inside.append(perf_counter() - start)
            return made

        return call

    keys = bs.random.split(bs.random.key(0), PARAMETERS // 2)
    model = nn.Sequential(*[nn.Linear(2, 2, key=key) for key in keys])
    makes = train.Learner(lambda model, batch: bs.mean(model(batch)), train.SGD(0.01))
    state, batch = makes.begin(model), bs.zeros((2, 2)).sync()
    times = list[float]()
    with mock.patch.object(calls, "Dealer", timed):
        for number in range(STEPS):
            inside.clear()
            start = perf_counter()
            state, report = makes.step(state, batch)
            times.append(perf_counter() - start - sum(inside))
            if number % FEW_STEPS == 0:
                report.loss.item()
    return {"python": median(times)}


def loaders() -> list[Figure]:
    """Batches of loaders."""
    found = _child("batches")
    return [
        Figure("batches of a loader for each of the CNN", found["plain"], "", 10, most=False),
        Figure("those of the demo, moved and padded", found["moved"], "", 10, most=False),
    ]


def batches() -> dict[str, float]:
    """In a process of its own: the rates of loaders over that of the digits CNN."""
    case = _case("cnn")
    trainer, steps = ours(case), list[float]()
    batch = trainer.put(next(case.batches()))
    for _ in range(STEPS // 4):
        start = perf_counter()
        trainer.step(batch)
        steps.append(perf_counter() - start)
    demo = Training(*handwritten())
    plain = Loader(InMemory(demo.learned), BATCH, shuffle=True, drop_last=True)
    rates = [_seconds_a_batch(each) for each in (plain, demo.batches)]
    return dict(zip(("plain", "moved"), [median(steps) / rate for rate in rates], strict=True))


def _seconds_a_batch(loader: Loader) -> float:
    found = list[float]()
    for _ in range(EPOCHS):
        start, count = perf_counter(), 0
        for _ in loader:
            count += 1
        found.append((perf_counter() - start) / count)
    return median(found)


def dashboard() -> list[Figure]:
    """A run of the demo that is watched for some epochs, and for as many is not, in turns."""
    runs = [_in_terminal("watched") for _ in range(WATCHES)]
    beside, alone = (sum([each[name] for each in runs]) for name in ("beside", "alone"))
    return [Figure("an epoch beside a dashboard over one without", beside / alone, "", 1.01)]


def watched() -> dict[str, float]:
    """In a terminal of its own: the time of an epoch that is watched, and of one that is not.

    Of either kind all epochs count, those in which the dashboard draws and the others; but not the
    first of a turn, in which it comes back or goes.
    """
    Training(*handwritten(), epochs=2).run()  # all is compiled then
    training, begin = Training(*handwritten(), epochs=WATCHED_EPOCHS), perf_counter()
    ends: list[tuple[float, bool]] = []
    is_watched = True

    def show(event: Any) -> None:
        nonlocal is_watched
        if is_watched:
            renderer(event)
        if isinstance(event, EpochEnded) and event.split == "train":
            ends.append((perf_counter(), is_watched))
            if len(ends) % TURN == 0:
                is_watched = not is_watched
                for each in _children():
                    os.kill(each, signal.SIGCONT if is_watched else signal.SIGSTOP)

    with chosen_renderer("dashboard") as renderer:
        training.run(show)
        for each in _children():
            os.kill(each, signal.SIGCONT)
    seconds: dict[bool, list[float]] = {True: [], False: []}
    for (before, was), (after, now) in pairwise(ends):
        if was == now and before - begin > HELPERS_DONE:
            seconds[now].append(after - before)
    return {"beside": mean(seconds[True]), "alone": mean(seconds[False])}


def _children() -> list[int]:
    """The processes that this one has started."""
    told = Path("/proc/self/task").glob("*/children")
    return [int(each) for lines in told for each in lines.read_text().split()]


def _case(name: str) -> Any:
    return cases([name])[name]


def _median(found: Sequence[Mapping[str, float]], name: str) -> float:
    return median([each[name] for each in found])


def _resident(field: str) -> int:
    """Bytes of memory that the process has, or has had at most."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (found,) = [line.split()[1] for line in lines if line.startswith(field)]
    return int(found) * 1024


def _child(name: str, **environment: str) -> dict[str, float]:
    """What a function of this file measures in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.training_costs", "--part", name]
    made = subprocess.run(
        command, env={**os.environ, **environment}, check=True, capture_output=True, text=True
    )
    return json.loads(made.stdout.splitlines()[-1])


def _in_terminal(name: str) -> dict[str, float]:
    """The same before a terminal that nobody looks at; what is measured comes in a file."""
    ours_, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", *SCREEN, 0, 0))
    reader = Thread(target=_drain, args=(ours_,), daemon=True)
    reader.start()
    with tempfile.NamedTemporaryFile() as found:
        command = [sys.executable, "-m", "benchmarks.training_costs", "--to", found.name, "--part"]
        subprocess.run(
            [*command, name], check=True, stdin=theirs, stdout=theirs, stderr=theirs,
            env={**os.environ, "TERM": "xterm-256color"}, start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        return json.loads(Path(found.name).read_text())


def _drain(terminal: int) -> None:
    with suppress(OSError):  # as all of it is closed
        while os.read(terminal, 1 << 16):
            pass


FIGURES: Mapping[str, Callable[[], list[Figure]]] = {
    "first": first, "memory": memory, "python": python, "loaders": loaders,
    "dashboard": dashboard,
}  # fmt: skip
PARTS: Mapping[str, Callable[..., dict[str, float]]] = {
    "first_steps": first_steps, "planned": planned, "taken": taken, "pool": pool, "parts": parts,
    "batches": batches, "watched": watched,
}  # fmt: skip


def shown(figures: Sequence[Figure]) -> Table:
    """The table for people."""
    made = Table("what", box=SIMPLE)
    for column in ("figure", "budget"):
        made.add_column(column, justify="right")
    for each in figures:
        bound = "" if each.budget is None else f"{'≤' if each.most else '≥'} {each.budget:.4g}"
        style = "" if each.holds else "bold red"
        made.add_row(each.name, f"{each.value:.4g} {each.unit}", bound, style=style)
    return made


def main() -> int:
    """Read the command line, measure, print a table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.training_costs",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("names", nargs="*", choices=[[], *FIGURES], default=[])
    parser.add_argument("--part", nargs="+", help=argparse.SUPPRESS)
    parser.add_argument("--to", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        name, *given = options.part
        with bs.device("cpu"):
            found = json.dumps(PARTS[name](*given))
        if options.to:
            options.to.write_text(found)
        else:
            print(found)
        return 0
    figures = [each for name in options.names or FIGURES for each in FIGURES[name]()]
    Console(width=100).print(shown(figures))
    return 0 if all([each.holds for each in figures]) else 1


if __name__ == "__main__":
    sys.exit(main())
