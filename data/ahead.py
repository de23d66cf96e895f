"""Batches made ahead of whoever takes them, by several threads, in order.

Comes in: jobs, makers of which each has a thread, and how far ahead they may be. Goes out: what was
made of each job, in the order of the jobs.
Never: a job begun that is too far ahead, or after the end; a value kept that somebody has taken.
"""

from collections.abc import Callable, Iterator, Sequence
from threading import Condition, Lock, Thread
from typing import Any


class Ahead:
    """An iterator over what is made of jobs; an error is raised in the place of its job."""

    def __init__(
        self, jobs: Iterator[Any], makers: Sequence[Callable[[Any], Any]], most: int
    ) -> None:
        self._jobs, self._most = jobs, most
        self._one_reads = Lock()
        self._changed = Condition()
        self._made: dict[int, tuple[bool, Any]] = {}
        self._begun = self._taken = 0
        self._end: int | None = None
        """How many jobs there are, once that is known."""
        for maker in makers:
            Thread(target=self._work, args=(maker,), daemon=True).start()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        with self._changed:
            while self._taken not in self._made:
                if self._end is not None and self._taken >= self._end:
                    raise StopIteration
                self._changed.wait()
            well, value = self._made.pop(self._taken)
            self._taken += 1
            self._changed.notify_all()
        if not well:
            raise value
        return value

    def close(self) -> None:
        """Let nobody begin another job."""
        with self._changed:
            self._end = self._taken
            self._made.clear()
            self._changed.notify_all()

    def _work(self, maker: Callable[[Any], Any]) -> None:
        """What a thread does."""
        while self._next_made(maker):
            pass

    def _next_made(self, maker: Callable[[Any], Any]) -> bool:
        """Do the next job; whether there was one. Nothing of it stays alive in this thread."""
        job = self._next_job()
        if job is not None:
            number, given = job
            self._keep(number, *_outcome(maker, given))
        return job is not None

    def _next_job(self) -> tuple[int, Any] | None:
        with self._one_reads:
            with self._changed:
                while self._end is None and self._begun >= self._taken + self._most:
                    self._changed.wait()
                if self._end is not None:
                    return None
            # Jobs of a stream may take long: meanwhile batches are taken, and this may be closed.
            well, job = _outcome(next, self._jobs)
            if well:
                self._begun += 1
                return self._begun - 1, job
            if not isinstance(job, StopIteration):
                self._keep(self._begun, False, job)
                self._begun += 1
            with self._changed:
                self._end = self._begun if self._end is None else self._end
                self._changed.notify_all()
            return None

    def _keep(self, number: int, well: bool, value: Any) -> None:
        with self._changed:
            if self._end is None or number < self._end:
                self._made[number] = well, value
            self._changed.notify_all()


def _outcome(function: Callable[[Any], Any], given: Any) -> tuple[bool, Any]:
    """Whether a function returned, and what; else what it raised."""
    try:
        return True, function(given)
    except BaseException as error:
        return False, error
