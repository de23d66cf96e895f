"""A training step is one native call, whatever the model: Python has no part in it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import nn, train
from brimstone.targets.llvm.program import Program
from kit.work import calls_of

RANDOM = np.random.default_rng(0)
LETTERS, CLASSES = 11, 4
Problem = tuple[Any, Any]
"""A model, and a batch that it learns from."""


class Letters(nn.Module):
    """A small GPT: letters in, scores of the next letter out."""

    def __init__(self, layers: int) -> None:
        self.letters, self.places = nn.Embedding(LETTERS, 8), nn.Embedding(6, 8)
        layer = nn.TransformerEncoderLayer(8, 2, 16, activation="gelu", norm_first=True)
        self.blocks = nn.TransformerEncoder(layer, layers, norm=nn.LayerNorm(8))
        self.head = nn.Linear(8, LETTERS, bias=False)

    def forward(self, text: Any) -> Any:
        hidden = self.letters(text) + self.places.weight[: text.shape[1]]
        return self.head(self.blocks(hidden, is_causal=True))


def gpt(layers: int = 1) -> Problem:
    text, wanted = RANDOM.integers(0, LETTERS, (2, 3, 6))
    return Letters(layers), (text, wanted)


def cnn() -> Problem:
    model = nn.Sequential(
        nn.Conv2d(1, 2, 3, padding=1), nn.BatchNorm2d(2), bs.relu, nn.MaxPool2d(2), nn.Flatten(),
        nn.Dropout(0.25), nn.Linear(18, CLASSES),
    )  # fmt: skip
    images = RANDOM.standard_normal((3, 1, 6, 6), np.float32)
    return model, (images, RANDOM.integers(0, CLASSES, 3))


def mlp(layers: int = 2) -> Problem:
    hidden = [each for _ in range(layers - 1) for each in (nn.Linear(5, 5), bs.relu)]
    model = nn.Sequential(*hidden, nn.Linear(5, CLASSES))
    return model, (RANDOM.standard_normal((3, 5), np.float32), RANDOM.integers(0, CLASSES, 3))


def recurrent() -> Problem:
    class Last(nn.Module):
        def __init__(self) -> None:
            self.cells, self.head = nn.LSTM(3, 4, batch_first=True), nn.Linear(4, CLASSES)

        def forward(self, x: Any) -> Any:
            return self.head(self.cells(x)[0][:, -1])

    return Last(), (RANDOM.standard_normal((3, 5, 3), np.float32), RANDOM.integers(0, CLASSES, 3))


def loss(model: Any, batch: Any) -> Any:
    scores = model(batch[0])
    return nn.cross_entropy(scores.reshape(-1, scores.shape[-1]), batch[1].reshape(-1)), scores


def stepping(problem: Problem, **options: Any) -> Callable[[], Any]:
    """What makes one step; two have been made, so that nothing is compiled any more."""
    model, batch = problem
    batch = tuple([bs.asarray(each).sync() for each in batch])
    learner = train.Learner(loss, train.AdamW(lr=1e-3), **options)
    state = learner.begin(model)

    def step() -> Any:
        nonlocal state
        state, report = learner.step(state, batch)
        return report

    for _ in range(2):
        step()
    return step


@pytest.fixture(autouse=True)
def alone_on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> Any:
    def play(*_: object) -> None:
        raise AssertionError("Python has a part in it")

    monkeypatch.setattr(Program, "play", play)
    bs.manual_seed(0)
    with bs.device("cpu"):
        yield


def correct(scores: Any, batch: Any) -> Any:
    return (scores.argmax(axis=-1) == batch[1]).astype(bs.float32).mean()


OPTIONS = {"metrics": {"correct": correct}, "clip": train.ClipGlobalNorm(1.0)}


@pytest.mark.parametrize("problem", [gpt, cnn, mlp, recurrent])
def test_a_step_is_one_call(problem: Callable[[], Problem]) -> None:
    step = stepping(problem(), **OPTIONS)
    with bs.profile() as profile:
        report = step()
    calls = [event for event in profile.events if event.kind == "call"]
    assert len(calls) == 1
    assert {event.kind for event in profile.events} == {"call", "kernel"}
    assert bool(report.finite)


@pytest.mark.parametrize(("problem", "layers"), [(gpt, (1, 3)), (mlp, (2, 12))])
def test_python_does_not_look_at_parameters(
    problem: Callable[[int], Problem], layers: tuple[int, int]
) -> None:
    """There are more kernels, and more parameters, but no call of a function for each of these."""
    small, large = [problem(count) for count in layers]
    leaves = [len(bs.tree_leaves(model)) for model, _ in (small, large)]
    calls = [calls_of(stepping(each)) for each in (small, large)]
    assert calls[1] - calls[0] < leaves[1] - leaves[0]
