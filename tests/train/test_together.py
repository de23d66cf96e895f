"""Optimisers, schedules, averages and metrics beside modules and the Learner."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import nn, train
from brimstone.train import metrics, schedules

RANDOM = np.random.default_rng(2)
POINTS = RANDOM.normal(0, 1, (16, 2)).astype(np.float32)
SIDES = (POINTS.sum(axis=1) > 0).astype(np.float32)
BATCHES = [(bs.asarray(POINTS[at : at + 8]), bs.asarray(SIDES[at : at + 8])) for at in (0, 8)]


class Model(nn.Module):
    """Two layers, the first of which is normalised."""

    def __init__(self) -> None:
        self.inner = nn.Linear(2, 4)
        self.norm = nn.BatchNorm1d(4)
        self.outer = nn.Linear(4, 1)

    def forward(self, x: Any) -> Any:
        return self.outer(bs.tanh(self.norm(self.inner(x))))[:, 0]


def loss(model: Any, batch: Any) -> Any:
    points, sides = batch
    outputs = model(points)
    return (bs.softplus(outputs) - sides * outputs).mean(), outputs


def test_a_learner_trains_by_groups_and_a_schedule() -> None:
    bs.manual_seed(0)
    groups = train.Groups(
        {"bias|norm": train.AdamW(lr=0.05, weight_decay=0.0)},
        train.AdamW(lr=schedules.Cosine(0.05, 40)),
    )
    learner = train.Learner(loss, groups, metrics={"right": metrics.Accuracy(threshold=0.0)})
    run = learner.fit(Model(), BATCHES, epochs=20, valid=BATCHES)
    values = [event.values for event in run.history if event.split == "valid"]
    assert values[-1]["right"] >= 0.9
    assert values[-1]["loss"] < values[0]["loss"]


def test_buffers_and_what_is_frozen_have_no_slots() -> None:
    model = Model().freeze("inner")
    state = train.Adam().initial(model)
    slots = state.slots["mean"]
    assert slots.inner.weight is None
    assert slots.norm.running_mean is None
    assert slots.outer.weight.shape == model.outer.weight.shape
    with nn.training(bs.random.key(0)):
        gradients = bs.grad(lambda each: loss(each, BATCHES[0])[0])(model)
    after, _ = train.Adam().update(model, gradients, state)
    assert after.inner.weight is model.inner.weight
    assert after.norm.running_mean is model.norm.running_mean
    assert (after.outer.weight != model.outer.weight).any()


def test_an_average_takes_the_last_buffers() -> None:
    model, average = Model(), train.EMA(decay=0.5)
    state = average.initial(model)
    last = model.map(lambda tensor: tensor + 1)
    averaged = average.averaged(last, average.update(last, state))
    np.testing.assert_allclose(
        averaged.inner.weight.numpy(), model.inner.weight.numpy() + 0.5, rtol=1e-6
    )
    assert averaged.norm.running_mean.tolist() == last.norm.running_mean.tolist()


@pytest.mark.parametrize("accumulate", [1, 2])
def test_a_learner_averages_what_it_trains(tmp_path: Path, accumulate: int) -> None:
    optimiser = train.Averaged(train.SGD(lr=schedules.Linear(0.1, 0.0, 40)), train.EMA(decay=0.5))
    learner = train.Learner(loss, optimiser, accumulate=accumulate)
    start, models, saving = Model(), [], train.Saving(tmp_path)
    state = learner.begin(start)
    for count, batch in enumerate(BATCHES):
        state, _ = learner.step(state, batch, count)
        if (count + 1) % accumulate == 0:
            models.append(state.model.inner.weight.numpy().copy())
    expected = start.inner.weight.numpy()
    for each in models:
        expected = 0.5 * expected + 0.5 * each
    for _ in range(2):
        run = learner.fit(start, BATCHES, saving=saving)
        found = optimiser.averaged(run.state)
        np.testing.assert_allclose(found.inner.weight.numpy(), expected, rtol=1e-5)
        assert found.norm.running_mean.tolist() == run.model.norm.running_mean.tolist()
        assert "lr" in run.history[0].values


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_a_module_is_minimised(search: str | None) -> None:
    bs.manual_seed(1)
    model = nn.Linear(2, 1)
    targets = bs.asarray(POINTS) @ bs.asarray([[2.0], [-1.0]]) + 0.5
    optimiser = train.LBFGS(lr=0.5, history_size=5, line_search_fn=search)

    def error(model: Any) -> Any:
        return ((model(bs.asarray(POINTS)) - targets) ** 2).mean()

    run = bs.jit(lambda model, state: optimiser.minimise(error, model, state))
    model, _, value = run(model, optimiser.initial(model))
    assert float(value) < 1e-4
    np.testing.assert_allclose(model.bias.numpy(), [0.5], atol=0.02)
