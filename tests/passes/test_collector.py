"""The collector waits while programs are made, and goes on as before."""

import gc
from collections.abc import Iterator
from itertools import count
from types import FrameType

import pytest

import brimstone as bs
from brimstone.passes.collector import without_collections
from kit.collector import collector_paused
from kit.interrupts import interrupted


@pytest.fixture(autouse=True)
def leave_the_collector_on() -> Iterator[None]:
    """Whatever a test leaves."""
    yield
    gc.enable()


def test_it_goes_on_afterwards() -> None:
    with collector_paused():
        assert not gc.isenabled()
        with collector_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_goes_on_after_an_error() -> None:
    with pytest.raises(ValueError, match="wrong"), collector_paused():
        raise ValueError("wrong")
    assert gc.isenabled()


def test_one_that_was_off_stays_off() -> None:
    gc.disable()
    with collector_paused():
        pass
    assert not gc.isenabled()


def test_a_function_runs_without_collections() -> None:
    @without_collections
    def work(wanted: bool) -> bool:
        return gc.isenabled() is wanted

    assert work(False)
    assert gc.isenabled()
    gc.disable()
    assert work(wanted=False)
    assert not gc.isenabled()


def test_it_goes_on_after_an_error_in_a_function() -> None:
    with pytest.raises(ZeroDivisionError):
        without_collections(lambda: 1 / 0)()
    assert gc.isenabled()


def test_no_interrupt_of_a_call_leaves_it_off() -> None:
    """Not even while somebody has the traceback, as a prompt has the latest one."""
    tracebacks: list[KeyboardInterrupt] = []
    names = {"plan", "_ready", "_ready_at", "make", "_built", "paused"}

    def looks(frame: FrameType, event: str) -> bool:
        names_of = frame.f_code.co_name, frame.f_back and frame.f_back.f_code.co_name
        return event in ("call", "c_return") and not names.isdisjoint(names_of)

    def run() -> None:
        try:
            bs.jit(lambda x: x * 2 + len(tracebacks))(bs.ones(3)).sync()
        except KeyboardInterrupt as interrupt:
            tracebacks.append(interrupt)
            raise

    for times in count():
        is_over = not interrupted(run, times, looks)
        assert gc.isenabled()
        if is_over:
            break
    assert times > 20
