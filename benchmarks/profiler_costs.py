"""What it costs to be profiled: training steps within `bs.profile`, and without, in turns.

    python -m benchmarks.profiler_costs [--turns 20]

The smaller a model, the shorter are its kernels, each of which is noted. What is told is the median
of the turns, each of which makes a step of the same weights. Exits with 1 beyond the budget.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from statistics import median
from time import perf_counter
from typing import Any

import brimstone as bs
from benchmarks.threads import AT_ONCE, MODELS, Training

BUDGET = 1.05
"""Times the seconds of steps that nobody profiles."""
SECONDS = 0.05
"""A turn is about so long."""


def seconds(
    training: Training, steps: int, within: Callable[[], AbstractContextManager[Any]]
) -> float:
    """Of so many steps within a context, without its beginning and its end."""
    training.begin()
    training.go_on(AT_ONCE)
    with within():
        begun = perf_counter()
        training.go_on(steps)
        return perf_counter() - begun


def cost(layers: Sequence[int], batch: int, turns: int) -> tuple[float, float]:
    """Seconds of a step that is not profiled, and how many times as long one is that is."""
    training = Training(layers, batch, AT_ONCE, 0)
    once = min([seconds(training, AT_ONCE, nullcontext) for _ in range(AT_ONCE)])
    steps = AT_ONCE * (1 + int(SECONDS / once))
    pairs = [
        (seconds(training, steps, nullcontext), seconds(training, steps, bs.profile))
        for _ in range(turns)
    ]
    alone = median([each for each, _ in pairs]) / steps
    return alone, median([profiled / each for each, profiled in pairs])


def main() -> int:
    """Measure all models."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.profiler_costs",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("--turns", type=int, default=20)
    options = parser.parse_args()
    found = list[float]()
    with bs.device("cpu"):
        for layers, batch in MODELS:
            alone, times = cost(layers, batch, options.turns)
            name = f"{'-'.join(map(str, layers))} x {batch}"
            print(f"{name:22} {1e6 * alone:7.1f} µs a step, profiled {times:.3f} times that")
            found.append(times)
    return 0 if max(found) <= BUDGET else 1


if __name__ == "__main__":
    sys.exit(main())
