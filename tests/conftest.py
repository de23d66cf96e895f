"""Settings of every test, and the plugins that come with the tests."""

import gc
import os
import signal
import tempfile
from collections.abc import Generator, Iterator, Sequence
from unittest import mock

import pytest
from hypothesis import settings

from kit.collector import collector_paused

pytest_plugins = ["kit.ir_files", "kit.summary", "pytester"]

# The same examples on every run, and no deadline: a busy machine must not fail a test.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.load_profile("ci")


def pytest_configure(config: pytest.Config) -> None:
    """Keep what tests compile out of the user's cache, and what he has compiled out of tests; let
    tests run where results are exact, if nobody asks for another device; have kernels compute, also
    of what many tests read at one line; and have SciPy, which reads it once when it is imported,
    take arrays of any library."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        # A job in the background, whose tests of interrupts would wait for ever.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(config, "workerinput"):
        return  # a worker, which has the environment of the process that started it
    # At the end a helper may still write there what it has compiled.
    folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    wanted = {"BRIMSTONE_CACHE": folder.name, "BRIMSTONE_INTERPRET": "0", "SCIPY_ARRAY_API": "1"}
    wanted["BRIMSTONE_DEVICE"] = os.environ.get("BRIMSTONE_DEVICE", "reference")
    patched = mock.patch.dict(os.environ, wanted)
    patched.start()
    config.add_cleanup(folder.cleanup)
    config.add_cleanup(patched.stop)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect tests, all of which are kept, without looking for what is not."""
    with collector_paused():
        return (yield)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the slow ones: at the end each process has something short to do."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.fixture(autouse=True, scope="module")
def leave_the_past_alone() -> Iterator[None]:
    """Keep the collector from what earlier modules left alive: a pass over it takes over 1 s."""
    gc.collect()
    gc.freeze()
    yield


class Nobody:
    """Has nothing made ahead."""

    def add(self, tasks: Sequence[object]) -> None:
        """Leave these undone."""


@pytest.fixture(autouse=True, scope="session")
def nothing_is_made_ahead() -> Iterator[None]:
    """Leave out code for sizes that no test has: it takes time, and a thread would be at it beside
    tests that count threads or bytes. Tests of that have it made."""
    with (
        mock.patch("brimstone.targets.llvm.program.ahead", Nobody),
        mock.patch("brimstone.targets.llvm.program.near", lambda *_: ()),
    ):
        yield


@pytest.fixture(autouse=True, scope="session")
def calls_go_the_direct_way() -> Iterator[None]:
    """What a user finds after some calls, tests find at the second one of a kind."""
    with mock.patch("brimstone.frontend.jit.OFTEN", 1):
        yield


def pytest_make_parametrize_id(val: object) -> str | None:
    """Call functions by their names: several processes must give a test the same name."""
    return getattr(val, "__name__", None) if callable(val) else None
