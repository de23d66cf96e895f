"""A log that is a text file with a line a row: what CSV and JSON lines have in common.

Comes in: events. Goes out: lines at the end of a file, on disk after a second and after each epoch.
Never: a line of a step that is done once more: where a run goes on after some step, the lines of
later steps are dropped, and so is one that a process was writing when it died.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import TextIO

from ...frontend.errors import ArgumentError, fail
from ..events import Ended, Event, Progress, Started
from .row import Row, row_of

SECONDS_UNSEEN = 1.0
"""So long a line may wait in memory."""


class TextLog:
    """A listener that writes `file_name` in a folder, and closes it at the end of the run, or of
    this as a context."""

    file_name = ""

    def __init__(
        self, folder: Path | str, every: int = 1, clock: Callable[[], float] = monotonic
    ) -> None:
        if every < 1:
            fail(ArgumentError, type(self).__name__, "one batch in `every` has a row", every)
        self.path, self.every, self._clock = Path(folder) / self.file_name, every, clock
        self._file: TextIO | None = None
        self._flushed = clock()

    def __enter__(self) -> TextLog:
        return self

    def __exit__(self, *error: object) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def __call__(self, event: Event) -> None:
        """Write the row of an event, if it has one."""
        if isinstance(event, Started):
            self._begin(event.step)
        row = row_of(event, self.every)
        if row is not None:
            self._write(row)
        if isinstance(event, Ended):
            self.__exit__()
        elif not isinstance(event, Progress) or self._clock() - self._flushed >= SECONDS_UNSEEN:
            self._flush()

    def line(self, row: Row) -> str:
        """A row as a line."""
        raise NotImplementedError

    def step_of(self, line: str) -> int:
        """The step of a line; a `ValueError`, `KeyError` or `TypeError` where it is damaged."""
        raise NotImplementedError

    def kept(self, lines: list[str], step: int) -> list[str]:
        """The lines that are not of later steps, and not damaged."""
        found = list[str]()
        for line in lines:
            with suppress(ValueError, KeyError, TypeError):
                if self.step_of(line) <= step:
                    found.append(line)
        return found

    def replace(self, lines: Iterable[str]) -> None:
        """Make these the lines of the file; whoever looks meanwhile finds the old ones."""
        if self._file is not None:
            self._file.close()
        aside = self.path.with_name(f"{self.path.name}.aside")
        aside.write_text("".join(lines), encoding="utf-8", newline="")
        os.replace(aside, self.path)
        self._file = self.path.open("a", encoding="utf-8", newline="")

    def whole_lines(self) -> list[str]:
        """The lines of the file, without one that was never finished."""
        self._flush()
        if not self.path.exists():
            return []
        text = self.path.read_bytes().decode("utf-8", errors="replace")
        return [line for line in text.splitlines(keepends=True) if line.endswith("\n")]

    def _begin(self, step: int) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.replace(self.kept(self.whole_lines() if step else [], step))

    def _write(self, row: Row) -> None:
        if self._file is None:
            fail(ArgumentError, type(self).__name__, "a log hears `Started` before all else")
        line = self.line(row)  # which may replace the file
        self._file.write(line)

    def _flush(self) -> None:
        if self._file is not None:
            self._file.flush()
            self._flushed = self._clock()
