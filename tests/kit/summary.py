"""The pytest plugin for what tests measure: printed at the end, after the failures.

Comes in: texts, through the fixture `record_summary`. Goes out: a section of the summary, also
where several processes run the tests: texts travel with the reports.
Never: a judgement; tests assert.
"""

from collections.abc import Iterator
from typing import Any

import pytest

PROPERTY = "measured"


@pytest.fixture
def record_summary(request: pytest.FixtureRequest) -> Iterator[list[str]]:
    """What is added here is printed at the end of the session."""
    texts: list[str] = []
    yield texts
    request.node.user_properties += [(PROPERTY, text) for text in texts]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    reports = [each for several in terminalreporter.stats.values() for each in several]
    texts = [
        text
        for report in reports
        for name, text in getattr(report, "user_properties", ())
        if name == PROPERTY and report.when == "teardown"
    ]
    if texts:
        terminalreporter.section("measured")
    for text in texts:
        terminalreporter.line(text)
