"""The Learner: steps, metrics, events, accumulation, precision, what is not finite."""

from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone import nn, train
from kit.training import Momentum, Told, data, distance, loss, model, weights

BATCHES = data()


def learner(**options: Any) -> train.Learner:
    return train.Learner(loss, Momentum(), **options)


def test_it_learns_and_tells() -> None:
    told = Told()
    run = learner(metrics={"distance": distance}).fit(
        model(), BATCHES, epochs=5, valid=BATCHES[:2], listeners=[told]
    )
    started, ended = told[0], told[-1]
    assert isinstance(started, train.Started)
    assert (started.steps, started.epochs, started.parameters) == (40, 5, 21)
    assert isinstance(ended, train.Ended)
    assert (ended.step, ended.reason, run.reason) == (40, *["all epochs are done"] * 2)
    assert [step for step, _ in told.steps()] == list(range(1, 41))
    valid = [event.values for event in run.history if event.split == "valid"]
    assert len(valid) == 5
    assert valid[-1]["loss"] < 0.2 * valid[0]["loss"]
    assert set(valid[0]) == {"loss", "distance"}


def test_an_epochs_values_are_averages_over_items() -> None:
    batches = [BATCHES[0], tuple(each[:1] for each in BATCHES[1])]
    found = learner(metrics={"distance": distance}).evaluate(model(), batches)
    points = np.concatenate([x.numpy() for x, _ in batches])
    expected = np.abs(
        model()(bs.asarray(points)).numpy()[:, 0] - np.concatenate([y.numpy() for _, y in batches])
    )
    assert found["distance"] == pytest.approx(expected.mean(), rel=1e-5)
    assert found["loss"] == pytest.approx((expected**2).mean(), rel=1e-5)


class Largest:
    """The largest error of all batches."""

    def reset(self) -> None:
        self.errors = [0.0]

    def update(self, outputs: Any, targets: Any) -> None:
        self.errors.append(float(bs.abs(outputs - targets).max()))

    def value(self) -> float:
        return max(self.errors)


def test_metrics_that_gather_outputs() -> None:
    run = learner(metrics={"largest": Largest()}).fit(model(), BATCHES, valid=BATCHES)
    assert [event.split for event in run.history] == ["train", "valid"]
    trained, (points, values) = run.model, (bs.concat([b[at] for b in BATCHES]) for at in (0, 1))
    expected = bs.abs(trained(points)[:, 0] - values).max().item()
    assert run.history[1].values["largest"] == pytest.approx(expected, rel=1e-5)
    unpaired = [{"x": x, "y": y} for x, y in BATCHES]
    with pytest.raises(ValueError, match="targets=lambda"):
        train.Learner(
            lambda m, b: loss(m, (b["x"], b["y"])), Momentum(), metrics={"largest": Largest()}
        ).evaluate(model(), unpaired)


def test_steps_of_a_loop_of_ones_own() -> None:
    made = learner()
    state = made.begin(model())
    for count, batch in enumerate(BATCHES):
        state, report = made.step(state, batch, count)
    assert int(state.step) == 8
    assert report.finite.item()
    assert weights(state) == weights(made.fit(model(), BATCHES))


def test_a_step_is_explained_and_not_run() -> None:
    trainer = learner()
    state, _ = trainer.step(trainer.begin(model()), BATCHES[0])
    told = trainer.explain(state, BATCHES[0])
    assert (told.new_steps, told.ops["tensor.contract"]) == (0, 5)
    assert int(state.step) == 1


def test_the_same_seed_gives_the_same_bits() -> None:
    one, two, other = [learner(seed=seed).fit(model(), BATCHES) for seed in (3, 3, 4)]
    assert weights(one) == weights(two) != weights(other)


def test_gradients_of_several_batches_are_averaged() -> None:
    class Plain(nn.Module):
        weight: Any

        def forward(self, x: Any) -> Any:
            return x @ self.weight[:, None]

    start = Plain(bs.asarray([0.5, -0.5, 1.0]))
    whole = [tuple(bs.concat([one, two]) for one, two in zip(*BATCHES[:2], strict=True))]
    together = learner().fit(start, whole).model.weight
    apart = learner(accumulate=2).fit(start, BATCHES[:2])
    np.testing.assert_allclose(apart.model.weight.numpy(), together.numpy(), rtol=1e-5)
    half = learner(accumulate=2).fit(start, BATCHES[:1]).model.weight
    assert half.tolist() == start.weight.tolist()


def test_gradients_are_clipped_before_the_update() -> None:
    run = learner(clip=lambda tree: bs.tree_map(lambda each: each * 0, tree)).fit(model(), BATCHES)
    assert weights(run) == [leaf.numpy().tobytes() for leaf in bs.tree_leaves(model())]


@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
def test_half_precision_keeps_wide_parameters(precision: Any) -> None:
    seen: list[Any] = []

    def watched(each: Any, batch: Any) -> Any:
        seen.append((each[0].weight.dtype, batch[0].dtype))
        return loss(each, batch)

    run = train.Learner(watched, Momentum(), precision=precision).fit(model(), BATCHES, epochs=4)
    assert {str(dtype) for pair in seen for dtype in pair} == {precision}
    assert {str(leaf.dtype) for leaf in bs.tree_leaves(run.model)} == {"float32"}
    values = [event.values["loss"] for event in run.history]
    assert values[-1] < 0.5 * values[0]
    assert (run.state.scale is not None) == (precision == "float16")


def test_a_scale_that_is_too_large_becomes_smaller_and_nothing_is_lost() -> None:
    made = learner(precision="float16")
    state = made.begin(model())
    before = weights(state)
    state, report = made.step(state, BATCHES[0])
    # 65536 times these gradients is too large for half precision.
    assert state.scale is not None
    assert report.finite.item()
    assert state.scale.value.item() == 2.0**15
    assert weights(state) == before


class Root(nn.Module):
    """Fails for points below zero."""

    weight: Any

    def forward(self, x: Any) -> Any:
        return bs.sqrt(x) * self.weight


def root_loss(each: Any, batch: Any) -> Any:
    return each(batch).sum()


GOOD, BAD = bs.asarray([1.0, 4.0]), bs.asarray([1.0, -4.0])


def test_what_is_not_finite_is_named() -> None:
    made = train.Learner(root_loss, Momentum())
    with pytest.raises(train.LossNotFinite) as caught:
        made.fit(Root(bs.asarray([1.0, 2.0])), [GOOD, GOOD, BAD, GOOD, GOOD])
    message = str(caught.value)
    assert "the loss of step 3 is nan" in message
    assert "`square_root` at " in message
    assert "test_learner.py:" in message
    assert isinstance(caught.value, ArithmeticError)


def test_a_step_that_is_not_finite_is_skipped() -> None:
    start = Root(bs.asarray([1.0, 2.0]))
    made = train.Learner(root_loss, Momentum(), nan="skip")
    run = made.fit(start, [GOOD, BAD, GOOD])
    assert weights(run) == weights(train.Learner(root_loss, Momentum()).fit(start, [GOOD, GOOD]))
    assert np.isfinite(run.history[0].values["loss"])
    none = made.fit(start, [BAD, BAD])
    assert np.isnan(none.history[0].values["loss"])
    ignored = train.Learner(root_loss, Momentum(), nan="ignore").fit(start, [GOOD, BAD, GOOD])
    assert np.isnan(ignored.model.weight.numpy()).any()


def test_gradients_that_are_not_finite_are_told_at_once() -> None:
    start = Root(bs.asarray([1.0, 2.0]))

    def rooted(each: Any, batch: Any) -> Any:
        return bs.sqrt(each.weight * batch).sum()

    batches = [GOOD, bs.asarray([1.0, 0.0]), GOOD, GOOD]
    with pytest.raises(train.LossNotFinite) as caught:
        train.Learner(rooted, Momentum(), clip=train.ClipValue(1e9)).fit(start, batches)
    message = str(caught.value)
    assert "the gradients of step 2 are not finite, and its loss is" in message
    assert "test_learner.py:" in message
    for precision in ("float32", "float16"):
        made = train.Learner(rooted, Momentum(), nan="skip", precision=precision)  # pyright: ignore[reportArgumentType]
        assert np.isfinite(made.fit(start, batches).model.weight.numpy()).all()


@pytest.mark.parametrize("bad", [0, 1, 2])
def test_a_batch_that_is_skipped_takes_no_other_with_it(bad: int) -> None:
    start, good = Root(bs.asarray([1.0, 2.0])), [GOOD, GOOD * 4.0]
    group = [*good[:bad], BAD, *good[bad:]]
    made = train.Learner(root_loss, Momentum(), nan="skip", accumulate=3)
    alone = train.Learner(root_loss, Momentum(), accumulate=2)
    assert weights(made.fit(start, group * 2)) == weights(alone.fit(start, good * 2))
    assert weights(made.fit(start, [BAD] * 3 + group)) == weights(alone.fit(start, good))


def test_batches_of_each_epoch() -> None:
    seen: list[int] = []

    def source(epoch: int) -> Any:
        seen.append(epoch)
        return iter(BATCHES[epoch : epoch + 2])

    told = Told()
    learner().fit(model(), source, epochs=3, listeners=[told])
    assert seen == [0, 1, 2]
    assert len(told.steps()) == 6
    assert told[0].steps is None


def test_a_listener_stops_a_run() -> None:
    told = Told()

    def stop(event: Any) -> train.Stop | None:
        return train.Stop("enough") if getattr(event, "step", 0) == 3 else None

    run = learner().fit(model(), BATCHES, listeners=[told, stop])
    assert run.reason == "enough"
    assert told[-1].reason == "enough"
    assert run.history == []
    assert int(run.state.step) == 4  # one step was under way


@pytest.mark.parametrize("mode", ["min", "max"])
def test_early_stopping(mode: Any) -> None:
    stopping = train.EarlyStopping("valid.loss", patience=2, mode=mode)
    sign = 1 if mode == "min" else -1
    answers = [stopping(train.Started("run", 9, None))]
    for value in (3.0, 2.0, 2.5, float("nan"), 2.0):
        event = train.EpochEnded("valid", 0, 0, {"loss": sign * value}, 0.0)
        answers += [stopping(event), stopping(train.Note("nothing"))]
    stops = [at for at, answer in enumerate(answers) if answer is not None]
    assert stops[0] == 7
    event = train.EpochEnded("valid", 0, 0, {"loss": 1.0 * sign}, 0.0)
    assert stopping(train.Started("run", 9, None, history=[event] * 3)) is not None
    with pytest.raises(ValueError, match=r"there is no valid\.loss"):
        stopping(train.EpochEnded("valid", 0, 0, {"accuracy": 1.0}, 0.0))


@pytest.mark.parametrize("options", [{}, {"precision": "float16", "accumulate": 2}])
def test_a_model_is_trained_where_it_is(options: Any) -> None:
    layers = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.Linear(4, 1)).to("reference")
    batches = [tuple(each.to("reference") for each in batch) for batch in BATCHES[:2]]
    told = Told()
    run = train.Learner(loss, train.SGD(), **options).fit(layers, batches, listeners=[told])
    assert told[0].device == "reference"
    assert {str(leaf.device) for leaf in bs.tree_leaves(run.state)} == {"reference"}


A_CLASS: Any = train.SGD


class Numbered:
    """Batches by their numbers, as Python has iterated since its beginning."""

    def __len__(self) -> int:
        return len(BATCHES)

    def __getitem__(self, place: int) -> Any:
        return BATCHES[place]


def test_sources_and_listeners_of_all_kinds() -> None:
    events: list[Any] = []
    run = learner().fit(model(), wrong(Numbered()), listeners=wrong(iter([events.append])))
    assert run.history
    assert events


def wrong(value: Any) -> Any:
    """A value of another type than is asked for."""
    return value


MISTAKES: dict[str, tuple[Any, str]] = {
    "accumulate": (lambda: learner(accumulate=0), "a whole number of at least 1"),
    "nan": (lambda: learner(nan="no"), "nan is one of 'raise', 'skip', 'ignore'"),
    "precision": (lambda: learner(precision="f8"), "precision is one of"),
    "epochs": (lambda: learner().fit(model(), BATCHES, epochs=-1), "of at least 0"),
    "half an epoch": (lambda: learner().fit(model(), BATCHES, epochs=wrong(1.5)), "a whole number"),
    "an optimiser": (
        lambda: train.Learner(loss, wrong("sgd")),
        "optimiser is one such as `train.AdamW",
    ),
    "a plateau": (lambda: learner(plateau=wrong("x")), "plateau is one such as"),
    "metrics": (lambda: learner(metrics=["accuracy"]), "metrics are a dict"),
    "a class of metrics": (
        lambda: learner(metrics={"a": train.metrics.Accuracy}),
        "make one: `Accuracy",
    ),
    "memory": (lambda: learner(memory="2GB"), "memory is a number above 0"),
    "devices": (lambda: learner(devices="cpu"), "sequence"),
    "a folder": (lambda: learner().fit(model(), BATCHES, saving=wrong("a")), "`train.Saving"),
    "no data": (lambda: learner().fit(model(), wrong(None)), "data gives batches"),
    "valid": (lambda: learner().fit(model(), BATCHES, valid=wrong(3)), "valid gives batches"),
    "listeners": (
        lambda: learner().fit(model(), BATCHES, listeners=wrong(3)),
        "a sequence of them",
    ),
    "a listener": (
        lambda: learner().fit(model(), BATCHES, listeners=[wrong(3)]),
        "called with events",
    ),
    "a class of listeners": (
        lambda: learner().fit(model(), BATCHES, listeners=[wrong(train.EarlyStopping)]),
        "make one: `EarlyStopping",
    ),
    "a class of models": (lambda: learner().fit(bs.nn.Linear, BATCHES), "make one of it: `Linear"),
    "no model": (lambda: learner().fit(None, BATCHES), "there is no model"),
    "no state": (lambda: learner().step(wrong(model()), BATCHES[0]), "`state = learner.begin"),
    "no state to explain": (
        lambda: learner().explain(wrong(model()), BATCHES[0]),
        "state of a run",
    ),
    "metric": (lambda: learner(metrics={"a": 3}), "expected a function"),
    "a class": (lambda: train.Learner(lambda m, b: m(b[0]), A_CLASS), "make one: `SGD"),
    "loss": (
        lambda: train.Learner(lambda m, b: m(b[0]), Momentum()).fit(model(), BATCHES),
        "one number, or that and the model's outputs",
    ),
    "patience": (lambda: train.EarlyStopping(patience=0), "one epoch at least"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name: str) -> None:
    run, message = MISTAKES[name]
    with pytest.raises(ValueError, match=message):
        run()
