"""The collector waits while programs are made, and goes on as before."""

import gc
from collections.abc import Iterator

import pytest

from brimstone.passes.collector import collector_paused


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
