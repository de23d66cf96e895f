"""Metrics in a Learner: of several numbers, of the machine, of losses and rates; and clipping."""

from math import exp, isnan
from pathlib import Path
from typing import Any

import pytest

import brimstone as bs
from brimstone import train
from brimstone.train import metrics, schedules
from brimstone.train.measures import numbers_of
from kit.training import Momentum, Told, data, loss, model, stopping_at, weights

BATCHES = data()


def values(optimiser: Any = None, **measures: Any) -> dict[str, float]:
    learner = train.Learner(
        loss, optimiser or Momentum(), metrics=measures, targets=lambda batch: batch[1] > 0
    )
    return dict(learner.fit(model(), BATCHES).history[0].values)


def test_a_metric_of_several_numbers_is_told_number_by_number() -> None:
    found = values(p=metrics.Precision(average="none", threshold=0.0), c=metrics.Confusion())
    assert set(found) == {"loss", "p[0]", "p[1]", "c[0,0]", "c[0,1]", "c[1,0]", "c[1,1]"}
    assert numbers_of("x", (1, bs.asarray(2.0))) == {"x[0]": 1.0, "x[1]": 2.0}
    assert isnan(numbers_of("x", None)["x"])


def test_metrics_of_what_is_no_output() -> None:
    found = values(
        memory=metrics.ProcessMemory(),
        speed=metrics.IterationSpeed(),
        mean=metrics.Loss(),
        perplexity=metrics.Perplexity(),
        rate=metrics.LearningRate(),
    )
    assert found["speed"] > 0
    assert found["mean"] == pytest.approx(found["loss"])
    assert found["perplexity"] == pytest.approx(exp(found["loss"]))
    assert "memory" in found
    assert isnan(found["rate"])


def test_rates_are_those_of_the_updates() -> None:
    told, falling = Told(), schedules.Linear(0.04, 0.0, 4)
    learner = train.Learner(
        loss, train.SGD(lr=falling), accumulate=4, metrics={"rate": metrics.LearningRate()}
    )
    run = learner.fit(model(), BATCHES, listeners=[told])
    rates = [event.values["lr"] for event in told if isinstance(event, train.Progress)]
    assert rates == pytest.approx([0.04] * 4 + [0.03] * 4)
    assert run.history[0].values["rate"] == pytest.approx(0.03)
    groups = train.Groups({"bias": train.SGD(lr=0.1)}, train.SGD(lr=falling))
    found = values(groups, rate=metrics.LearningRate())
    assert set(found) == {"loss", "lr[1]", "rate"}


def test_the_rate_falls_where_epochs_bring_nothing(tmp_path: Path) -> None:
    plateau = schedules.Plateau(mode="max", patience=0, factor=0.5, value="train.loss")
    learner = train.Learner(loss, train.SGD(lr=0.02), plateau=plateau)
    told, again = Told(), Told()
    never = learner.fit(model(), BATCHES, epochs=4, listeners=[told])
    rates = [event.values["lr"] for event in told if isinstance(event, train.EpochEnded)]
    assert rates == pytest.approx([0.02, 0.02, 0.01, 0.005])
    saving = train.Saving(tmp_path)
    learner.fit(model(), BATCHES, epochs=4, listeners=[stopping_at(18)], saving=saving)
    run = learner.fit(model(), BATCHES, epochs=4, listeners=[again], saving=saving)
    assert weights(run) == weights(never)
    assert [each.values for each in run.history] == [each.values for each in never.history]
    plain = train.Learner(loss, train.SGD(lr=0.02)).fit(model(), BATCHES)
    assert weights(plain) == weights(learner.fit(model(), BATCHES))


def test_outputs_that_are_not_there_are_asked_for() -> None:
    learner = train.Learner(
        lambda *given: loss(*given)[0], Momentum(), metrics={"right": metrics.R2()}
    )
    with pytest.raises(ValueError, match=r"need outputs(?s:.*)return loss, outputs"):
        learner.fit(model(), BATCHES)


@pytest.mark.parametrize("name", ["loss", "lr", "lr[0]"])
def test_names_of_what_every_run_tells_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="the name of what every run tells"):
        train.Learner(loss, Momentum(), metrics={name: metrics.R2()})


CLIPS: dict[str, tuple[Any, Any]] = {
    "value": (train.ClipValue(0.1), lambda tree: train.clip_by_value(tree, 0.1)),
    "norm": (train.ClipNorm(0.1), lambda tree: train.clip_by_norm(tree, 0.1)),
    "global norm": (
        train.ClipGlobalNorm(0.1),
        lambda tree: train.clip_by_global_norm(tree, 0.1)[0],
    ),
}


@pytest.mark.parametrize("name", CLIPS)
def test_gradients_are_clipped_by_settings(name: str) -> None:
    made, function = CLIPS[name]
    runs = [train.Learner(loss, Momentum(), clip=each) for each in (made, function)]
    one, other = [weights(each.fit(model(), BATCHES[:1])) for each in runs]
    assert one == other
    with pytest.raises(ValueError, match=f"{type(made).__name__}: .* is a number above 0"):
        type(made)(0.0)


def test_functions_measure_one_number() -> None:
    assert values(two=lambda outputs, batch: 2.0, four=lambda outputs, batch: 4)["two"] == 2.0
    with pytest.raises(ValueError, match=r"the metric 'all' is one number a batch(?s:.*)\[4\]"):
        values(all=lambda outputs, batch: outputs)
    with pytest.raises(ValueError, match="one number a batch"):
        values(nothing=lambda outputs, batch: None)


def test_what_nobody_measures_is_missed() -> None:
    with pytest.raises(ValueError, match=r"nothing gave valid\.loss"):
        fit_for(train.EarlyStopping())
    with pytest.raises(ValueError, match=r"nothing gives valid\.loss"):
        fit_for(plateau=schedules.Plateau())


def fit_for(*listeners: Any, **options: Any) -> None:
    train.Learner(loss, Momentum(), **options).fit(
        model(), BATCHES[:1], epochs=2, listeners=listeners
    )


def pair(tree: Any) -> Any:
    return train.clip_by_global_norm(tree, 1.0)


def three(each: Any, batch: Any) -> Any:
    return (*loss(each, batch), 3)


def step_uncounted() -> None:
    made = train.Learner(loss, Momentum(), accumulate=2)
    made.step(made.begin(model()), BATCHES[0])


def begin_with(leaf: Any) -> Any:
    return train.Learner(loss, Momentum()).begin({"weight": leaf})


MISTAKES: dict[str, tuple[Any, str]] = {
    "a clipped pair": (
        lambda: train.Learner(loss, Momentum(), clip=pair).fit(model(), BATCHES),
        "got back tuple(?s:.*)ClipGlobalNorm",
    ),
    "three results": (
        lambda: train.Learner(three, Momentum()).fit(model(), BATCHES),
        "one number, or that and the model's outputs",
    ),
    "no count": (step_uncounted, "how many batches there were"),
    "an array": (lambda: begin_with(bs.ones((2,)).numpy()), "weight is no tensor"),
    "a number": (lambda: begin_with(3.0), "weight is no tensor"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name: str) -> None:
    run, message = MISTAKES[name]
    with pytest.raises(ValueError, match=message):
        run()


def test_a_parameter_that_is_not_finite_is_named() -> None:
    def flat(each: Any, batch: Any) -> Any:
        return (batch[0] @ each["weight"]).sum()

    start = {"weight": bs.ones((3,))}
    with pytest.raises(train.LossNotFinite, match=r"step 2(?s:.*)weight(?s:.*)an update before"):
        train.Learner(flat, Momentum(lr=float("nan"))).fit(start, BATCHES)
