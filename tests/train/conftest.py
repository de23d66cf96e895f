"""Tests of training run on the device that people train on: what they compute at once as they are
collected, and all that they do."""

import os
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager
from unittest import mock

import pytest


def on_the_cpu() -> AbstractContextManager[object]:
    """Where it is entered, machine code computes tensors, if no test asks for another device."""
    return mock.patch.dict(os.environ, {"BRIMSTONE_DEVICE": "cpu"})


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, object, object]:
    """Modules are read there."""
    with on_the_cpu():
        return (yield)


@pytest.fixture(autouse=True, scope="module")
def tests_run_on_the_cpu() -> Iterator[None]:
    """And so do their tests."""
    with on_the_cpu():
        yield
