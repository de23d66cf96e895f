"""Arrays in memory of the native core, or in memory that it is lent.

Comes in: what the core made, or an array of the host. Goes out: `Arrays`, which one native call
hands on however many they are; and host arrays that show the memory.
Never: memory given back while somebody reads it, here or in the core.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from itertools import count, islice, starmap
from operator import is_
from threading import current_thread, main_thread
from typing import Any, NamedTuple, overload

import numpy as np

from ..ir.errors import IRError
from ..ir.payloads import Array
from ..targets.script import Donated, Form, NoMemory
from .held import Held
from .native import ADDRESS, State, address_of, core, ffi
from .scripts import error_of, raised, stopped
from .streams import leave_behind

_LENT: dict[int, Array] = {}
"""Arrays of others, by their tickets."""
_TICKETS = count(1)
_AT_ONCE = 64
_FEW = 64
"""So many bytes are copied where somebody reads them."""
_ARRAYS: Any = ffi.typeof("brimstone_arrays *")
"""As the functions of the core take arrays."""


class Arrays(Held, Sequence["Arrays"]):
    """Arrays that are held together, each of its form."""

    __slots__ = ("__weakref__",)

    @property
    def native(self) -> Any:
        """As functions of the core take them, for as long as these are held."""
        return ffi.cast(_ARRAYS, self.address)

    def __len__(self) -> int:
        return len(self.forms)

    @overload
    def __getitem__(self, place: int) -> "Arrays": ...

    @overload
    def __getitem__(self, place: slice) -> "Arrays": ...

    def __getitem__(self, place: int | slice) -> "Arrays":
        chosen = range(len(self.forms))[place]
        if isinstance(chosen, int):
            chosen = range(chosen, chosen + 1)
        if chosen.step != 1:
            return joined([self[each] for each in chosen])
        begin, end = chosen.start, chosen.start + len(chosen)
        forms = self.forms[begin:end]
        return owned(forms, core().brimstone_part, self.native, begin, end)

    def wait(self) -> None:
        """Return when all are computed; an error says why one could not be."""
        wait, native = core().brimstone_wait, self.native
        try:
            while (state := wait(native)) == State.PENDING or _is_lost(state):
                pass  # in between Python looks at signals
        except BaseException:
            leave_behind()
            raise
        if state != State.READY:
            raise self._error(state)
        take_back()

    def array(self) -> Array:
        """The contents, which nobody may change, of one that is alone, when it is computed."""
        native, (form,) = self.native, self.forms
        there = self.there()
        try:
            address = ffi.cast("void *", there) if there else core().brimstone_read(native)
            is_theirs = address or core().brimstone_lend(native)
        except BaseException:  # an interrupt, in whichever of the two
            leave_behind()
            raise
        if address:
            take_back()
        elif not is_theirs:
            raise Donated
        else:
            self.wait()
            address = core().brimstone_address(native, 0)
        size = form.size
        if size <= _FEW:  # they are copied sooner than somebody holds their memory
            few: Any = ffi.buffer(address, size)
            return np.ndarray(form.shape, form.storage, few[:])
        return shown(self, address, form, read_only=True)

    def addresses(self) -> list[int]:
        """Where the memory of each begins, computed or not."""
        address, native = core().brimstone_address, self.native
        places = [address(native, place) for place in range(len(self.forms))]
        return [address_of(each) for each in places]

    def _error(self, state: int) -> Exception:
        if state == State.STOPPED:
            return stopped()
        return error_of(core().brimstone_why(self.native))


def _is_lost(state: int) -> bool:
    """Whether this thread ends where it waits, since the process does, and the main thread goes on
    to the end."""
    return state == State.STOPPED and current_thread() is not main_thread()


def forbid_writing(native: Any) -> None:
    """Let nobody write to the memory of some arrays any more."""
    if not core().brimstone_lend(native):
        raise Donated


def owned(forms: tuple[Form, ...], make: Callable[..., Any], *given: Any) -> Arrays:
    """Arrays that a function of the core makes.

    Python looks at signals behind a call: an interrupt between the one that makes them and the one
    that gives them an owner would lose them, so all are one.
    """
    size = bytes_of(forms)
    addresses = map(int, map(ffi.cast, (ADDRESS,), starmap(make, (given,))))
    made = next(map(Arrays, addresses, (forms,), (size,)))
    if not made.address:
        raise NoMemory(size)
    return made


def bytes_of(forms: Iterable[Form]) -> int:
    """How many bytes arrays of these forms have."""
    return sum([form.size for form in forms])


drop_gone = Held.drop_gone
"""Drop what nobody has any more."""
os.register_at_fork(before=drop_gone)  # a fork waits for all results that somebody has


def shown(arrays: Arrays, address: Any, form: Form, read_only: bool) -> Array:
    """A host array on the memory of one that is alone, which lives as long."""
    # What holds the arrays has no code of Python: an interrupt that came in it would be lost.
    memory: Any = ffi.buffer(ffi.gc(address, partial(is_, arrays)), form.size)
    array = np.ndarray(form.shape, form.storage, memory)
    if read_only:
        array.flags.writeable = False
    return array


def empty(shape: tuple[int, ...], storage: Any) -> Array:
    """A host array in memory of the core, whose contents nobody knows."""
    form = Form(shape, storage)
    return made(form, form)[1]


def made(form: Form, kept: Form) -> tuple[Arrays, Array]:
    """An array of this form, whose contents nobody knows; and its memory, to write them, as an
    array of another form."""
    new = _new(form)
    return new, shown(new, core().brimstone_address(new.native, 0), kept, read_only=False)


def copied(array: Array, storage: Any) -> Arrays:
    """A copy of a host array in memory of the core, row-major and aligned."""
    form = Form(array.shape, storage)
    new = _new(form)
    memory: Any = ffi.buffer(core().brimstone_address(new.native, 0), form.size)
    np.ndarray(form.shape, form.storage, memory)[...] = array
    return new


def _new(form: Form) -> Arrays:
    """An array in memory of the core."""
    drop_gone()
    return owned((form,), core().brimstone_empty, form.size)


def borrowed(array: Array) -> Arrays:
    """A host array, row-major and aligned, that nobody will change."""
    drop_gone()
    take_back()
    ticket, bytes = next(_TICKETS), array.nbytes
    try:
        _LENT[ticket] = array
        address = ffi.cast("void *", array.__array_interface__["data"][0])
        form = Form(array.shape, array.dtype)
        return owned((form,), core().brimstone_borrow, address, bytes, ticket)
    except BaseException:  # an interrupt, too; then the ticket may still come back
        _LENT.pop(ticket, None)
        raise


def failed(
    forms: Iterable[Form], error: IRError, handled: BaseException | None
) -> tuple[Arrays, ...]:
    """Arrays that could not be computed, for which there is an error, raised while another one was
    handled."""
    make, number = core().brimstone_failed, raised(error, handled)
    return tuple([owned((form,), make, form.size, number) for form in forms])


def are_sound(stream: Any, pieces: Sequence[Arrays]) -> bool:
    """Whether all are computed, or are to be on a stream; nobody is waited for."""
    natives = [each.native for each in pieces]
    return bool(core().brimstone_are_sound(stream, natives, len(natives)))


def joined(pieces: Sequence[Arrays]) -> Arrays:
    """All arrays of some pieces, which others hold, too."""
    forms = tuple([form for each in pieces for form in each.forms])
    natives = [each.native for each in pieces]
    return owned(forms, core().brimstone_join, natives, len(natives))


def take_back() -> None:
    """Let go of what was lent and is not used any more."""
    if not _returned()[0]:
        return
    tickets: Any = ffi.new("int64_t[]", _AT_ONCE)
    try:
        while count := core().brimstone_returned(tickets, _AT_ONCE):
            _end_loans(islice(tickets, count))
    except BaseException:  # an interrupt, and there may be tickets that nobody has looked at
        _end_loans(tickets)
        raise


def _end_loans(tickets: Iterable[int]) -> None:
    """Let go of what has one of these tickets; there may be old ones among them, or none."""
    for ticket in tickets:
        _LENT.pop(ticket, None)


@cache
def _returned() -> Any:
    """Where the core says whether something is not used any more; it takes no call to look."""
    return core().brimstone_are_returned()


class Use(NamedTuple):
    """Bytes of memory: used, the most that were used at once, kept for arrays to come, and how many
    are kept at most; and how often the system was asked for some."""

    used: int
    most_used: int
    kept: int
    kept_at_most: int
    asked: int


def use() -> Use:
    """What the core's arrays use now."""
    drop_gone()
    found: Any = core().brimstone_memory()
    return Use(found.used, found.most_used, found.kept, found.kept_at_most, found.asked)
