"""Ops of a step that the native core does in one call.

Comes in: native ops in the order of a step, where sizes are known. Goes out: a `Segment`: an action
that does all of them, again and again.
Never: what the ops mean for memory and slots; `outline` and `writing` say that once.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...ir import step
from ...ir.payloads import Array
from ...ir.values import AnyValue, Op
from .actions import Memory
from .kernel import bits_of, is_buffer
from .load import FFI
from .outline import ARENA, outline_of
from .writing import Writing

if TYPE_CHECKING:
    from .preparation import Preparation

FROM_BUFFER: Any = FFI.from_buffer
BYTES = np.dtype(np.uint8)
LITTLE = 1 << 16
"""Arrays of so many bytes are not worth the time that it takes to let go of them in each round."""


class Room(NamedTuple):
    """What one call needs for itself: the addresses as numbers and as pointers, the slots, and what
    does the script with them."""

    addresses: Array
    pointers: Any
    slots: Array
    run: Callable[[int], int]


class Segment:
    """Called with what stands for each value of the step."""

    __slots__ = (
        "_about", "_addresses", "_arena", "_buffers", "_free", "_gone", "_host", "_made",
        "_prepared", "_scalars", "_slots", "_views",
    )  # fmt: skip

    def __init__(self, preparation: "Preparation", ops: Sequence[Op]) -> None:
        outline = outline_of(preparation.flow, ops)
        written = Writing(preparation, outline)
        self._arena, self._about, self._views = written.arena, written.about, written.views
        is_kept = partial(_is_kept, preparation)
        gone = [value for value in outline.gone if not is_kept(value)]
        made = [value for value in outline.made if value not in preparation.own]
        self._gone = [preparation.place(value) for value in gone]
        self._made = [
            (preparation.place(value), *preparation.form(value), is_kept(value)) for value in made
        ]
        self._scalars = [(slot, preparation.place(value)) for slot, value in outline.scalars]
        self._slots = np.array(written.slots, np.uint64)
        self._buffers, self._addresses = list[tuple[int, int]](), list[tuple[int, int]]()
        for value, number in outline.addresses.items():
            known = self._buffers if is_buffer(value.dtype.storage) else self._addresses
            known.append((number, preparation.place(value)))
        self._host, self._free = preparation.host, list[Room]()
        self._prepared = preparation.host.prepared(written.script)

    def __call__(self, memory: Memory) -> None:
        """Do all ops."""
        empty = self._host.empty
        for place, shape, storage, is_kept in self._made:
            if not is_kept or memory[place] is None:
                memory[place] = empty(shape, storage)
        if self._about:
            self._run(memory)
        for place in self._gone:
            memory[place] = None
        for view in self._views:
            view(memory)

    def _run(self, memory: Memory) -> None:
        """Have the core do the script."""
        room, arena = self._room(), None
        addresses, pointers, slots, run = room
        for number, place in self._buffers:
            pointers[number] = FROM_BUFFER(memory[place])
        for number, place in self._addresses:
            addresses[number] = memory[place].__array_interface__["data"][0]
        for slot, place in self._scalars:
            slots[slot] = bits_of(memory[place])
        if self._arena:
            arena = self._host.empty((self._arena,), BYTES)
            pointers[ARENA] = FROM_BUFFER(arena)
        done = 0
        while done < len(self._about):  # in between Python looks at signals
            done = run(done)
        del arena  # not before
        self._free.append(room)

    def _room(self) -> Room:
        """Taken from the list and put back, so that no two threads have the same slots."""
        try:
            return self._free.pop()
        except IndexError:
            pass
        count = 1 + len(self._buffers) + len(self._addresses)
        addresses, slots = np.zeros(count, np.uint64), self._slots.copy()
        pointers: Any = FFI.cast("void **", FROM_BUFFER(addresses))
        return Room(addresses, pointers, slots, self._prepared(addresses, slots))


def _is_kept(preparation: "Preparation", value: AnyValue) -> bool:
    """Whether an array that is let go of is there for the next round: it is little, and each round
    of a loop makes it and lets go of it."""
    op = value.op
    if op is None or op.block is None or op.block is preparation.main.body:
        return False
    frees = [use for use in value.uses if isinstance(use, step.Free) and use.block is op.block]
    return bool(frees) and preparation.layout(value).bytes <= LITTLE
