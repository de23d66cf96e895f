"""The host: the threads that kernels run on, and the memory that they use.

Comes in: how many threads there are to be; scripts, plans, shapes. Goes out: arrays, and what does
scripts and plans, without the GIL.
Never: an order among launches that are run at once; or a thread that waits for them and does not do
its share.
"""

import atexit
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..ir.errors import IRError
from ..ir.payloads import Array
from ..targets.cores import usable_cores
from ..targets.script import Form, Plan, Script
from ..targets.tape import Tape
from . import arrays, memory
from .native import core, ffi
from .patterns import Pattern
from .scripts import Prepared
from .streams import Streams, leave_behind

VARIABLE = "BRIMSTONE_THREADS"
MOST = 1024


class Host:
    """So many threads; those beside the caller are started when there is work for them."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._native = core().brimstone_new_threads(count)
        if not self._native:
            raise MemoryError("there is no memory for threads")
        self._streams = Streams(self._native)

    def prepared(self, script: Script) -> Callable[[Array, Array], Callable[[int], int]]:
        """From addresses and slots, which may change in between, to what does a script with them,
        from an action on: it returns the action to go on with after a look at signals; an error
        says which could not be done."""
        return Prepared(self._native, script)

    def pattern(self, plan: Plan, tape: Tape) -> Pattern:
        """What does a plan whose numbers are on a tape, where those that are given are others."""
        return Pattern(self._streams, plan, tape)

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

    def claim(self, bytes: int) -> None:
        """Fail where so many bytes of memory are not there."""
        memory.claim(bytes)

    def empty(self, shape: tuple[int, ...], storage: Any) -> Array:
        """An array whose contents nobody knows; its memory goes back when it dies."""
        return arrays.empty(shape, storage)

    def made(self, form: Form, shown: Form) -> tuple[arrays.Arrays, Array]:
        """An array of this form, whose contents nobody knows; and its memory, to write them, as an
        array of another form."""
        return arrays.made(form, shown)

    def copied(self, array: Array, storage: Any) -> arrays.Arrays:
        """A copy of a host array, row-major and aligned, of this dtype."""
        return arrays.copied(array, storage)

    def borrowed(self, array: Array) -> arrays.Arrays:
        """A host array, row-major and aligned, that nobody will change."""
        return arrays.borrowed(array)

    def failed(
        self, forms: Iterable[Form], error: IRError, handled: BaseException | None
    ) -> tuple[arrays.Arrays, ...]:
        """Arrays that could not be computed, for which there is an error, raised while another one
        was handled."""
        return arrays.failed(forms, error, handled)

    def are_sound(self, pieces: Sequence[Any]) -> bool:
        """Whether all are computed, or are to be in turn with what this thread asks for: none has
        failed, as far as is known, or is another thread's. Nobody is waited for."""
        return arrays.are_sound(self._streams.own, pieces)

    def joined(self, pieces: Sequence[Any]) -> arrays.Arrays:
        """All arrays of some pieces, held together."""
        return arrays.joined(pieces)

    def wait(self) -> None:
        """Return when all that this thread asked for is done."""
        try:
            while not core().brimstone_idle(self._streams.own):
                pass  # in between Python looks at signals
        except BaseException:
            leave_behind()
            raise
        arrays.drop_gone()
        arrays.take_back()


def threads_wanted() -> int:
    """As many as BRIMSTONE_THREADS says, else one for each core that this process may use."""
    wanted = os.environ.get(VARIABLE) or str(usable_cores())
    if not wanted.isdecimal() or not 1 <= int(wanted) <= MOST:
        raise ValueError(f"{VARIABLE} is {wanted!r}, no number from 1 to {MOST}")
    return int(wanted)


_SHARED: dict[str, Host] = {}
"""The host of all devices, by what says how large it is: of several, the one put here first."""


def shared_host() -> Host:
    """That of all devices."""
    found = _SHARED.get(VARIABLE)
    if found is None:
        found = _SHARED.setdefault(VARIABLE, Host(threads_wanted()))
        atexit.register(core().brimstone_stop)  # before machine code goes
    return found
