"""Ctrl-C in a call, and where somebody reads: what each leaves behind."""

import gc
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import brimstone as bs
from brimstone.frontend import force
from brimstone.frontend.trace import Trace, current_trace
from brimstone.passes.once import Nested
from brimstone.runtime import arrays, calls, steps, streams
from brimstone.runtime.arrays import drop_gone, use
from brimstone.runtime.device import Device, current_device
from brimstone.runtime.native import address_of, core, ffi
from brimstone.targets.llvm import code
from kit.interrupts import interrupted

FOLDERS = tuple([str(Path(calls.__file__).parents[1] / name) for name in ("frontend", "runtime")])


@pytest.fixture(autouse=True)
def cpu() -> Iterator[None]:
    with bs.device("cpu"):
        yield


class _Core:
    """The native core, but for what a test has of its own."""

    def __init__(self, **own: Any) -> None:
        self.__dict__.update(own)

    def __getattr__(self, name: str) -> Any:
        return getattr(core(), name)


def looks_at_signals(frame: FrameType, event: str) -> bool:
    """Whether Python looks at signals up to the core: as functions begin, and behind calls."""
    return event in ("call", "c_return") and frame.f_code.co_filename.startswith(FOLDERS)


def _lent() -> int:
    """How many arrays are lent, once all are back that anything before has let go of."""
    gc.collect()
    bs.sync()
    drop_gone()
    arrays.take_back()
    return len(arrays._LENT)


@pytest.mark.parametrize("donated", [(), (0,)])
def test_no_interrupt_in_a_call_loses_memory(donated: tuple[int, ...]) -> None:
    @bs.jit(donate=donated)
    def step(x: bs.Tensor) -> list[bs.Tensor]:
        return [x + 1, x * 2, x - 3]

    for _ in range(20):  # until calls go the direct way
        bs.sync(*step(bs.ones((1 << 14,)).sync()))
    for times in count():
        gc.collect()
        before = use().used
        bs.sync(*step(bs.ones((1 << 14,)).sync()))  # of which the next call is told
        x = bs.ones((1 << 14,)).sync()
        is_over = not interrupted(lambda x=x: step(x), times, looks_at_signals)
        del x
        gc.collect()
        assert use().used <= before
        if is_over:
            break
    assert times > 5
    assert step(bs.ones((1 << 14,)))[1][0].item() == 2


SIGNALS = """
import signal
import brimstone as bs
from brimstone.runtime.arrays import use
bs.device("cpu").__enter__()
step = bs.jit(lambda x: {"more": x + 1, "other": [x * 2, x.sum()]})
x = bs.ones((1 << 14,)).sync()
for _ in range(40):
    bs.sync(step(x))
before, times = use().used, 0
for number in range(400):
    try:
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_REAL, 1e-5 + number % 40 * 5e-6)
        for _ in range(200):
            made = step(x)
    except KeyboardInterrupt:
        times += 1
        signal.setitimer(signal.ITIMER_REAL, 0)
    made = None
    bs.sync(step(x))
assert times > 300, times
assert use().used <= before, (use().used, before)
"""


def test_no_interrupt_comes_once_the_work_is_done() -> None:
    """Not even where as many events were to be as there are."""
    found = [interrupted(lambda: len("four"), times, lambda *_: True) for times in range(8)]
    assert found[0] and not found[-1]
    assert found == sorted(found, reverse=True)


def test_no_signal_loses_memory() -> None:
    """Wherever in a call it comes: the core has let go of Python's lock, or is dealing results."""
    command = [sys.executable, "-c", SIGNALS]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_is_made_as_an_interrupt_comes_is_dropped() -> None:
    """A native call may take long: what it gives back must have an owner before Python looks."""
    before = use().used
    for times in range(20):
        for make in (
            lambda: arrays.empty((1 << 14,), np.dtype(np.float32)),
            lambda: arrays.copied(np.ones(1 << 14), np.dtype(np.float32)),
        ):
            interrupted(make, times, looks_at_signals)
    assert use().used <= before


def test_an_interrupt_does_not_keep_what_was_lent(monkeypatch: pytest.MonkeyPatch) -> None:
    def returned(tickets: Any, most: int) -> int:
        core().brimstone_returned(tickets, most)
        raise KeyboardInterrupt

    before = _lent()
    lent = [arrays.borrowed(np.ones(100)) for _ in range(10)]
    assert len(arrays._LENT) == before + 10
    del lent
    drop_gone()
    with monkeypatch.context() as patch:
        patch.setattr(arrays, "core", lambda: _Core(brimstone_returned=returned))
        with pytest.raises(KeyboardInterrupt):
            arrays.take_back()
    arrays.take_back()
    assert len(arrays._LENT) == before


def test_an_interrupt_lends_nothing() -> None:
    array, before = np.ones(100), _lent()
    for times in count():
        is_over = not interrupted(lambda: arrays.borrowed(array), times, looks_at_signals)
        drop_gone()
        arrays.take_back()
        assert len(arrays._LENT) == before
        if is_over:
            break
    assert times > 5


def test_an_interrupt_of_what_follows_one_leaves_a_thread_on_one_stream() -> None:
    """Calls go to where it says that it is, and who waits asks itself."""
    x = bs.ones((3,)).sync()
    for times in count():
        is_over = not interrupted(streams.leave_behind, times, looks_at_signals)
        assert all(address_of(each.own) == each.address for each in streams._ALL)
        if is_over:
            break
    assert times > 3
    assert (x + 1).tolist() == [2, 2, 2]


def test_what_cannot_be_lent_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    before = _lent()
    with monkeypatch.context() as patch:
        patch.setattr(arrays, "core", lambda: _Core(brimstone_borrow=lambda *given: ffi.NULL))
        with pytest.raises(MemoryError):
            arrays.borrowed(np.ones(100))
    assert len(arrays._LENT) == before


def test_an_interrupt_ends_no_program_that_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def ended(native: Any) -> int:
        raise KeyboardInterrupt  # behind a call which said that it still runs

    with monkeypatch.context() as patch:
        ending = {calls._Needs("the record", "machine code"): "the program"}
        patch.setattr(calls, "_ENDING", ending)
        patch.setattr(calls, "core", lambda: _Core(brimstone_end_program=ended))
        with pytest.raises(KeyboardInterrupt):
            calls.end_programs()
        assert list(ending.values()) == ["the program"]


def test_programs_end_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that still run are asked again; of others none is, wherever an interrupt comes."""
    asked: list[str] = []

    def ended(native: str) -> int:
        asked.append(native)
        return int(native != "runs")

    for times in count():
        ending = {calls._Needs("its record", None): each for each in ("one", "runs", "other")}
        asked.clear()
        with monkeypatch.context() as patch:
            patch.setattr(calls, "_ENDING", ending)
            patch.setattr(calls, "core", lambda: _Core(brimstone_end_program=ended))
            is_over = not interrupted(calls.end_programs, times, looks_at_signals)
            calls.end_programs()
        assert list(ending.values()) == ["runs"]
        assert (asked.count("one"), asked.count("other")) == (1, 1)
        if is_over:
            break
    assert times > 1


@pytest.mark.parametrize("compiled", [False, True])
def test_an_interrupt_of_the_compiler_leaves_behind(
    compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is asked for next does not wait for what was asked for before it."""

    def interrupted(*given: Any, **named: Any) -> Any:
        raise KeyboardInterrupt

    left: list[bool] = []
    x = bs.ones((3,)).sync()
    with monkeypatch.context() as patch:
        patch.setattr(streams, "leave_behind", lambda: left.append(True))
        patch.setattr(force, "_compute", interrupted)
        with pytest.raises(KeyboardInterrupt):
            bs.jit(interrupted)(x) if compiled else (x + 1).numpy()
    assert left == [True]
    assert (x + 1).tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    ("where", "function"),
    [(steps, lambda x: bs.tanh(x) / (x + x)), (code, lambda x: bs.tanh(x + x) - bs.exp(x) * x)],
)
def test_a_handler_that_interrupts_a_compiler_is_told(where: Any, function: Any) -> None:
    """It runs in the thread that it interrupts, which would wait for itself."""
    new = bs.jit(function)
    x = bs.ones((3,)).sync()
    with where._LOCK, pytest.raises(Nested, match="handler of signals"):
        new(x)
    assert new(x).shape == (3,)


def test_an_interrupt_between_two_waits_leaves_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who reads what takes long waits for a while, and again; what he asks for after an interrupt
    must not stand behind it."""

    def interrupted(native: Any) -> int:
        raise KeyboardInterrupt

    reading = _Core(brimstone_read=lambda native: ffi.NULL, brimstone_lend=interrupted)
    left: list[bool] = []
    x = bs.ones((8, 8)).sync()
    with monkeypatch.context() as patch:
        patch.setattr(arrays.Arrays, "there", lambda held: 0)
        patch.setattr(arrays, "core", lambda: reading)
        patch.setattr(arrays, "leave_behind", lambda: left.append(True))
        with pytest.raises(KeyboardInterrupt):
            x.numpy()
    assert left == [True]
    assert x.numpy().shape == x.shape


def test_wherever_an_interrupt_comes_the_next_call_ends() -> None:
    """Between a call and the wait for what it makes nobody knows of the interrupt."""

    @bs.jit
    def rounds(x: bs.Tensor, end: bs.Tensor) -> list[bs.Tensor]:
        start = bs.asarray(0), x
        return list(bs.while_loop(lambda at: at[0] != end, lambda at: (at[0] + 1, at[1]), start))

    x, never, soon = bs.ones((3,)).sync(), bs.asarray(-1).sync(), bs.asarray(3).sync()
    for _ in range(3):
        assert int(rounds(x, soon)[0]) == 3
    for times in count(step=3):
        is_over = not interrupted(lambda: rounds(x, never)[1], times, looks_at_signals)
        assert int(rounds(x, soon)[0]) == 3
        if is_over:
            break
    assert times > 8


def test_no_interrupt_leaves_a_thread_tracing_or_on_another_device() -> None:
    """Where Python begins the function that ends a block, nothing of it has been done yet."""
    codes = {each.__code__ for each in vars(Trace).values() if hasattr(each, "__code__")}
    codes |= {each.__code__ for each in vars(Device).values() if hasattr(each, "__code__")}

    def looks(frame: FrameType, event: str) -> bool:
        return event in ("call", "c_return") and frame.f_code in codes

    def run() -> None:
        bs.jit(bs.vmap(lambda x: (x * 2).sum()))(bs.ones((2, 3))).sync()

    device = current_device()
    for times in count():
        is_over = not interrupted(run, times, looks)
        assert current_trace() is None
        assert current_device() is device
        if is_over:
            break
    assert times > 10
