"""Schedules give the rates of PyTorch's, step by step."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.train import schedules

torch: Any = pytest.importorskip("torch", reason="PyTorch, a peer, is not installed")
STEPS = 40


def cycle(**settings: Any) -> tuple[Any, Callable[..., Any]]:
    """One cycle of ours and of theirs."""
    theirs = {"max_lr": 0.5, "total_steps": STEPS, **settings}
    return schedules.OneCycle(0.5, STEPS, **settings), lambda lib, o: lib.OneCycleLR(o, **theirs)


CASES: dict[str, tuple[Any, Callable[..., Any]]] = {
    "linear": (
        schedules.Linear(0.1, 0.4, 8), lambda lib, o: lib.LinearLR(o, 0.2, 0.8, total_iters=8)),
    "cosine": (
        schedules.Cosine(0.5, STEPS, 0.01), lambda lib, o: lib.CosineAnnealingLR(o, STEPS, 0.01)),
    "polynomial": (
        schedules.Polynomial(0.5, 30, 2.0), lambda lib, o: lib.PolynomialLR(o, 30, 2.0)),
    "exponential": (schedules.Exponential(0.5, 0.9), lambda lib, o: lib.ExponentialLR(o, 0.9)),
    "step": (schedules.Step(0.5, 7, 0.5), lambda lib, o: lib.StepLR(o, 7, 0.5)),
    "milestones": (
        schedules.Milestones(0.5, (4, 9)), lambda lib, o: lib.MultiStepLR(o, [4, 9])),
    "restarts": (
        schedules.WarmRestarts(0.5, 3, 2, 0.1),
        lambda lib, o: lib.CosineAnnealingWarmRestarts(o, 3, 2, 0.1)),
    "one cycle": cycle(),
    "one cycle, linear": cycle(anneal_strategy="linear", pct_start=0.4, div_factor=10.0),
    "one cycle, three phases": cycle(three_phase=True),
    "one cycle, short rise": cycle(pct_start=0.01),
    "sequential": (
        schedules.Sequential(
            (schedules.Linear(0.05, 0.5, 10), schedules.Exponential(0.5, 0.9)), (10,)),
        lambda lib, o: lib.SequentialLR(
            o, [lib.LinearLR(o, 0.1, total_iters=10), lib.ExponentialLR(o, 0.9)], [10])),
}  # fmt: skip


def optimiser() -> Any:
    return torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.5)


@pytest.mark.filterwarnings("ignore:The epoch parameter")  # their own SequentialLR gives it
@pytest.mark.parametrize("name", CASES)
def test_rates_are_those_of_torch(name: str) -> None:
    ours, make = CASES[name]
    theirs = optimiser()
    scheduler = make(torch.optim.lr_scheduler, theirs)
    expected = []
    for _ in range(STEPS):
        expected.append(theirs.param_groups[0]["lr"])
        theirs.step()
        if len(expected) < STEPS:
            scheduler.step()
    found = bs.vmap(ours)(bs.arange(STEPS).astype(bs.float64))
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize(
    "settings",
    [
        {"patience": 2},
        {"patience": 1, "mode": "max", "factor": 0.5},
        {"patience": 0, "threshold": 0.1, "threshold_mode": "abs"},
        {"patience": 1, "threshold": 0.05, "cooldown": 2},
    ],
    ids=str,
)
def test_plateaus_are_those_of_torch(settings: dict[str, Any]) -> None:
    plateau, theirs = schedules.Plateau(**settings), optimiser()
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(theirs, eps=0, **settings)
    state = plateau.initial()
    metrics = np.round(1 + np.cos(np.arange(30.0)) / np.arange(1, 31), 2)
    for metric in metrics:
        scheduler.step(metric)
        state = plateau.update(metric, state)
        assert 0.5 * state.scale == pytest.approx(theirs.param_groups[0]["lr"], rel=1e-12)
