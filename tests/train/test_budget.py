"""Steps that fit into so much memory: as little as possible is computed again, nothing changes."""

from threading import Thread
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import nn, train
from brimstone.frontend.errors import ArgumentError

BLOCKS = 4


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.dropout = nn.Dropout(0.25)

    def forward(self, x: Any) -> Any:
        """x plus what is made of it"""
        return x + self.down(bs.tanh(self.dropout(self.up(x))))


class Model(nn.Module):
    def __init__(self) -> None:
        self.blocks = tuple([Block(8) for _ in range(BLOCKS)])

    def forward(self, x: Any) -> Any:
        """through all blocks"""
        for block in self.blocks:
            x = block(x)
        return x


def loss(model: Any, batch: Any) -> Any:
    return (model(batch) ** 2).mean()


def batch_of(rows: int) -> Any:
    numbers = np.linspace(-1, 1, rows * 8, dtype=np.float32).reshape(rows, 8)
    return bs.asarray(numbers, device="cpu")


def started(**settings: Any) -> tuple[train.Learner, Any]:
    learner = train.Learner(loss, train.optimisers.SGD(0.1), **settings)
    bs.manual_seed(5)
    with bs.device("cpu"):
        return learner, learner.begin(Model())


def taken(rows: int = 64, **settings: Any) -> int:
    learner, state = started(**settings)
    planned = learner.planned_memory(state, batch_of(rows))
    assert planned is not None
    assert planned.total == planned.given + planned.makes + planned.between
    return planned.total


def test_what_fits_is_kept() -> None:
    learner, state = started(memory=taken())
    learner.step(state, batch_of(64))
    assert learner.recomputed == ()


def test_the_smaller_the_budget_the_more_is_computed_again() -> None:
    most = taken()
    before = most
    for count in range(1, BLOCKS):  # the last one is wanted again at once
        learner, state = started(memory=before - 1)
        planned = learner.planned_memory(state, batch_of(64))
        assert learner.recomputed == tuple([f"blocks.{place}" for place in range(count)])
        assert planned is not None
        assert planned.total < before
        before = planned.total
    assert before < 0.6 * most
    learner, state = started(memory=before - 1)
    with pytest.raises(ArgumentError, match=r"a step takes .* at least, and may take"):
        learner.step(state, batch_of(64))


def test_training_goes_the_same_way() -> None:
    """The same masks of dropout; sums may be taken in another order."""
    losses: list[list[float]] = []
    for settings in ({}, {"memory": int(0.7 * taken())}):
        learner, state = started(**settings)
        seen: list[float] = []
        for _ in range(5):
            state, report = learner.step(state, batch_of(64))
            seen.append(report.loss.item())
        losses.append(seen)
        assert bool(learner.recomputed) == bool(settings)
    np.testing.assert_allclose(losses[1], losses[0], rtol=1e-5)


def test_a_larger_batch_is_looked_at_anew_and_a_smaller_one_fits() -> None:
    learner, state = started(memory=taken(64))
    learner.planned_memory(state, batch_of(64))
    assert learner.recomputed == ()
    learner.planned_memory(state, batch_of(96))
    chosen = learner.recomputed
    assert chosen
    learner.planned_memory(state, batch_of(32))
    assert learner.recomputed == chosen


def test_batches_whose_gradients_are_gathered_fit_too() -> None:
    whole = taken(accumulate=2)
    learner, state = started(memory=int(0.8 * whole), accumulate=2)
    for count in range(2):
        state, report = learner.step(state, batch_of(64), count)
    assert learner.recomputed
    assert np.isfinite(report.loss.item())


def test_threads_find_one_answer() -> None:
    learner, state = started(memory=int(0.7 * taken()))
    found: list[Any] = []

    def plan() -> None:
        found.append(learner.planned_memory(state, batch_of(64)))

    threads = [Thread(target=plan) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len({each.total for each in found}) == 1


def test_means_of_batches_come_out_of_what_is_computed_again() -> None:
    class Normed(nn.Module):
        def __init__(self) -> None:
            self.linear, self.norm = nn.Linear(8, 8), nn.BatchNorm1d(8)

        def forward(self, x: Any) -> Any:
            """normalised over the batch"""
            return bs.tanh(self.norm(self.linear(x)))

    def run(**settings: Any) -> tuple[Any, train.Learner]:
        learner = train.Learner(loss, train.optimisers.SGD(0.1), **settings)
        bs.manual_seed(2)
        with bs.device("cpu"):
            model = nn.Sequential(Normed(), Normed(), Normed())
            state, _ = learner.step(learner.begin(model), batch_of(512))
        return state.model, learner

    plain, learner = run()
    with bs.device("cpu"):
        whole = learner.planned_memory(learner.begin(plain), batch_of(512))
    assert whole is not None
    other, learner = run(memory=int(0.9 * whole.total))
    assert learner.recomputed
    for one, two in zip(plain, other, strict=True):
        np.testing.assert_allclose(
            np.asarray(one.norm.running_mean), np.asarray(two.norm.running_mean), atol=1e-6
        )
        assert np.asarray(two.norm.running_mean).any()


@pytest.mark.parametrize("memory", [0, -5])
def test_a_budget_is_a_number_of_bytes(memory: int) -> None:
    with pytest.raises(ArgumentError, match="memory is a number above 0"):
        train.Learner(loss, train.optimisers.SGD(0.1), memory=memory)


def test_where_nothing_is_planned_there_is_no_budget() -> None:
    learner = train.Learner(loss, train.optimisers.SGD(0.1), memory=1_000_000)
    with bs.device("reference"):
        state = learner.begin(Model())
        with pytest.raises(ArgumentError, match="nothing plans the memory of a step"):
            learner.step(state, bs.zeros((4, 8)))
