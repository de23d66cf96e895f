"""Who makes the batches of a loader: a thread, several, or processes.

Comes in: how batches are made, and a number or "threads". Goes out: functions from jobs to batches,
each of which is called by one thread at a time.
Never: a process started before there is something to do, or left behind.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

from .dataset import expect_count
from .fetch import Fetch, Job
from .process import Process, packed_for_workers

THREADS = "threads"
Maker = Callable[[Job], Any]


class Workers:
    """The workers of a loader; processes are kept from one epoch to the next."""

    def __init__(self, fetch: Fetch, kind: int | str) -> None:
        if kind != THREADS:
            expect_count("Loader", f"workers (if not {THREADS!r})", kind)
        self._fetch, self._kind = fetch, kind
        self._idle: list[Process] = []
        weakref.finalize(self, end, self._idle)

    def take(self) -> Sequence[Maker]:
        """Workers that nobody else has; `give_back` or `end` is what they are for afterwards."""
        if self._kind == THREADS:
            from ..targets.cores import usable_cores

            return [self._fetch] * usable_cores()
        count = int(self._kind)
        if not count:
            return [self._fetch]
        found, self._idle[:] = self._idle[:count], self._idle[count:]
        missing = count - len(found)
        message = packed_for_workers(self._fetch) if missing else ()
        return [*found, *[Process(message) for _ in range(missing)]]

    def give_back(self, workers: Sequence[Maker]) -> None:
        """Keep workers that have nothing to do any more."""
        self._idle += [each for each in workers if isinstance(each, Process)]


def end(workers: Sequence[Maker]) -> None:
    """Have no more of these workers; what they are doing is lost."""
    for each in workers:
        if isinstance(each, Process):
            each.end()
