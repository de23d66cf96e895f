"""The pytest plugin for what tests measure: printed at the end, after the failures.

Comes in: texts, through the fixture `record_summary`. Goes out: a section of the summary.
Never: a judgement; tests assert.
"""

from typing import Any

import pytest

RECORDED = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[RECORDED] = []


@pytest.fixture
def record_summary(request: pytest.FixtureRequest) -> list[str]:
    """What is added here is printed at the end of the session."""
    return request.config.stash[RECORDED]


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if config.stash[RECORDED]:
        terminalreporter.section("measured")
    for text in config.stash[RECORDED]:
        terminalreporter.line(text)
