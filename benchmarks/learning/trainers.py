"""Steps of training of a case, in Brimstone and in PyTorch.

Comes in: a case, and for PyTorch how it is run, in which dtype and from which weights. Goes out: a
`Trainer`, which carries a model on from batch to batch.
Never: a difference between libraries but theirs: weights, batches and settings are the same.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

import brimstone as bs
from benchmarks.learning.case import Batch, Case
from brimstone import nn, train


class Trainer(NamedTuple):
    """`put` makes a batch the library's; `step` learns from one, and returns its loss as a number,
    as loops that tell it do."""

    put: Callable[[Batch], Any]
    step: Callable[[Any], float]


def loss(model: Any, batch: Any) -> Any:
    """The cross-entropy of all scores that a model gives."""
    given, wanted = batch
    scores = model(given)
    return nn.cross_entropy(scores.reshape(-1, scores.shape[-1]), wanted.reshape(-1))


def learner(case: Case) -> train.Learner:
    """What makes steps of ours: one compiled function, which is given all memory of the last."""
    return train.Learner(loss, train.AdamW(lr=case.rate))


def ours(case: Case, device: str = "cpu") -> Trainer:
    """Brimstone, on a device."""
    with bs.device(device):
        makes = learner(case)
        state = makes.begin(case.ours().load_state_dict(case.weights))

    def put(batch: Batch) -> Any:
        return tuple([bs.asarray(each, device=device).sync() for each in batch])

    def step(batch: Any) -> float:
        nonlocal state
        state, report = makes.step(state, batch)
        return report.loss.item()

    return Trainer(put, step)


def peers(
    case: Case,
    compiled: bool = False,
    dtype: str = "float32",
    weights: Mapping[str, np.ndarray] | None = None,
) -> Trainer:
    """PyTorch: op by op, or with the model and its loss compiled; its optimiser updates all
    parameters at once."""
    torch = import_module("torch")
    model, wide = case.peer(), getattr(torch, dtype)
    given = case.weights if weights is None else weights
    model.load_state_dict({name: torch.tensor(weight) for name, weight in given.items()})
    model.to(wide)
    optimizer = torch.optim.AdamW(model.parameters(), lr=case.rate, fused=True)

    def cross_entropy(images: Any, wanted: Any) -> Any:
        scores = model(images)
        return torch.nn.functional.cross_entropy(scores.flatten(0, -2), wanted.flatten())

    criterion = torch.compile(cross_entropy) if compiled else cross_entropy

    def put(batch: Batch) -> Any:
        images, wanted = map(torch.from_numpy, batch)
        return images.to(wide) if images.is_floating_point() else images, wanted

    def step(batch: Any) -> float:
        optimizer.zero_grad()
        value = criterion(*batch)
        value.backward()
        optimizer.step()
        return value.item()

    return Trainer(put, step)
