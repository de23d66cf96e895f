"""Batches made ahead of whoever takes them, by several threads, in order.

Comes in: jobs, makers of which each has a thread, and how far ahead they may be. Goes out: what was
made of each job, in the order of the jobs. Where the only maker takes a moment for each, and who
takes them is back even sooner, nothing can be made ahead: then he makes them himself, which takes
less time than to hand them over.
Never: a job begun that is too far ahead, or after the end; a value kept that somebody has taken; a
maker used by two threads at once. Nor does who takes wait at a condition, which is code of Python:
an interrupt in it would let go of a lock that a worker has.
"""

from collections.abc import Callable, Iterator, Sequence
from math import inf
from queue import SimpleQueue
from threading import Condition, Lock, Thread
from time import perf_counter
from typing import Any, NamedTuple

MOMENT = 1e-3
"""Less than so many seconds are a moment; to hand something over takes a twentieth of that."""
FAST = 1 / 8
"""Who is back after less than this part of the time that a batch takes is fast."""


class _Worker(NamedTuple):
    """A maker, and whose turn it is to use it."""

    maker: Callable[[Any], Any]
    turn: Lock


class Ahead:
    """An iterator over what is made of jobs; an error is raised in the place of its job."""

    def __init__(
        self, jobs: Iterator[Any], makers: Sequence[Callable[[Any], Any]], most: int
    ) -> None:
        self._jobs, self._most = jobs, most
        self._one_reads, self._state = Lock(), Lock()
        self._room, self._news = Condition(self._state), SimpleQueue[None]()
        """What workers wait at, and what those who take do: each of them is told once."""
        self._made: dict[int, tuple[bool, Any]] = {}
        self._claimed = self._read = self._taken = self._waiting = 0
        self._end: int | None = None
        """How many jobs there are, once that is known."""
        self._idle = [_Worker(maker, Lock()) for maker in makers]
        """Those that have no thread yet."""
        self._only = self._idle[0] if len(makers) == 1 else None
        self._is_fast, self._left, self._duration = self._only is not None, inf, 0.0
        """Whether he who takes is fast; when he left, and how long the last batch took to make."""
        if not self._is_fast:
            with self._state:
                self._go_on()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        self._look_at_the_time()
        if self._only is not None and self._is_fast and self._taken not in self._made:
            self._make_wanted(self._only)
        while (found := self._take()) is None:
            self._news.get()
        well, value = found
        if not well:
            raise value
        self._left = perf_counter()
        return value

    def close(self) -> None:
        """Let nobody begin another job."""
        with self._state:
            self._end = self._taken
            self._made.clear()
            self._tell_all()

    def _look_at_the_time(self) -> None:
        """Whether he who takes was away for a moment only; if not, workers go on."""
        is_short = self._only is not None and self._duration < MOMENT
        is_fast = is_short and perf_counter() - self._left < FAST * self._duration
        if is_fast is self._is_fast:
            return
        with self._state:
            if is_fast:
                self._is_fast = not self._waiting
            else:
                self._go_on()

    def _go_on(self) -> None:
        """Let workers make what they may; the first time, start them."""
        self._is_fast = False
        self._room.notify_all()
        while self._idle:
            Thread(target=self._work, args=(self._idle.pop(),), daemon=True).start()

    def _take(self) -> tuple[bool, Any] | None:
        """The next value; None if a worker still makes it, who will tell; `StopIteration` if there
        will be none."""
        with self._state:
            found = self._made.get(self._taken)
            if found is None:
                if self._end is not None and self._taken >= self._end:
                    raise StopIteration
                self._go_on()
                self._waiting += 1
                return None
            self._taken += 1
            del self._made[self._taken - 1]
            if not self._is_fast:
                self._room.notify()
            elif self._duration >= MOMENT:
                self._go_on()
            return found

    def _work(self, worker: _Worker) -> None:
        """What a thread does."""
        while self._may_begin():
            with worker.turn:
                self._make(worker.maker)

    def _may_begin(self) -> bool:
        """Wait until one more job may be begun; whether there may be one."""
        with self._state:
            while self._end is None and not self._has_room():
                self._room.wait()
            self._claimed += 1
            return self._end is None

    def _has_room(self) -> bool:
        is_left_to_who_takes = self._only is not None and self._is_fast
        return self._claimed < self._taken + self._most and not is_left_to_who_takes

    def _make_wanted(self, worker: _Worker) -> None:
        """Make the next value here, unless the worker has made it meanwhile."""
        with worker.turn:
            if self._read == self._taken and self._end is None:
                self._claimed += 1
                self._make(worker.maker)

    def _make(self, maker: Callable[[Any], Any]) -> None:
        """Do the next job, if there is one. Nothing of it stays alive in this thread."""
        begin = perf_counter()
        job = self._next_job()
        if job is not None:
            number, given = job
            self._keep(number, *_outcome(maker, given))
            self._duration = perf_counter() - begin

    def _next_job(self) -> tuple[int, Any] | None:
        # Jobs of a stream may take long: meanwhile batches are taken, and this may be closed.
        with self._one_reads:
            if self._end is not None:
                return None
            well, job = _outcome(next, self._jobs)
            if well:
                self._read += 1
                return self._read - 1, job
            if not isinstance(job, StopIteration):
                self._keep(self._read, False, job)
                self._read += 1
            with self._state:
                self._end = self._read if self._end is None else self._end
                self._tell_all()
            return None

    def _keep(self, number: int, well: bool, value: Any) -> None:
        with self._state:
            if self._end is None or number < self._end:
                self._made[number] = well, value
            if number == self._taken:
                self._tell_takers()

    def _tell_all(self) -> None:
        self._tell_takers()
        self._room.notify_all()

    def _tell_takers(self) -> None:
        """Have those who wait for a value look; one who was interrupted looks once more later."""
        while self._waiting:
            self._waiting -= 1
            self._news.put(None)


def _outcome(function: Callable[[Any], Any], given: Any) -> tuple[bool, Any]:
    """Whether a function returned, and what; else what it raised."""
    try:
        return True, function(given)
    except BaseException as error:
        return False, error
