"""What a Learner and its runs are given, looked at before anything runs.

Comes in: a Learner, or what `fit` was called with. Goes out: nothing, or an error that names what
does not fit, and says what does.
Never: a tensor's value, or a batch taken from its source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..frontend.errors import ArgumentError, expect_functions, fail
from .checks import expect_among, expect_positive, expect_whole
from .devices import known_devices
from .measures import Metric, is_rate
from .precision import PRECISIONS
from .saving import Saving
from .schedules import Plateau
from .state import Optimiser

if TYPE_CHECKING:
    from .learner import Learner
    from .run import Plan

POLICIES = ("raise", "skip", "ignore")
LEARNER = "Learner"


def check_learner(learner: Learner) -> None:
    """Refuse settings that no run could do anything with."""
    _check_kind(LEARNER, learner.optimiser, Optimiser, "optimiser", "`train.AdamW(1e-3)`")
    expect_functions(LEARNER, learner.loss, learner.targets)
    if learner.clip is not None:
        expect_functions(LEARNER, learner.clip)
    _check_metrics(learner.metrics)
    if learner.plateau is not None:
        _check_kind(LEARNER, learner.plateau, Plateau, "plateau", "`train.Plateau()`")
    expect_whole(LEARNER, 1, accumulate=learner.accumulate)
    expect_among(LEARNER, POLICIES, nan=learner.nan)
    expect_among(LEARNER, tuple(PRECISIONS), precision=learner.precision)
    if isinstance(learner.devices, str) or not isinstance(learner.devices, Iterable):
        problem = "devices are given as a sequence of them"
        fail(ArgumentError, LEARNER, problem, hint=f"`devices=[{str(learner.devices)!r}]`")
    devices = known_devices(learner.devices)
    if learner.memory is None:
        return
    expect_positive(LEARNER, memory=learner.memory)
    if len(devices) > 1:
        problem = "a budget of memory is for one device"
        fail(ArgumentError, LEARNER, problem, hint="leave out `memory`, or the other devices")


def check_fit(learner: Learner, model: Any, plan: Plan, saving: Any) -> None:
    """Refuse what no run can be made of."""
    check_model("fit", model)
    expect_whole("fit", 0, epochs=plan.epochs)
    sources = (
        {"data": plan.data} if plan.valid is None else {"data": plan.data, "valid": plan.valid}
    )
    for name, source in sources.items():
        gives = isinstance(source, Iterable | Callable) or hasattr(source, "__getitem__")
        if isinstance(source, str) or not gives:
            problem = f"{name} gives batches, and is a list, a loader, or a function of the epoch"
            fail(ArgumentError, "fit", problem, source)
    if not isinstance(plan.listeners, Iterable):
        fail(ArgumentError, "fit", "listeners are given as a sequence of them", plan.listeners)
    for listener in plan.listeners:
        _check_no_class("fit", listener, "listeners", "listener")
        if not callable(listener):
            fail(ArgumentError, "fit", "a listener is called with events", listener)
    if saving is not None:
        _check_kind("fit", saving, Saving, "saving", "`train.Saving(folder)`")
    plateau = learner.plateau
    if plan.valid is None and plateau and not plateau.value.startswith("train."):
        problem = f"nothing gives {plateau.value}, by which the rate is to fall"
        fail(ArgumentError, "fit", problem, hint="`fit(..., valid=batches)`")


def check_model(operation: str, model: Any) -> None:
    """Refuse a class, or nothing, in the place of a model."""
    if isinstance(model, type):
        problem, hint = f"{model.__name__} is a class of models, and no model", "make one of it"
        fail(ArgumentError, operation, problem, hint=f"{hint}: `{model.__name__}(...)`")
    if model is None:
        fail(ArgumentError, operation, "there is no model", model)


def _check_metrics(metrics: Any) -> None:
    if not isinstance(metrics, Mapping):
        hint = '`metrics={"accuracy": train.metrics.Accuracy()}`'
        fail(
            ArgumentError, LEARNER, "metrics are a dict of them by their names", metrics, hint=hint
        )
    for name, metric in metrics.items():
        if name == "loss" or is_rate(name):
            problem = f"{name!r} is the name of what every run tells"
            fail(ArgumentError, LEARNER, problem, hint="give the metric another one")
        _check_no_class(LEARNER, metric, "metrics", "metric")
        if not isinstance(metric, Metric):
            expect_functions(LEARNER, metric)


def _check_kind(operation: str, given: Any, kind: type, name: str, example: str) -> None:
    """Refuse what is of another kind; a class of it is one that nobody has called."""
    _check_no_class(operation, given, f"{name}s", name)
    if not isinstance(given, kind):
        fail(ArgumentError, operation, f"{name} is one such as {example}", given)


def _check_no_class(operation: str, given: Any, many: str, one: str) -> None:
    if isinstance(given, type):
        problem = f"{given.__name__} is a class of {many}, and no {one}"
        fail(ArgumentError, operation, problem, hint=f"make one: `{given.__name__}(...)`")
