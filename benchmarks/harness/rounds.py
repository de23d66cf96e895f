"""Rounds: every contestant runs once in each, in another order, so that drift hits all alike.

Comes in: a `Work` and the libraries that take part, and whether they have a neighbour. Goes out: a
`Timing` for each.
Never: a round that the machine disturbed, if it can be taken again.
"""

import gc
import random
import time
from collections.abc import Iterable, Mapping
from math import inf

import numpy as np

from benchmarks.harness import load
from benchmarks.harness.neighbour import Neighbour, spinning_on
from benchmarks.harness.work import Run, Timing, Work, as_arrays

ROUNDS = 11
ROUND_SECONDS = 0.04
"""How long a contestant runs in one round at least."""
BESIDE_AT_MOST = 0.4
"""How long beside a neighbour at most, but for the last call: some are hundreds of times slower."""
REPEATS = 3
"""How often the rounds of a work are begun anew on a machine that has other work."""


ROOF = "copy"
"""The contestant that only moves as many bytes; its results are nobody's."""


class Disagreement(Exception):
    """Two contestants computed different things."""


def prepare(work: Work, names: Iterable[str]) -> dict[str, Run]:
    """What each contestant runs in a round; each has been run before, and their results agree.

    Each has inputs of its own: those who shared theirs would find them in a cache, read by another.
    """
    arrays = work.inputs()
    taking_part = [name for name in names if name in work.sides]
    runs = {name: work.sides[name](*[each.copy() for each in arrays]) for name in taking_part}
    first: tuple[str, list[np.ndarray]] | None = None
    for name, run in runs.items():
        for _ in range(work.calls_before - 1):
            run()
        made = as_arrays(run())
        if name == ROOF:
            continue
        if first is None:
            first = name, made
        elif work.checked:
            check(work, first, (name, made))
    return runs


def check(
    work: Work, left: tuple[str, list[np.ndarray]], right: tuple[str, list[np.ndarray]]
) -> None:
    """Refuse contestants whose results differ by more than the work's tolerance."""
    for mine, theirs in zip(left[1], right[1], strict=True):
        scale = float(np.max(np.abs(theirs), initial=1.0))
        apart = float(np.max(np.abs(mine.astype(np.float64) - theirs), initial=0.0)) / scale
        if not apart <= work.tolerance:
            raise Disagreement(f"{work.name}: {left[0]} and {right[0]} differ by {apart:.1e}")


def timed(
    runs: Mapping[str, Run], core: int | None = None, together: int = 1
) -> tuple[list[Timing], bool]:
    """The timings of all contestants, called so often in a turn at least, and whether the machine
    was quiet meanwhile, but for the neighbour that is to spin on a core."""
    timings: list[Timing] = []
    counts = {name: max(together, count_for(run)) for name, run in runs.items()}
    with spinning_on(core) as neighbour:
        for _ in range(REPEATS):
            timings, trusted = _all_rounds(runs, counts, neighbour)
            if trusted:
                return timings, True
    return timings, False


def count_for(run: Run) -> int:
    """How many calls fill a round."""
    start = time.perf_counter()
    run()
    return max(1, int(ROUND_SECONDS / max(time.perf_counter() - start, 1e-9)))


def _all_rounds(
    runs: Mapping[str, Run], counts: Mapping[str, int], neighbour: Neighbour | None
) -> tuple[list[Timing], bool]:
    timings = {name: Timing(name) for name in runs}
    trusted, watch = load.quiet(neighbour), load.Watch(neighbour)
    order = list(runs)
    gc.collect()
    gc.disable()
    try:
        for _ in range(ROUNDS):
            random.shuffle(order)
            for name in order:
                _take(timings[name], runs[name], counts[name], neighbour)
    finally:
        gc.enable()
    return list(timings.values()), trusted and watch.undisturbed()


def _take(timing: Timing, run: Run, count: int, neighbour: Neighbour | None) -> None:
    """A contestant's turn; beside a neighbour two, one while that is at rest."""
    if neighbour is None:
        timing.seconds.append(_one(run, count))
        return
    with neighbour.at_rest():
        timing.at_rest.append(_one(run, count))
    timing.seconds.append(_one(run, count, BESIDE_AT_MOST))


def _one(run: Run, count: int, at_most: float = inf) -> float:
    """Seconds per call, when what ran before has come to rest: of so many, or fewer, if these take
    so long."""
    load.settle()
    start = end = time.perf_counter()
    done = 0
    while done < count and end - start < at_most:
        run()
        done += 1
        end = time.perf_counter()
    return (end - start) / done
