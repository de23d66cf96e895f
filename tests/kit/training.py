"""A small problem for tests of training: a model, its data, a loss, an optimiser of a few lines.

Run as a program it trains with checkpoints, `python -m kit.training FOLDER`, says `ready` after
each step, and prints a short name of the trained weights in the end: what a test interrupts.
Without a folder it does so for each one that it reads, in a process that begins where this one
stands: what a test kills again and again.
"""

import os
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Any

import numpy as np

import brimstone as bs
from brimstone import nn, train
from kit.forked import child

EPOCHS, SIZE = 6, 4


@dataclass(frozen=True)
class Momentum:
    """Gradient descent with momentum, by the protocol of optimisers and nothing else."""

    lr: Any = 0.01

    def initial(self, model: Any) -> Any:
        return bs.tree_map(bs.zeros_like, model)

    def update(self, model: Any, gradients: Any, state: Any) -> tuple[Any, Any]:
        state = bs.tree_map(lambda speed, slope: 0.9 * speed + slope, state, gradients)
        return bs.tree_map(lambda one, speed: one - self.lr * speed, model, state), state


def data(batches: int = 8, size: int = SIZE) -> list[Any]:
    """Batches of points and of what a line makes of them."""
    random = np.random.default_rng(0)
    points = random.normal(size=(batches, size, 3)).astype(np.float32)
    values = (points @ np.array([1.0, -2.0, 0.5], np.float32)).astype(np.float32)
    return [(bs.asarray(x), bs.asarray(y)) for x, y in zip(points, values, strict=True)]


def model() -> Any:
    """A network with one hidden layer and some randomness."""
    keys = [bs.random.key(seed) for seed in (1, 2)]
    return nn.Sequential(nn.Linear(3, 4, key=keys[0]), Noise(), nn.Linear(4, 1, key=keys[1]))


class Noise(nn.Module):
    """Numbers that are a little off while a model trains."""

    def forward(self, x: Any) -> Any:
        return x * bs.random.uniform(nn.next_key(), (4,), minval=0.9) if nn.is_training() else x


def loss(model: Any, batch: Any) -> Any:
    """The mean of squared errors, and what the model said."""
    points, values = batch
    outputs = model(points)[:, 0]
    return ((outputs - values) ** 2).mean(), outputs


def distance(outputs: Any, batch: Any) -> Any:
    """The mean error."""
    return bs.abs(outputs - batch[1]).mean()


def weights(run: Any) -> list[bytes]:
    """The bytes of all trained tensors."""
    return [leaf.numpy().tobytes() for leaf in bs.tree_leaves(run.model)]


def digest(run: Any) -> str:
    """A short name of the trained weights."""
    return sha256(b"".join(weights(run))).hexdigest()


def stopping_at(step: int) -> Any:
    """A listener that stops a run after a step."""

    def stop(event: Any) -> train.Stop | None:
        is_there = isinstance(event, train.Progress) and event.step >= step
        return train.Stop("for a test") if is_there else None

    return stop


class Told(list[Any]):
    """A listener that keeps what it is told."""

    def __call__(self, event: Any) -> None:
        self.append(event)

    def steps(self) -> list[tuple[int, float]]:
        """The loss of each step of training."""
        return [
            (event.step, event.values["loss"])
            for event in self
            if isinstance(event, train.Progress) and event.split == "train"
        ]


def say(*words: Any) -> None:
    """Print a line in one piece, as who is killed in the middle of one leaves half of it."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def main(folder: str, pause: str = "0") -> None:
    """Train with a checkpoint after every second step."""

    def ready(event: Any) -> None:
        if isinstance(event, train.Progress):
            say("ready", event.step)
            time.sleep(float(pause))

    run = train.Learner(loss, Momentum()).fit(
        model(), data(), epochs=EPOCHS, listeners=[ready], saving=train.Saving(folder, every=2)
    )
    say(run.reason, digest(run))


def serve() -> None:
    """For each folder that is read, say which process trains there, and when that is over."""

    def run(folder: str) -> None:
        say(os.getpid())
        main(folder)

    for line in sys.stdin:
        _, status = os.waitpid(child(partial(run, line.strip())), 0)
        if status not in (0, signal.SIGKILL):
            say("failed")
        say("over")


def command(*arguments: str) -> Sequence[str]:
    """How another process runs this program."""
    return [sys.executable, "-m", "kit.training", *arguments]


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # as a terminal's programs have it
    main(*sys.argv[1:]) if sys.argv[1:] else serve()
