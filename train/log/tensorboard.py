"""A log that TensorBoard shows.

Comes in: events. Goes out: event files in two folders, `train` and `valid`, so that TensorBoard
draws a value of both in one chart: `loss` after each batch, `epoch/loss` after each epoch.
Never: a file that is written twice. A run that goes on begins new ones, which say what of the old
ones is void.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import BinaryIO

from ...frontend.errors import ArgumentError, fail
from ..events import Ended, Event, Progress, Split, Started
from .event_file import first_event, restart_event, scalars_event
from .row import row_of
from .text_log import SECONDS_UNSEEN


class TensorBoardLog:
    """A listener that writes TensorBoard's event files in a folder, and closes them at the end of
    the run, or of this as a context."""

    def __init__(
        self, folder: Path | str, every: int = 1, clock: Callable[[], float] = time.time
    ) -> None:
        if every < 1:
            fail(ArgumentError, "TensorBoardLog", "one batch in `every` is logged", every)
        self.folder, self.every, self._clock = Path(folder), every, clock
        self._files: dict[Split, BinaryIO] = {}
        self._step = 0
        self._flushed = clock()

    def __enter__(self) -> TensorBoardLog:
        return self

    def __exit__(self, *error: object) -> None:
        for file in self._files.values():
            file.close()
        self._files.clear()

    def __call__(self, event: Event) -> None:
        """Write the values of an event, if it has some."""
        if isinstance(event, Started):
            self._step = event.step
        if isinstance(event, Started | Ended):
            self.__exit__()
        now, row = self._clock(), row_of(event, self.every)
        if row is not None:
            prefix = "epoch/" if row.scope == "epoch" else ""
            values = {prefix + name: value for name, value in row.values.items()}
            self._file(row.split, now).write(scalars_event(now, row.step, values))
        if not isinstance(event, Progress) or now - self._flushed >= SECONDS_UNSEEN:
            self._flushed = now
            for file in self._files.values():
                file.flush()

    def _file(self, split: Split, now: float) -> BinaryIO:
        """The file of a split, begun when there is first something to write in it."""
        if split not in self._files:
            folder = self.folder / split
            folder.mkdir(parents=True, exist_ok=True)
            self._files[split] = file = _new_file(folder, int(now))
            file.write(first_event(now))
            file.write(restart_event(now, self._step + 1))
        return self._files[split]


def _new_file(folder: Path, now: int) -> BinaryIO:
    """A file of a name that nobody has; TensorBoard reads files in the order of their names."""
    for number in count():
        name = f"events.out.tfevents.{now:010d}.{socket.gethostname()}.{os.getpid()}.{number}"
        try:
            return (folder / name).open("xb")
        except FileExistsError:
            continue
    raise AssertionError("numbers do not end")
