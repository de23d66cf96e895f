"""Ctrl-C while a Learner trains: with and without a renderer, once and twice, and nobody else's."""

import io
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from brimstone import train
from brimstone.train.render import Lines
from kit.training import Momentum, Told, data, loss, model

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


def test_in_a_validation_it_ends_the_run_after_that() -> None:
    def press(event: Any) -> None:
        if isinstance(event, train.Progress) and event.split == "valid":
            signal.raise_signal(signal.SIGINT)

    learner = train.Learner(loss, Momentum())
    run = learner.fit(model(), BATCHES, epochs=2, valid=BATCHES[:1], listeners=[press])
    assert (run.reason, int(run.state.step)) == ("interrupted", len(BATCHES))


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
