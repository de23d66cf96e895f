"""The streams of this process's threads: what each asked for, done in order.

Comes in: threads of the native core. Goes out: for each Python thread a stream of its own.
Never: work that is lost: what a stream was asked for is done even when its thread has ended, as
long as somebody holds a result.
"""

from threading import local
from typing import Any
from weakref import WeakSet

from ..targets.notes import NOTES
from .native import address_of, core, owned


class Streams(local):
    """The stream of each thread, as `own`, and where that is, as `address`."""

    def __init__(self, threads: Any) -> None:
        self._threads = threads
        self.renew()
        _ALL.add(self)
        NOTES.name_thread()

    def renew(self) -> None:
        """Go on with another stream; the one that this thread had does what is still wanted."""
        own = owned(core().brimstone_close_stream, core().brimstone_open_stream, self._threads)
        if not own:
            raise MemoryError("there is no memory for a thread's stream")
        address = address_of(own)
        self.own: Any
        self.own, self.address = own, address  # both or none, whenever somebody interrupts it


class _Interruptible:
    """A context of what may take long: if somebody interrupts it, what this thread asks for next
    does not wait for what it asked for before."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        if kind is not None and not issubclass(kind, Exception):
            leave_behind()


INTERRUPTIBLE = _Interruptible()
_ALL = WeakSet[Streams]()


def leave_behind() -> None:
    """Let what this thread asks for next not wait for what it asked for before: somebody has
    interrupted it."""
    for streams in list(_ALL):
        streams.renew()
