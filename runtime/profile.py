"""What was done when: kernels, calls of steps, and what Python did for them.

Comes in: nothing; the core and the host take notes while somebody records. Goes out: `Event`s.
Never: a program that is kept alive for what it could be asked.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from threading import RLock
from time import monotonic_ns
from typing import Any, NamedTuple

from ..passes.forks import held_across_forks
from ..targets.notes import NOTES
from ..targets.script import Said
from .device import wait_for_all
from .native import core, ffi
from .scripts import ABOUT

KERNEL, CALL, HOST = "kernel", "call", "host"
"""Kinds of events. A call lasts from when it was asked for until its results are there."""
_AT_ONCE = 1 << 15
_UNKNOWN = Said("of a function that is gone", "", 0)
_LOCK = held_across_forks(RLock())


class Event(NamedTuple):
    """Something that was done, between two times in nanoseconds since recording began; calls say
    how many bytes all arrays `used` at their ends."""

    kind: str
    said: Said
    begin: int
    end: int
    thread: int
    used: int = 0


class Recording:
    """A context in which notes are taken. Contexts may lie in each other, or be those of several
    threads: each has all that was done meanwhile."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.threads: dict[int, str] = {}
        self._start = 0
        self._found: list[Event] = []

    def __enter__(self) -> "Recording":
        wait_for_all()
        with _LOCK, _stopped_without_any():
            _share()
            if not _OPEN:
                _begin()
            self._start, self._found = core().brimstone_clock(), []
            _OPEN.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        try:
            wait_for_all()
        finally:
            with _LOCK, _stopped_without_any():
                try:
                    _share()
                finally:
                    _OPEN.remove(self)
            self.threads = dict(NOTES.threads)
            start, self._found, found = self._start, [], self._found
            moved = [
                each._replace(begin=each.begin - start, end=each.end - start) for each in found
            ]
            self.events = sorted(moved, key=lambda event: event.begin)

    def add(self, events: Sequence[Event]) -> None:
        """Take what was done, with the times of the core's clock."""
        self._found += [each for each in events if each.begin >= self._start]


_OPEN: list[Recording] = []


def _share() -> None:
    """Hand what was done since the last time to all who record."""
    said = cache(_said)  # the rounds of a loop are many events of few actions
    found = [*[_event(each, said) for each in _taken()], *_notes()]
    for each in _OPEN:
        each.add(found)


def _event(record: Any, said: Callable[[int, int], Said]) -> Event:
    kind, about = CALL if record.action < 0 else KERNEL, said(record.script, record.action)
    return Event(kind, about, record.begin, record.end, record.thread, record.used)


def _said(script: int, action: int) -> Said:
    """What a call of a script is, or an action of it."""
    about = ABOUT.get(script)
    if about is None:
        return _UNKNOWN
    return Said(about.name, "", 0) if action < 0 else about.said(action)


def _notes() -> Iterator[Event]:
    shift = core().brimstone_clock() - monotonic_ns()
    made = [*NOTES.made]
    del NOTES.made[: len(made)]
    for name, lines, begin, end, thread in made:
        yield Event(HOST, Said(name, lines, 0), begin + shift, end + shift, thread)


def _begin() -> None:
    """Take notes from now on."""
    NOTES.begin()
    core().brimstone_record(1)


@contextmanager
def _stopped_without_any() -> Generator[None]:
    """Behind this no notes are taken, if nobody records; whatever happens in it."""
    try:
        yield
    finally:
        if not _OPEN:
            core().brimstone_record(0)
            NOTES.wanted = False


def _taken() -> Iterator[Any]:
    """What the core has written down so far: all of it is taken before anything is made of it, as
    other threads may have more written down meanwhile."""
    events = core().brimstone_events
    rooms: list[tuple[Any, int]] = []
    while count := events(room := ffi.new("brimstone_event[]", _AT_ONCE), _AT_ONCE):
        rooms.append((room, count))
    for room, count in rooms:
        yield from room[0:count]
