"""The threads that kernels run on.

Comes in: how many there are to be, and scripts. Goes out: what does a script in one native call,
without the GIL.
Never: an order among launches that are run at once; or a thread that waits for them and does not do
its share.
"""

import os
from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Any

from ..ir.payloads import Array
from ..targets.cores import usable_cores
from ..targets.script import Kind, Launch, Script
from .native import core, ffi

VARIABLE = "BRIMSTONE_THREADS"
MOST = 1024
_from_buffer: Any = ffi.from_buffer


class Threads:
    """So many threads; those beside the caller are started when there is work for them."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._native = core().brimstone_new_threads(count)
        if not self._native:
            raise MemoryError("there is no memory for threads")

    def prepared(self, script: Script) -> Callable[[Array, Array], Callable[[int], int]]:
        """From addresses and slots, which may change in between, to what does a script with them,
        from an action on: it returns the action to go on with after a look at signals, or -1 less
        the one for which there was no memory."""
        return _Prepared(self._native, script)

    def pack(self, alive: Iterable[tuple[int, int, int]]) -> tuple[list[int], int]:
        """Where to put arrays, of which each is alive from one position to another one and has so
        many bytes; and how many bytes that takes."""
        listed = [(*each, 0) for each in alive]
        intervals: Any = ffi.new("brimstone_interval[]", listed)
        total = core().brimstone_pack(intervals, len(listed))
        if total < 0:
            bytes_ = sum(size for *_, size, _ in listed)
            raise MemoryError(f"there is no memory for {len(listed)} arrays of {bytes_} bytes")
        return [each.offset for each in intervals], total


class _Prepared:
    """A script as the native core has it."""

    __slots__ = ("_held", "_native", "_script")

    def __init__(self, native: Any, script: Script) -> None:
        self._native = native
        launches: Any = ffi.new("brimstone_launch[]", len(script.launches))
        places: Any = ffi.new("brimstone_place[]", script.places)
        actions: Any = ffi.new("brimstone_action[]", script.actions)
        self._held = [launches, places, actions]
        for record, launch in zip(launches, script.launches, strict=True):
            self._held.append(_record(record, launch))
        for kind, first, count, _ in script.actions:
            if kind in (Kind.SHARE, Kind.ALONE):
                _number_chunks(launches[first : first + count])
        counts = len(script.places), len(script.actions)
        self._script: Any = ffi.new("brimstone_script *", (places, actions, launches, *counts))

    def __call__(self, addresses: Array, slots: Array) -> Callable[[int], int]:
        """What does it with these."""
        given: list[Any] = [_from_buffer("uint64_t[]", each) for each in (addresses, slots)]
        return partial(_run, self, core().brimstone_run, self._native, self._script, *given)


def _run(_: _Prepared, run: Callable[..., int], *given: Any) -> int:
    """Do a script, which is there for as long as this may be called."""
    return run(*given)


def _record(record: Any, launch: Launch) -> Any:
    """Write down a launch; what this returns must live as long as the record does."""
    offsets: Any = ffi.new("int64_t[]", launch.scratch)
    record.code = ffi.cast("brimstone_kernel", launch.code)
    record.scratch_offsets, record.scratch_count = offsets, len(launch.scratch)
    record.room, record.slot, record.slot_count = launch.room, launch.slot, launch.slot_count
    record.grid, record.axis, record.chunks = launch.grid, launch.axis, launch.chunks
    return offsets


def _number_chunks(records: Any) -> None:
    """Count the chunks of launches that are run at once."""
    first = 0
    for record in records:
        record.first = first
        first += record.chunks


@cache
def shared_threads() -> Threads:
    """Those of all devices: as many as BRIMSTONE_THREADS says, else one for each core that this
    process may use."""
    wanted = os.environ.get(VARIABLE) or str(usable_cores())
    if not wanted.isdecimal() or not 1 <= int(wanted) <= MOST:
        raise ValueError(f"{VARIABLE} is {wanted!r}, no number from 1 to {MOST}")
    return Threads(int(wanted))
