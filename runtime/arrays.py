"""Arrays in memory of the native core, or in memory that it is lent.

Comes in: what the core made, or an array of the host. Goes out: `Arrays`, which one native call
hands on however many they are; and host arrays that show the memory.
Never: memory given back while somebody reads it, here or in the core.
"""

import os
from collections import deque
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
from .native import State, address_of, core, ffi, peek
from .scripts import error_of, raised, stopped
from .streams import leave_behind

_LENT: dict[int, Array] = {}
"""Arrays of others, by their tickets."""
_TICKETS = count(1)
_AT_ONCE = 64
_GONE = deque[Any]()
"""Arrays that nobody has any more, which the next call drops."""
_EACH_GONE = iter(_GONE.popleft, None)
_LARGE = 1 << 20
"""So many bytes are dropped at once."""
_FEW = 64
"""So many bytes are copied where somebody reads them."""
_TYPES = {"f": "float", "d": "double", "i": "int32_t", "l": "int64_t", "?": "_Bool"}
_POINTERS: dict[str, Any] = {char: ffi.typeof(f"{name} *") for char, name in _TYPES.items()}
"""By numpy's names of dtypes, how numbers are read without it."""


class Arrays(Sequence["Arrays"]):
    """Arrays that are held together, of these forms."""

    __slots__ = ("__weakref__", "forms", "native")

    def __init__(self, native: Any, forms: tuple[Form, ...]) -> None:
        self.native = native
        self.forms: tuple[Form, ...] = forms

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
        begin, end = chosen.start, chosen.start + len(chosen)
        forms = self.forms[begin:end]
        native = owned(bytes_of(forms), core().brimstone_part, self.native, begin, end)
        return Arrays(native, forms)

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
        there = peek()(address_of(native))
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
        return shown(native, address, form, read_only=True)

    def number(self) -> Any:
        """The only element of one that is alone, as Python has it, when it is computed."""
        pointer = _POINTERS.get(self.forms[0].storage.char)
        if pointer is not None and (there := peek()(address_of(self.native))):
            number: Any = ffi.cast(pointer, there)
            return number[0]
        return self.array().item()

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


def lend(native: Any) -> None:
    """Let nobody write to the memory of some arrays any more."""
    if not core().brimstone_lend(native):
        raise Donated


def owned(bytes: int, make: Callable[..., Any], *given: Any) -> Any:
    """Arrays that the core makes, of so many bytes, dropped when nobody has them any more.

    Python looks at signals behind a call: an interrupt between the one that makes them and the one
    that gives them an owner would lose them, so both are one.
    """
    made = next(map(ffi.gc, starmap(make, (given,)), (dropper(bytes),)))
    if not made:
        ffi.gc(made, None)
        raise NoMemory(bytes)
    return made


def dropper(bytes: int) -> Callable[[Any], None]:
    """What is told when nobody has arrays any more; so many bytes are likely to be had back then.

    A native call lets go of Python's lock, which then may go to another thread: of few bytes the
    next call is told, whatever it is for.
    """
    return _GONE.append if bytes < _LARGE else core().brimstone_drop


def bytes_of(forms: Iterable[Form]) -> int:
    """How many bytes arrays of these forms have."""
    return sum([form.size for form in forms])


def take_gone(taken: list[Any]) -> None:
    """Add those that nobody has to a list, of which the core is to be told, each once; the list is
    the caller's, so that an interrupt does not lose them."""
    try:  # noqa: SIM105 (to suppress it takes as long as all else here)
        taken.extend(islice(_EACH_GONE, len(_GONE)))
    except IndexError:  # another thread is at it, too
        pass


def leave_to_next(taken: list[Any]) -> None:
    """What was taken from those that nobody has, and the core was not told of."""
    _GONE.extend(taken)


def drop_gone() -> None:
    """Drop what nobody has any more."""
    if not _GONE:
        return
    taken: list[Any] = []
    is_told, drop_all = False, core().brimstone_drop_all
    try:
        take_gone(taken)
        number = len(taken)
        is_told = True
        drop_all(taken, number)
    except BaseException:
        if not is_told:
            leave_to_next(taken)
        raise


os.register_at_fork(before=drop_gone)  # which waits for all that somebody has


def shown(native: Any, address: Any, form: Form, read_only: bool) -> Array:
    """A host array on the memory of the first of some arrays, which lives as long."""
    # What holds the arrays has no code of Python: an interrupt that came in it would be lost.
    memory: Any = ffi.buffer(ffi.gc(address, partial(is_, native)), form.size)
    array = np.ndarray(form.shape, form.storage, memory)
    if read_only:
        array.flags.writeable = False
    return array


def empty(shape: tuple[int, ...], storage: Any) -> Array:
    """A host array in memory of the core, whose contents nobody knows."""
    native, form = _new(shape, storage)
    return shown(native, core().brimstone_address(native, 0), form, read_only=False)


def copied(array: Array, storage: Any) -> Arrays:
    """A copy of a host array in memory of the core, row-major and aligned."""
    native, form = _new(array.shape, storage)
    memory: Any = ffi.buffer(core().brimstone_address(native, 0), form.size)
    np.ndarray(form.shape, form.storage, memory)[...] = array
    return Arrays(native, (form,))


def _new(shape: tuple[int, ...], storage: Any) -> tuple[Any, Form]:
    """An array in memory of the core."""
    drop_gone()
    form = Form(shape, storage)
    return owned(form.size, core().brimstone_empty, form.size), form


def lent(array: Array) -> Arrays:
    """A host array, row-major and aligned, that nobody will change."""
    drop_gone()
    take_back()
    ticket, bytes = next(_TICKETS), array.nbytes
    _LENT[ticket] = array
    address = ffi.cast("void *", array.__array_interface__["data"][0])
    try:
        native = owned(bytes, core().brimstone_borrow, address, bytes, ticket)
    except NoMemory:
        del _LENT[ticket]
        raise
    return Arrays(native, (Form(array.shape, array.dtype),))


def failed(forms: Iterable[Form], error: IRError) -> tuple[Arrays, ...]:
    """Arrays that could not be computed, for which there is an error."""
    make, number = core().brimstone_failed, raised(error)
    return tuple([Arrays(owned(form.size, make, form.size, number), (form,)) for form in forms])


def are_sound(stream: Any, pieces: Sequence[Arrays]) -> bool:
    """Whether all are computed, or are to be on a stream; nobody is waited for."""
    natives = [each.native for each in pieces]
    return bool(core().brimstone_are_sound(stream, natives, len(natives)))


def joined(pieces: Sequence[Arrays]) -> Arrays:
    """All arrays of some pieces, which others hold, too."""
    forms = tuple([form for each in pieces for form in each.forms])
    natives = [each.native for each in pieces]
    return Arrays(owned(bytes_of(forms), core().brimstone_join, natives, len(natives)), forms)


def take_back() -> None:
    """Let go of what was lent and is not used any more."""
    if not _returned()[0]:
        return
    tickets: Any = ffi.new("int64_t[]", _AT_ONCE)
    try:
        while core().brimstone_returned(tickets, _AT_ONCE):
            _end_loans(tickets)
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
