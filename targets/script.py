"""What the host of a CPU does in one call: launches of machine code, copies, fills.

Comes in: addresses of memory, from whoever has it. Goes out: memory that has changed.
Never: Python in between.
"""

from collections.abc import Callable, Iterable
from enum import IntEnum
from typing import NamedTuple, Protocol

from ..ir.payloads import Array


class Launch(NamedTuple):
    """One launch of machine code, in so many chunks of programs along an axis of its grid, with
    `slot_count` slots from number `slot` on. `scratch` says where in a `room` of so many bytes
    begins what further slots, behind these, stand for."""

    code: int
    slot: int
    slot_count: int
    grid: tuple[int, int, int]
    axis: int = 0
    chunks: int = 1
    scratch: tuple[int, ...] = ()
    room: int = 0


class Kind(IntEnum):
    """What an action does: `SHARE` and `ALONE` run launches at once, on all threads or on one;
    `COPY` copies bytes, `FILL` repeats an element."""

    SHARE, ALONE, COPY, FILL = range(4)


class Act(NamedTuple):
    """An action on so many launches from number `first` on, of `size` 0 if they take little time;
    or on so many bytes to be copied, or elements of `size` bytes to be filled, whose address is in
    slot `first`. The next slots have the address to copy from, or the element."""

    kind: Kind
    first: int
    number: int
    size: int = 0


class Place(NamedTuple):
    """A slot that holds an address: that of this number, and `offset` bytes more."""

    slot: int
    address: int
    offset: int


class Script(NamedTuple):
    """What is done in one call, in order; launches are those of the actions."""

    places: list[Place]
    launches: list[Launch]
    actions: list[Act]


class Threads(Protocol):
    """What kernels run on."""

    count: int

    def prepared(self, script: Script) -> Callable[[Array, Array], Callable[[int], int]]:
        """From addresses and slots, which may change in between, to what does a script with them,
        from an action on: it returns the action to go on with after a look at signals, or -1 less
        the one for which there was no memory."""
        ...

    def pack(self, alive: Iterable[tuple[int, int, int]]) -> tuple[list[int], int]:
        """Where to put arrays, of which each is alive from one position to another one and has so
        many bytes; and how many bytes that takes."""
        ...
