"""Ctrl-C while a Learner trains: with and without a renderer, once and twice, and nobody else's."""

import io
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import brimstone as bs
from brimstone import train
from brimstone.data import InMemory, Loader
from brimstone.train.render import Lines
from kit.training import Momentum, Told, data, loss, model, weights

BATCHES = data()


@pytest.fixture(autouse=True)
def handler() -> Iterator[None]:
    """As the interpreter has it at its start, and as it was."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def pressing(times: int) -> Any:
    """A listener that presses Ctrl-C in the third step."""

    def press(event: Any) -> None:
        if isinstance(event, train.Progress) and event.step == 3:
            for _ in range(times):
                signal.raise_signal(signal.SIGINT)

    return press


def fit(*listeners: Any) -> train.Run:
    return train.Learner(loss, Momentum()).fit(model(), BATCHES, epochs=2, listeners=listeners)


def renderers() -> list[Any]:
    return [[], [Lines(io.StringIO())]]


@pytest.mark.parametrize("shown", renderers(), ids=["alone", "with a renderer"])
def test_once_finishes_the_step_and_twice_ends_at_once(shown: Any) -> None:
    told = Told()
    assert fit(told, pressing(1), *shown).reason == "interrupted"
    assert 3 <= len(told.steps()) <= 5
    assert isinstance(told[-1], train.Ended)
    with pytest.raises(KeyboardInterrupt):
        fit(pressing(2), *shown)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def in_validation(stop: Any) -> Any:
    """A listener that ends a run in the second batch of the first validation."""

    def press(event: Any) -> Any:
        is_there = isinstance(event, train.Progress) and event.split == "valid"
        return stop() if is_there and event.epoch == 1 and event.place == 2 else None

    return press


WAYS: dict[str, tuple[Any, str]] = {
    "a signal": (lambda: signal.raise_signal(signal.SIGINT), "interrupted"),
    "a listener": (lambda: train.Stop("enough"), "enough"),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("every", [None, len(BATCHES)])
def test_a_validation_is_left_and_made_again(tmp_path: Path, way: str, every: int | None) -> None:
    def fit(folder: Path, *listeners: Any) -> train.Run:
        made = train.Learner(loss, train.SGD(lr=0.1), plateau=train.schedules.Plateau(patience=0))
        keep = train.KeepBest("valid.loss")
        saving = train.Saving(folder, every=every, keep=keep)
        return made.fit(
            model(), loader, epochs=3, valid=validation, listeners=listeners, saving=saving
        )

    columns = [bs.concat([batch[side] for batch in BATCHES]).numpy() for side in (0, 1)]
    dataset = InMemory(tuple(columns))
    loader, validation = Loader(dataset, 4, shuffle=True), Loader(dataset, 8)
    whole = fit(tmp_path / "whole")
    loader, validation = Loader(dataset, 4, shuffle=True), Loader(dataset, 8)
    stop, reason = WAYS[way]
    told, again = Told(), Told()
    first = fit(tmp_path / "parts", told, in_validation(stop))
    assert (first.reason, int(first.state.step)) == (reason, len(BATCHES))
    assert [event.place for event in told if getattr(event, "split", "") == "valid"] == [1, 2]
    second = fit(tmp_path / "parts", again)
    assert weights(second) == weights(whole)
    assert values(second) == values(whole)
    assert [event.split for event in again if isinstance(event, train.EpochEnded)] == [
        *("valid", "train", "valid", "train", "valid")
    ]


def values(run: train.Run) -> list[Any]:
    return [(event.split, event.epoch, event.step, event.values) for event in run.history]


def test_a_renderer_may_be_open_before() -> None:
    file = io.StringIO()
    with Lines(file) as lines:
        assert fit(lines, pressing(1)).reason == "interrupted"
        assert lines.is_open
    assert not lines.is_open
    assert file.getvalue().count("stopping after this step") == 1
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_key_of_a_renderer_ends_a_run_at_once_the_second_time() -> None:
    lines = Lines(io.StringIO())

    def ask_twice(event: Any) -> None:
        if isinstance(event, train.Progress):
            lines.interrupt.ask()
            lines.interrupt.ask()

    with pytest.raises(KeyboardInterrupt):
        fit(lines, ask_twice)


@pytest.mark.parametrize("ours", [signal.SIG_IGN, lambda *_: None], ids=["ignored", "a handler"])
def test_what_the_program_has_set_stays(ours: Any) -> None:
    signal.signal(signal.SIGINT, ours)
    assert fit(pressing(2)).reason == "all epochs are done"
    assert signal.getsignal(signal.SIGINT) == ours
