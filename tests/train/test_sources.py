"""Where batches come from: loaders and streams over several epochs, and what has no batches."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from brimstone import data, train
from brimstone.train.source import length_of
from kit.training import Momentum, Told, loss, model, stopping_at, weights
from kit.training import data as batches_of_a_line

BATCHES = batches_of_a_line()
ITEMS = [
    item for points, values in BATCHES for item in zip(points.numpy(), values.numpy(), strict=True)
]
STEPS = len(BATCHES)


def learner() -> train.Learner:
    return train.Learner(loss, Momentum())


LOADERS: dict[str, Callable[[], data.Loader]] = {
    "shuffled": lambda: data.Loader(ITEMS, 4, shuffle=True, seed=3),
    "by threads": lambda: data.Loader(ITEMS, 4, shuffle=True, workers="threads", prefetch=5),
    "without a thread": lambda: data.Loader(ITEMS, 4, shuffle=True, prefetch=0),
    "a stream": lambda: data.Loader(
        data.Stream(lambda: iter(ITEMS)), 4, shuffle=True, buffer=5, prefetch=3
    ),
}


@pytest.mark.parametrize("name", LOADERS)
def test_each_epoch_has_all_batches_of_a_loader(name: str) -> None:
    told, make = Told(), LOADERS[name]
    run = learner().fit(model(), make(), epochs=3, listeners=[told])
    assert [step for step, _ in told.steps()] == list(range(1, 3 * STEPS + 1))
    by_hand = iter_epochs(make(), 3)
    expected = learner().fit(model(), lambda epoch: by_hand[epoch], epochs=3)
    assert weights(run) == weights(expected)


def iter_epochs(loader: data.Loader, epochs: int) -> list[list[Any]]:
    return [list(loader) for _ in range(epochs)]


@pytest.mark.parametrize("step", [1, STEPS - 1, STEPS, STEPS + 1, 2 * STEPS])
@pytest.mark.parametrize("name", LOADERS)
def test_a_run_goes_on_with_the_batch_after_those_trained_on(
    tmp_path: Path, name: str, step: int
) -> None:
    make = LOADERS[name]
    saving = train.Saving(tmp_path)
    never = learner().fit(model(), make(), epochs=3)
    learner().fit(model(), make(), epochs=3, listeners=[stopping_at(step)], saving=saving)
    told = Told()
    again = learner().fit(model(), make(), epochs=3, listeners=[told], saving=saving)
    assert weights(again) == weights(never)
    assert [step for step, _ in told.steps()] == list(range(told[0].step + 1, 3 * STEPS + 1))
    assert [each.values for each in again.history] == [each.values for each in never.history]


def test_a_loader_may_also_be_what_is_validated_with(tmp_path: Path) -> None:
    saving = train.Saving(tmp_path)
    make = LOADERS["shuffled"]
    expected = learner().fit(model(), make(), epochs=2)
    for epochs in (1, 2):
        loader = make()
        run = learner().fit(model(), loader, epochs=epochs, valid=loader, saving=saving)
    assert weights(run) == weights(expected)


def test_a_loader_gives_the_same_batches_to_each_validation(tmp_path: Path) -> None:
    def fit(**options: Any) -> train.Run:
        loaders = [data.Loader(ITEMS, 4, shuffle=True, seed=seed) for seed in (1, 2)]
        return learner().fit(model(), loaders[0], epochs=3, valid=loaders[1], **options)

    saving = train.Saving(tmp_path)
    never = fit()
    fit(listeners=[stopping_at(STEPS + 2)], saving=saving)
    again = fit(saving=saving)
    assert [each.values for each in again.history] == [each.values for each in never.history]


def test_an_epoch_that_was_stopped_at_its_very_end_is_over() -> None:
    loader = LOADERS["a stream"]()
    run = learner().fit(model(), loader, epochs=3, listeners=[stopping_at(STEPS)])
    assert run.reason == "for a test"
    assert [event.step for event in run.history] == [STEPS]


def test_how_long_an_epoch_is() -> None:
    assert length_of(LOADERS["shuffled"]()) == length_of(BATCHES) == STEPS
    assert length_of(LOADERS["a stream"]()) is None
    assert length_of(lambda epoch: BATCHES) is None


NOTHING: dict[str, tuple[Any, Any, str]] = {
    "no batches": ([], None, "epoch 1 has no batches"),
    "no valid batches": (BATCHES[:1], [], "epoch 1 has no batches"),
    "a generator": ((each for each in BATCHES[:1]), None, "epoch 2 has no batches"),
    "a valid generator": (BATCHES[:1], iter(BATCHES[:1]), "epoch 2 has no batches"),
    "an empty loader": (data.Loader(ITEMS[:3], 4, drop_last=True), None, "epoch 1 has no batches"),
}


@pytest.mark.parametrize("name", NOTHING)
def test_an_epoch_of_nothing_is_refused(name: str) -> None:
    source, valid, message = NOTHING[name]
    with pytest.raises(ValueError, match=f"fit: {message}(?s:.*)read once"):
        learner().fit(model(), source, epochs=2, valid=valid)
