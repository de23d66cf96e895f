"""How long a step takes in each library: they take turns, and the median of the rounds counts.

Comes in: functions by name. Goes out: seconds by name.
Never: a contestant that computes something else than the first.
"""

import random
import time
from collections.abc import Mapping
from statistics import median

from .peers import Advance

ROUNDS = 9
ROUND_SECONDS = 0.03
"""How long a contestant runs in one round, about."""
SPIN_SECONDS, ENOUGH = 0.02, 0.95
"""How long it is looked whether others run, and which part of a core should be ours."""
WARM_UP = 3
TOLERANCE = 1e-3


class Disagreement(Exception):
    """A contestant computes something else than the first does."""


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


def medians(contestants: Mapping[str, Advance], rounds: int = ROUNDS) -> dict[str, float]:
    """The median of the seconds that each takes for a step, in rounds of random order."""
    counts = {name: _count_for(advance) for name, advance in contestants.items()}
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    order = list(contestants)
    for _ in range(rounds):
        random.shuffle(order)
        for name in order:
            seconds[name].append(_seconds(contestants[name], counts[name]))
    return {name: median(each) for name, each in seconds.items()}


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
