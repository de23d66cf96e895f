"""How long a step takes in each library: they take turns, and the median of the rounds counts.

Comes in: a network, and a batch. Goes out: seconds by name, and a table of them.
Never: a contestant that computes something else than the first.
"""

import os
import random
import time
from collections.abc import Mapping
from statistics import median

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ... import asarray, sync, tree_leaves, tree_map, tree_paths
from ...data import Example
from ...train import Adam, Learner
from .by_hand import BETAS, RATE, SMALL
from .digits import Network, loss
from .peers import Advance, installed
from .words import waiting

OURS = "Brimstone"
ROUNDS, FEWEST_ROUNDS, PATIENCE_SECONDS = 9, 3, 4.0
"""How often each takes its turn, and how often at least where that takes too many seconds."""
ROUND_SECONDS = 0.03
"""How long a contestant runs in one round, about."""
SPIN_SECONDS, ENOUGH = 0.02, 0.95
"""How long it is looked whether others run, and which part of a core should be ours."""
WARM_UP = 3
TOLERANCE = 1e-3


class Disagreement(Exception):
    """A contestant computes something else than the first does."""


def compare(console: Console, network: Network, batch: Example, rounds: int) -> None:
    """Time a step from a network's weights in each library, and print what each takes."""
    contestants = {OURS: ours(network, batch)}
    weights = {
        name: each.numpy()
        for name, each in zip(tree_paths(network), tree_leaves(network), strict=True)
    }
    failed: dict[str, Exception] = {}
    with waiting(console, "everybody takes the first steps"):
        for name, prepare in installed().items():
            try:
                contestants[name] = prepare(weights, batch)
            except Exception as problem:  # whatever a broken installation may raise
                failed[name] = problem
        failed |= warm_up(contestants)
    timed = {name: advance for name, advance in contestants.items() if name not in failed}
    taken = race(timed, rounds)
    console.print(table({name: median(each) for name, each in taken.items()}))
    for name, problem in failed.items():
        console.print(Text(f"{name} is left out: {type(problem).__name__}: {problem}"))
    busy = "" if share() > ENOUGH else "; other programs are running, so these are rough"
    cores = os.cpu_count()
    told = f"median of {len(taken[OURS])} rounds on {cores} core{'s' * (cores != 1)}{busy}"
    console.print(told, style="dim")


def table(seconds: Mapping[str, float]) -> Table:
    """What each library takes, and how many times our time that is."""
    shown = Table(box=None, padding=(0, 2, 0, 0))
    shown.add_column("library")
    shown.add_column("ms", justify="right")
    shown.add_column("times ours", justify="right")
    for name, each in seconds.items():
        ratio = f"{each / seconds[OURS]:.2f}" if OURS in seconds else ""
        shown.add_row(name, f"{each * 1e3:.3f}", ratio, style="bold" if name == OURS else "")
    return shown


def ours(network: Network, batch: Example) -> Advance:
    """The step as our users write it."""
    learner = Learner(loss, Adam(RATE, BETAS, SMALL))
    state, given = learner.begin(network), tree_map(asarray, batch)

    def advance() -> float:
        nonlocal state
        state, report = learner.step(state, given)
        sync(report.loss)
        return report.loss.item()

    return advance


def warm_up(contestants: Mapping[str, Advance]) -> dict[str, Exception]:
    """Let each take its first steps; those that fail or go elsewhere than the first, and why."""
    expected: list[float] | None = None
    failed: dict[str, Exception] = {}
    for name, advance in contestants.items():
        try:
            losses = [float(advance()) for _ in range(WARM_UP)]
            expected = expected or losses
            if any(abs(a - b) > TOLERANCE for a, b in zip(losses, expected, strict=True)):
                raise Disagreement(f"its losses are {losses}, not {expected}")
        except Exception as problem:  # whatever another library may raise
            failed[name] = problem
    return failed


def race(contestants: Mapping[str, Advance], rounds: int = ROUNDS) -> dict[str, list[float]]:
    """The seconds that each takes for a step, in rounds of random order; fewer rounds where they
    take long."""
    counts = {name: _count_for(advance) for name, advance in contestants.items()}
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    order, began = list(contestants), time.perf_counter()
    for done in range(rounds):
        if done >= FEWEST_ROUNDS and time.perf_counter() - began > PATIENCE_SECONDS:
            break
        random.shuffle(order)
        for name in order:
            seconds[name].append(_seconds(contestants[name], counts[name]))
    return seconds


def share() -> float:
    """The part of a core's time that this thread gets while it wants all of it."""
    wall, own = time.perf_counter(), time.thread_time()
    while time.perf_counter() - wall < SPIN_SECONDS:
        pass
    return (time.thread_time() - own) / (time.perf_counter() - wall)


def _count_for(advance: Advance) -> int:
    """How many steps fill a round."""
    return max(1, int(ROUND_SECONDS / max(_seconds(advance, 1), 1e-9)))


def _seconds(advance: Advance, count: int) -> float:
    """What a step takes, on average over so many."""
    start = time.perf_counter()
    for _ in range(count):
        advance()
    return (time.perf_counter() - start) / count
