"""The dashboard as the process that trains has it: what the screen is told, and what it says."""

import os
import pickle
import signal
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from threading import Event as Signal
from threading import get_ident
from types import MappingProxyType
from typing import Any

import pytest

from brimstone.frontend.errors import ArgumentError
from brimstone.train import EpochEnded, Note, Progress, Started, Stop
from brimstone.train.render import Bars, Dashboard, Lines, choose, chosen_renderer, dashboard
from brimstone.train.render.dashboard import LOST
from brimstone.train.render.health import Health
from brimstone.train.render.link import Link
from brimstone.train.render.messages import Batches, batches, packed
from brimstone.train.render.renderer import STOPPING
from kit.played_runs import told
from kit.work import PATIENCE

pytest.importorskip("textual", reason="textual, of the extra `train`, is not installed")


def told_of(message: Any) -> list[Any]:
    """The events of a message."""
    if not isinstance(message, Batches):
        return [message]
    begin = message.place - len(message.steps) + 1
    return [
        Progress(
            message.split, message.epoch, step, begin + at, message.of,
            {name: column[at] for name, column in message.values.items()},
            message.items[at], message.seconds[at],
        )
        for at, step in enumerate(message.steps)
    ]  # fmt: skip


class Screen:
    """One that nobody sees: it keeps what it is told, and asks to stop when a test does."""

    def __init__(self, broken: bool = False) -> None:
        self.messages, self.threads = list[Any](), set[int]()
        self.wishes, self.heard, self.closed = SimpleQueue[bool](), SimpleQueue[None](), Signal()
        self.broken = broken

    def send(self, messages: list[Any], /) -> None:
        if self.broken:
            raise BrokenPipeError
        self.messages += [event for each in messages for event in told_of(each)]
        self.threads.add(get_ident())

    def wish(self) -> bool:
        self.heard.put(None)
        return self.wishes.get()

    def close(self) -> None:
        self.wishes.put(False)
        self.closed.set()

    def asked(self) -> None:
        """Somebody presses a key, and it is heard of."""
        self.heard.get()
        self.wishes.put(True)
        self.heard.get()
        self.heard.put(None)


def test_the_screen_hears_of_everything_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    screen, events = Screen(), list(told(epochs=3, batches=40))
    with Dashboard(lambda: screen) as renderer:
        for event in events:
            assert renderer(event) is None
    assert [each for each in screen.messages if not isinstance(each, Health)] == events
    assert screen.closed.is_set()
    assert capsys.readouterr().out.splitlines() == [
        "spirals: 3 epochs, 120 steps, 1,234 parameters, on cpu",
        "epoch 3/3  train  loss 3.06e-7  (0:20)",
        "epoch 3/3  valid  loss 0.25  accuracy 1  (0:00)",
        "saved step 120: runs/spirals/step-120",
        "ended after 120 steps in 0:12: all epochs are done",
    ]


def test_a_dashboard_can_be_entered_again(capsys: pytest.CaptureFixture[str]) -> None:
    screens = [Screen(), Screen()]
    renderer = Dashboard(iter(screens).__next__)
    for screen in screens:
        with renderer:
            for event in (Started("run", 1, 1), Note("one")):
                assert renderer(event) is None
            renderer.interrupt.ask()
            assert renderer(Note("two")) is not None
        notes = [each for each in screen.messages if isinstance(each, Note)]
        assert notes == [Note("one"), Note(STOPPING), Note("two")]
        assert capsys.readouterr().out == "run: 1 epoch, 1 step\n"


def test_the_thread_that_trains_sends_nothing() -> None:
    screen = Screen()
    with Dashboard(lambda: screen) as renderer:
        for event in told(epochs=1, batches=200):
            renderer(event)
    assert screen.threads
    assert get_ident() not in screen.threads


def test_what_is_printed_is_a_note_and_comes_when_the_screen_is_gone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    screen = Screen()
    with Dashboard(lambda: screen):
        print("found a file")
        assert capsys.readouterr().out == ""
    assert Note("found a file") in screen.messages
    assert capsys.readouterr().out == "found a file\n"


def test_one_wish_stops_the_run_and_two_end_it() -> None:
    screen = Screen()
    with pytest.raises(KeyboardInterrupt), Dashboard(lambda: screen) as renderer:
        assert renderer(Note("one")) is None
        screen.asked()
        assert renderer(Note("two")) == Stop("interrupted")
        screen.asked()
        Signal().wait(PATIENCE)
    assert [each for each in screen.messages if isinstance(each, Note)] == [
        Note("one"), Note(STOPPING), Note("two")
    ]  # fmt: skip
    assert screen.closed.is_set()


def test_a_run_goes_on_when_its_screen_is_lost(capsys: pytest.CaptureFixture[str]) -> None:
    screen = Screen(broken=True)
    first, *rest = told(epochs=1, batches=1)
    with Dashboard(lambda: screen) as renderer:
        renderer(first)
        print("meanwhile")
        screen.closed.wait()
        renderer._sender.join()
        for event in rest:
            assert renderer(event) is None
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == [
        "meanwhile", "spirals: 1 epoch, 1 step, 1,234 parameters, on cpu",
        LOST.format("BrokenPipeError()"),
    ]  # fmt: skip
    assert lines[-1] == "ended after 1 step in 0:12: all epochs are done"


def test_without_textual_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dashboard, "find_spec", lambda name: None)
    with pytest.raises(ArgumentError, match=r"pip install 'brimstone\[train\]'"):
        Dashboard()


def test_events_can_be_sent_whatever_their_values_are() -> None:
    values = MappingProxyType({"loss": 0.5})
    first = Progress("train", 1, 1, 1, None, values, 8, 0.5)
    second = Progress("train", 1, 2, 2, None, {"loss": 0.25}, 8, 0.25)
    other = Progress("valid", 1, 2, 1, None, values, 8, 0.5)
    ended, started = EpochEnded("train", 1, 1, values, 0.5), Started("run", 1, None)
    told = [started, first, second, other, ended, first]
    expected = [started, batches([first, second]), batches([other]), ended, batches([first])]
    assert pickle.loads(pickle.dumps(packed(told))) == expected
    both = batches([first, second])
    assert (both.place, both.values, both.seconds) == (2, {"loss": [0.5, 0.25]}, [0.5, 0.25])


BACKGROUND = {"TERM": "xterm-of-another-program"}


@pytest.mark.parametrize(
    ("terminals", "environment", "textual", "kind"),
    [
        (True, {}, True, Dashboard),
        (True, {}, False, Bars),
        (True, {"TERM": "dumb"}, True, Lines),
        (True, {"CI": "true"}, True, Lines),
        (True, BACKGROUND, True, Lines),
        (False, {}, True, Lines),
    ],
)
def test_what_suits_a_terminal(
    terminals: bool,
    environment: dict[str, str],
    textual: bool,
    kind: type,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(choose, "_terminal", lambda stream: terminals)
    monkeypatch.setattr(choose, "_in_background", lambda: environment == BACKGROUND)
    monkeypatch.setattr(choose, "find_spec", lambda name: textual or None)
    assert type(chosen_renderer()) is kind


def test_a_renderer_by_its_name() -> None:
    assert type(chosen_renderer("bars")) is Bars
    assert type(chosen_renderer("lines")) is Lines
    assert type(chosen_renderer("dashboard")) is Dashboard
    with pytest.raises(ArgumentError, match=r"there is no renderer 'window'[\s\S]*auto, dashboard"):
        chosen_renderer("window")


ANSWERS = """
import os, pickle, sys
with os.fdopen(int(sys.argv[1]), "rb") as stream:
    assert pickle.load(stream) == ["a message"]
    os.write(int(sys.argv[2]), b"!")
    assert stream.read() == b""
"""


def linked(code: str, monkeypatch: pytest.MonkeyPatch) -> Link:
    monkeypatch.setattr("brimstone.train.render.link.COMMAND", ("-c", code))
    return Link()


def test_a_link_brings_messages_there_and_wishes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    link = linked(ANSWERS, monkeypatch)
    link.send(["a message"])
    assert link.wish()
    link.close()
    assert link._process.returncode == 0
    assert not link.wish()


def test_a_link_to_a_process_that_is_gone_is_a_broken_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    link = linked("", monkeypatch)
    assert not link.wish()
    link._process.wait()
    with pytest.raises(BrokenPipeError):
        link.send(["a message"])
    link.close()


def test_the_other_end_of_the_link() -> None:
    from brimstone.train.render.child import receive

    inbox: deque[Any] = deque()
    theirs, ours = os.pipe()
    events = list(told(epochs=1, batches=2))
    with os.fdopen(ours, "wb") as stream:
        pickle.dump(events[:2], stream)
        pickle.dump(events[2:], stream)
    receive(theirs, inbox)
    assert list(inbox) == [*events, None]


def test_no_signal_is_held_back_from_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    link = linked("", monkeypatch)
    assert not link.wish()
    link.close()
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before


def handler() -> Callable[..., Any] | int | None:
    return signal.getsignal(signal.SIGINT)


def test_the_handler_of_interrupts_is_put_back() -> None:
    before = handler()
    with Dashboard(Screen):
        assert handler() is not before
    assert handler() is before


def test_a_wish_as_the_run_ends_loses_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    class Late(Screen):
        """One that hears of a second wish when all is over already."""

        def close(self) -> None:
            super().close()
            raise KeyboardInterrupt

    before = handler()
    with pytest.raises(KeyboardInterrupt), Dashboard(Late):
        print("said before the end")
    assert capsys.readouterr().out == "said before the end\n"
    assert handler() is before
