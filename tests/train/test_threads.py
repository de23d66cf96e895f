"""Learners in several threads at once: to the same bits as one after the other."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import numpy as np

import brimstone as bs
from brimstone import nn, train
from kit.work import PATIENCE

THREADS = 4


class Model(nn.Module):
    """With randomness, and with values that stay."""

    def __init__(self, width: int) -> None:
        keys = bs.random.split(bs.random.key(width), 2)
        self.inner = nn.Linear(3, width, key=keys[0])
        self.norm = nn.BatchNorm1d(width)
        self.dropout = nn.Dropout(0.3)
        self.outer = nn.Linear(width, 1, key=keys[1])

    def forward(self, x: Any) -> Any:
        return self.outer(self.dropout(bs.relu(self.norm(self.inner(x)))))[:, 0]


def loss(model: Any, batch: Any) -> Any:
    points, values = batch
    return ((model(points) - values) ** 2).mean()


def trained(number: int, barrier: Barrier | None = None) -> list[bytes]:
    """All of the state after training; each number has its own model and data."""
    random = np.random.default_rng(number)
    points = random.normal(size=(4, 8 + number % 2, 3)).astype(np.float32)
    batches = [(bs.asarray(each), bs.asarray(each.sum(axis=1))) for each in points]
    learner = train.Learner(loss, train.AdamW(lr=0.01), seed=number)
    if barrier is not None:
        barrier.wait(PATIENCE)
    run = learner.fit(Model(4 + number), batches, epochs=2, valid=batches[:1])
    values = [value for event in run.history for value in event.values.values()]
    leaves = [leaf.numpy() for leaf in bs.tree_leaves(run.state)]
    return [each.tobytes() for each in (*leaves, np.array(values))]


def test_four_at_once_are_as_one_after_the_other() -> None:
    expected = [trained(number) for number in range(THREADS)]
    barrier = Barrier(THREADS)
    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(lambda number: trained(number, barrier), range(THREADS)))
    assert found == expected
    assert len({each[0] for each in found}) == THREADS


def test_four_that_compile_at_once() -> None:
    barrier = Barrier(THREADS)
    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(lambda number: trained(number + 10, barrier), range(THREADS)))
    assert found == [trained(number + 10) for number in range(THREADS)]
