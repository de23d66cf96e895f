"""A run as bars: what they show, and that the thread that trains draws none."""

import io
from typing import Any

import pytest
from rich.console import Console

from brimstone.train import Ended, Progress
from brimstone.train.render import Bars
from kit.played_runs import told

BEGUN = """\
train ━━━━━━━━━━━━━━━━━━━━━━━━━━╸━━━━━━━━━━━━━ 2/3       16 items/s
run   ━━━━━━━━━━━━━╺━━━━━━━━━━━━━━━━━━━━━━━━━━ epoch 1/2 0:02 left \n\
loss 0.7788  learning rate 5.00e-4
"""


def recorded(**settings: Any) -> Console:
    given = {"width": 80, "height": 24, "force_terminal": True, "record": True, **settings}
    return Console(file=io.StringIO(), **given)


def bars_of(console: Console, monkeypatch: pytest.MonkeyPatch) -> Bars:
    """Bars whose own thread never draws."""
    bars = Bars(console)
    monkeypatch.setattr(bars._live, "auto_refresh", False)
    return bars


def test_two_bars_and_the_latest_values(monkeypatch: pytest.MonkeyPatch) -> None:
    console = recorded()
    bars = bars_of(console, monkeypatch)
    for event in list(told())[:3]:
        bars(event)
    console.export_text(clear=True)
    console.print(bars.picture())
    assert console.export_text() == BEGUN


def test_lines_stand_above(monkeypatch: pytest.MonkeyPatch) -> None:
    console = recorded()
    with bars_of(console, monkeypatch) as bars:
        for event in told():
            assert bars(event) is None
    lines = console.export_text()
    for line in (
        "spirals: 2 epochs, 6 steps, 1,234 parameters, on cpu",
        "epoch 2/2  valid  loss 0.7224  accuracy 0.5276  (0:00)",
        "ended after 6 steps in 0:12: all epochs are done",
    ):
        assert line in lines


def test_bars_can_be_entered_again(monkeypatch: pytest.MonkeyPatch) -> None:
    console = recorded()
    bars = bars_of(console, monkeypatch)
    for _ in range(2):
        with bars:
            for event in told():
                bars(event)
    assert console.export_text().count("ended after 6 steps") == 2


def test_a_batch_draws_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = list[None]()
    bars = bars_of(recorded(), monkeypatch)
    monkeypatch.setattr(bars, "picture", lambda: drawn.append(None))
    monkeypatch.setattr(bars.console, "print", lambda *_: drawn.append(None))
    batches = [event for event in told(batches=50) if isinstance(event, Progress)]
    for event in batches:
        bars(event)
    assert not drawn
    bars(Ended(1, "done", 1.0))
    assert len(drawn) == 1


@pytest.mark.parametrize("width", [20, 40, 200])
def test_bars_fit(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    console = recorded(width=width)
    bars = bars_of(console, monkeypatch)
    for event in list(told())[:3]:
        bars(event)
    console.print(bars.picture())
    assert all(len(line) <= width for line in console.export_text().splitlines())


def test_before_and_after_there_are_no_bars(monkeypatch: pytest.MonkeyPatch) -> None:
    bars = bars_of(recorded(), monkeypatch)
    assert not bars.picture().renderables
    for event in told():
        bars(event)
    assert not bars.picture().renderables
