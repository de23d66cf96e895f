"""Settings of every test, and the plugins that come with the tests."""

import gc
import os
import tempfile
from collections.abc import Iterator

import pytest
from hypothesis import settings

pytest_plugins = ["kit.ir_files", "kit.summary", "pytester"]

# The same examples on every run, and no deadline: a busy machine must not fail a test.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.load_profile("ci")


@pytest.fixture(autouse=True, scope="session")
def own_cache() -> Iterator[None]:
    """Keep what tests compile out of the user's cache, and what he has compiled out of tests."""
    with tempfile.TemporaryDirectory() as folder:
        before = os.environ.get("BRIMSTONE_CACHE")
        os.environ["BRIMSTONE_CACHE"] = folder
        yield
        if before is None:
            del os.environ["BRIMSTONE_CACHE"]
        else:
            os.environ["BRIMSTONE_CACHE"] = before


@pytest.fixture(autouse=True, scope="module")
def leave_the_past_alone() -> Iterator[None]:
    """Keep the collector from what earlier modules left alive: a pass over it takes over 1 s."""
    gc.collect()
    gc.freeze()
    yield


def pytest_make_parametrize_id(val: object) -> str | None:
    """Call functions by their names: several processes must give a test the same name."""
    return getattr(val, "__name__", None) if callable(val) else None
