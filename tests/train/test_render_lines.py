"""A run as lines: what stands on them, how many there are, and what Ctrl-C says."""

import io
import signal

import pytest

from brimstone.train import EpochEnded, Event, Note, Started, Stop
from brimstone.train.render import Lines
from brimstone.train.render.renderer import STOPPING
from kit.played_runs import told

SHOWN = """\
spirals: 2 epochs, 6 steps, 1,234 parameters, on cpu
epoch 1/2  train  loss 0.6873  (0:02)
epoch 1/2  valid  loss 0.9373  accuracy 0.3127  (0:00)
saved step 3: runs/spirals/step-3
epoch 2/2  train  batch 1/3  loss 0.6065  learning rate 2.50e-4  16 items/s  0:01 left
epoch 2/2  train  loss 0.4724  (0:02)
epoch 2/2  valid  loss 0.7224  accuracy 0.5276  (0:00)
saved step 6: runs/spirals/step-6
ended after 6 steps in 0:12: all epochs are done
"""


class Clock:
    """Every look takes two seconds."""

    now = 0.0

    def __call__(self) -> float:
        self.now += 2
        return self.now


def shown(*events: Event, seconds: float = 10.0) -> str:
    file = io.StringIO()
    with Lines(file, seconds, Clock()) as lines:
        for event in events:
            assert lines(event) is None
    return file.getvalue()


def test_a_line_for_all_that_matters_and_for_a_batch_now_and_then() -> None:
    assert shown(*told()) == SHOWN


def test_every_batch_has_a_line_where_somebody_wants_that() -> None:
    lines = shown(*told(), seconds=0.0).splitlines()
    assert sum("batch" in line for line in lines) == 8
    assert "epoch 1/2  valid  batch 1/1  loss 0.5  16 items/s  0:02 left" in lines


def test_nobody_knows_how_long() -> None:
    beginning = Started("endless", 3, None, step=7, epoch=1)
    assert shown(beginning) == "endless: 3 epochs, from step 7 on\n"


def test_numbers_that_are_none() -> None:
    values = {"loss": float("nan"), "norm": float("inf"), "rate": 0.0, "tiny": -1.5e-7}
    line = shown(EpochEnded("train", 1, 1, values, 90000.0)).strip()
    assert line == "epoch 1/0  train  loss nan  norm inf  rate 0  tiny -1.50e-7  (1 d 1:00)"


def test_the_first_interrupt_stops_the_run_and_the_second_ends_it() -> None:
    file = io.StringIO()
    with pytest.raises(KeyboardInterrupt), Lines(file) as lines:
        assert lines(Note("one")) is None
        signal.raise_signal(signal.SIGINT)
        assert lines(Note("two")) == lines(Note("three")) == Stop("interrupted")
        signal.raise_signal(signal.SIGINT)
    assert file.getvalue() == f"one\n{STOPPING}\ntwo\nthree\n"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_of_the_program_stays() -> None:
    def handler(*_: object) -> None: ...

    before = signal.signal(signal.SIGINT, handler)
    try:
        with Lines(io.StringIO()):
            assert signal.getsignal(signal.SIGINT) is handler
        assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, before)
