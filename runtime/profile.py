"""What was done when: kernels, calls of steps, and what Python did for them.

Comes in: nothing; the core and the host take notes while somebody records. Goes out: `Event`s.
Never: a program that is kept alive for what it could be asked.
"""

from collections.abc import Iterator
from threading import Lock
from time import monotonic_ns
from typing import Any, NamedTuple

from ..targets.notes import NOTES
from ..targets.script import Said
from .device import wait_for_all
from .native import core, ffi
from .scripts import ABOUT

KERNEL, CALL, HOST = "kernel", "call", "host"
"""Kinds of events. A call lasts from when it was asked for until its results are there."""
_AT_ONCE = 4096
_UNKNOWN = Said("of a function that is gone", "", 0)
_LOCK = Lock()


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
    """A context in which notes are taken; one at a time."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._start = self._shift = 0

    def __enter__(self) -> "Recording":
        wait_for_all()
        if not _LOCK.acquire(blocking=False):
            raise RuntimeError("a profile is being recorded already")
        try:
            self._begin()
        except BaseException:
            _stop()
            _LOCK.release()
            raise
        return self

    def _begin(self) -> None:
        list(_taken())
        NOTES.made.clear()
        self._start, self._shift = core().brimstone_clock(), monotonic_ns()
        NOTES.wanted = True
        core().brimstone_record(1)

    def __exit__(self, *error: object) -> None:
        try:
            wait_for_all()
        finally:
            try:
                self._end()
            finally:
                _LOCK.release()

    def _end(self) -> None:
        _stop()
        found = [*map(self._event, _taken()), *self._notes()]
        self.events = sorted(found, key=lambda event: event.begin)

    def _event(self, record: Any) -> Event:
        about = ABOUT.get(record.script)
        begin, end = record.begin - self._start, record.end - self._start
        if record.action < 0:
            said = Said(about.name, "", 0) if about else _UNKNOWN
            return Event(CALL, said, begin, end, record.thread, record.used)
        said = about.said(record.action) if about else _UNKNOWN
        return Event(KERNEL, said, begin, end, record.thread)

    def _notes(self) -> Iterator[Event]:
        for name, lines, begin, end, thread in NOTES.made:
            yield Event(HOST, Said(name, lines, 0), begin - self._shift, end - self._shift, thread)


def _stop() -> None:
    """Take no more notes."""
    core().brimstone_record(0)
    NOTES.wanted = False


def _taken() -> Iterator[Any]:
    """What the core has written down so far."""
    events = core().brimstone_events
    room: Any = ffi.new("brimstone_event[]", _AT_ONCE)
    while count := events(room, _AT_ONCE):
        yield from room[0:count]
