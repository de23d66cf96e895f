"""Threads that train a model each, beside one that trains one: how many more steps they make.

    python -m benchmarks.threads [--models 4] [--seconds 0.3] [--rounds 40]

Each thread makes steps until its time is over, and reads the loss of each one, or of each tenth; so
all of them are at it all the time, however it is shared out. Each begins anew in each round:
gradients of what has been learned by heart are denormals, with which a core takes longer. One model
whose kernels are too small to be shared leaves all cores but one to others; of one that is larger
all cores do a part, with or without others, so there is less to gain; with BRIMSTONE_THREADS=1 all
are compared with one core. Beside the one stands how many cores it keeps busy: the more, the less
is left to others. Beside the threads stand as many processes with one thread each, which share
nothing but the machine: what they make, threads can hardly surpass.
All are timed in short turns, many of them, as a machine that others use is now quick, now slow, for
some seconds; what is told is the median of the rounds, the least and the most. Fails if a thread
ends with other weights than it has on its own. Of a step of the smallest model Python takes a
quarter, whose lock one thread has at a time.
"""

import argparse
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from statistics import median
from threading import Thread
from time import perf_counter, process_time
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

import brimstone as bs
from benchmarks.learning import mlp
from benchmarks.learning.trainers import loss
from brimstone import train

MODELS = (
    ((64, 128, 10), 32),
    ((128, 256, 256, 10), 32),
    ((784, 128, 64, 10), 64),
    ((784, 512, 256, 10), 128),
)
"""Layers, and a batch."""
AT_ONCE = 10
"""So many steps are made before a thread looks at the time."""
READ_EVERY = (1, AT_ONCE)
"""The loss is read of each step, or of the last one of so many."""


class Training:
    """One model, with a batch of its own; the loss of every so-manyth step is read."""

    def __init__(self, layers: Sequence[int], batch: int, every: int, seed: int) -> None:
        draws = np.random.default_rng(seed)
        self.learner = train.Learner(loss, train.AdamW(lr=1e-3))
        self.layers, self.every = layers, every
        given = draws.standard_normal((batch, layers[0]), np.float32)
        wanted = draws.integers(0, layers[-1], batch)
        self.batch = tuple([bs.asarray(each).sync() for each in (given, wanted)])
        self.state: Any = None

    def begin(self) -> None:
        """Back to the first weights."""
        with bs.device("cpu"):
            self.state = self.learner.begin(mlp.network(self.layers))

    def go_on(self, steps: int) -> None:
        """So many steps more, of which each `every`th is read; a multiple of that."""
        with bs.device("cpu"):
            for _ in range(steps // self.every):
                for _ in range(self.every):
                    self.state, report = self.learner.step(self.state, self.batch)
                report.loss.item()

    def go_on_until(self, end: float, counts: list[int]) -> None:
        """Steps until then; how many goes into a list."""
        count = 0
        while not count or perf_counter() < end:
            self.go_on(AT_ONCE)
            count += AT_ONCE
        counts.append(count)

    def weights(self) -> list[np.ndarray]:
        """What all tensors of the state hold."""
        return [each.numpy() for each in bs.tree_leaves(self.state)]


class Rate(NamedTuple):
    """Seconds a step, whoever makes it, and how many cores' time that takes."""

    step: float
    cores: float


def at_once(trainings: Sequence[Training], work: Callable[[Training], None]) -> None:
    """Each in a thread of its own."""
    threads = [Thread(target=partial(work, each)) for each in trainings]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


def rate(trainings: Sequence[Training], seconds: float) -> Rate:
    """Of each a thread, for so long."""
    for each in trainings:
        each.begin()
    counts: list[int] = []
    begun, took = perf_counter(), process_time()
    at_once(trainings, lambda each: each.go_on_until(begun + seconds, counts))
    passed = perf_counter() - begun
    return Rate(passed / sum(counts), (process_time() - took) / passed)


class Processes:
    """As many processes as there are models, each with one and a thread for it."""

    def __init__(self, layers: Sequence[int], batch: int, every: int, count: int) -> None:
        context = get_context("spawn")
        given = layers, batch, every, context.Barrier(count)
        self.count = count
        self.pool = ProcessPoolExecutor(count, context, _OfProcess.begin, given)
        with mock.patch.dict(os.environ, {"BRIMSTONE_THREADS": "1"}):
            self.step(0.0)  # all of them are started, and compile

    def __enter__(self) -> "Processes":
        return self

    def __exit__(self, *error: object) -> None:
        self.pool.shutdown()

    def step(self, seconds: float) -> float:
        """Seconds a step, whoever makes it, where all are at it for so long."""
        asked = [self.pool.submit(_OfProcess.count, seconds) for _ in range(self.count)]
        return 1 / sum([each.result() for each in asked])


class _OfProcess:
    """What a process has: a model, and what lets it begin when all others do."""

    training: Training
    together: Any

    @classmethod
    def begin(cls, layers: Sequence[int], batch: int, every: int, together: Any) -> None:
        """Once, as it starts."""
        with bs.device("cpu"):
            cls.training = Training(layers, batch, every, 0)
        cls.together = together

    @classmethod
    def count(cls, seconds: float) -> float:
        """Steps a second, in so many."""
        cls.training.begin()
        cls.together.wait()
        counts: list[int] = []
        begun = perf_counter()
        cls.training.go_on_until(begun + seconds, counts)
        return counts[0] / (perf_counter() - begun)


def same_bits(trainings: Sequence[Training], steps: int) -> bool:
    """Whether all end with the weights that each has on its own."""
    for each in trainings:
        each.begin()
        each.go_on(steps)
    expected = [each.weights() for each in trainings]
    for each in trainings:
        each.begin()
    at_once(trainings, lambda each: each.go_on(steps))
    found = [each.weights() for each in trainings]
    return all(
        np.array_equal(one, other)
        for pair in zip(expected, found, strict=True)
        for one, other in zip(*pair, strict=True)
    )


class Round(NamedTuple):
    """What was measured in turn: one thread, all threads, and seconds a step of the processes."""

    one: Rate
    all: Rate
    apart: float


def told(rounds: Sequence[Round]) -> str:
    """What the rounds say, in words."""
    one = 1e6 * median([each.one.step for each in rounds])
    many = 1e6 * median([each.all.step for each in rounds])
    cores = median([each.one.cores for each in rounds])
    gains = sorted([each.one.step / each.all.step for each in rounds])
    most = median([each.one.step / each.apart for each in rounds])
    return (
        f"one {one:7.1f} µs a step on {cores:.2f} cores, together {many:7.1f}: "
        f"{median(gains):.2f} times the steps ({gains[0]:.2f}..{gains[-1]:.2f}), "
        f"as processes {most:.2f}"
    )


def measured(
    layers: Sequence[int], batch: int, every: int, options: argparse.Namespace
) -> list[Round]:
    """The rounds of one model, each with all in turn."""
    with bs.device("cpu"):
        trainings = [Training(layers, batch, every, seed) for seed in range(options.models)]
        if not same_bits(trainings, 2 * AT_ONCE):
            raise SystemExit("the threads end with other weights")
    time = options.seconds
    with Processes(layers, batch, every, options.models) as processes:
        return [
            Round(rate(trainings[:1], time), rate(trainings, time), processes.step(time))
            for _ in range(options.rounds)
        ]


def main() -> None:
    """Measure all models."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--rounds", type=int, default=40)
    options = parser.parse_args()
    for every in READ_EVERY:
        print(f"the loss is read of {'each step' if every == 1 else f'one step of {every}'}")
        for layers, batch in MODELS:
            rounds = measured(layers, batch, every, options)
            print(f"{'-'.join(map(str, layers)):15} x {batch:3}: {told(rounds)}")


if __name__ == "__main__":
    main()
