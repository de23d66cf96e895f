"""Steps that are one native call each.

Comes in: the record of a plan. Goes out: a `Call`, which hands arrays to the core and has those
that it makes at once, though they may still have to be computed.
Never: a plan that goes while the core runs it.
"""

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import accumulate
from typing import Any, NamedTuple

from ..targets.script import Form, NoMemory
from .arrays import Arrays, dropper, gone, lend
from .native import State, address_of, call_briefly, core, ffi
from .streams import Streams, leave_behind

_DEALT: Any = ffi.typeof("brimstone_arrays *[]")
"""What results are dealt to: to find the type by its name takes longer than to make one."""
_NONE: Any = ffi.NULL
_ENDING = deque[Any]()
"""Programs that nobody can call any more."""
_HELD: dict[int, Any] = {}
"""What programs need, by their addresses."""


class _Deal(NamedTuple):
    """How results are dealt: as the core is told it, and what that needs; the forms of each, and
    what drops it; and what results were dealt to before, which holds none any more."""

    native: Any
    counts: Any
    forms: list[tuple[Form, ...]]
    droppers: list[Callable[[Any], None]]
    spare: list[Any]

    def room(self) -> Any:
        """Where results are dealt to."""
        if self.spare:
            try:
                return self.spare.pop()
            except IndexError:  # another thread was quicker
                pass
        return ffi.new(_DEALT, len(self.forms))

    def held(self, dealt: Any) -> list[Arrays]:
        """All that was dealt, which somebody has from now on."""
        return [*map(Arrays, map(ffi.gc, dealt, self.droppers), self.forms)]


class Fresh(NamedTuple):
    """A result: its form, and how many bytes of it are new memory."""

    form: Form
    bytes: int


class Call:
    """Called with arrays, in pieces: the arrays that a program makes of them."""

    __slots__ = (
        "__weakref__", "_call", "_deals", "_forms", "_fresh", "_is_brief", "_native", "_record",
        "_replaces", "_streams",
    )  # fmt: skip

    def __init__(self, streams: Streams, record: Any, results: Sequence[Fresh], held: Any) -> None:
        end_programs()
        native = core().brimstone_new_program(record)
        if not native:
            raise MemoryError("there is no memory for a program")
        _HELD[address_of(native)] = record, held
        # What is called when it dies has no code of Python: an interrupt that came in it would be
        # lost, and with it what the core still reads.
        self._native = ffi.gc(native, _ENDING.append)
        self._call, self._is_brief = core().brimstone_call, False
        self._replaces, self._record = record.replaced_count > 0, record
        self._forms = tuple([each.form for each in results])
        self._fresh = [each.bytes for each in results]
        self._deals: dict[tuple[int, ...] | None, _Deal] = {}
        self._streams = streams

    def __call__(
        self, pieces: Sequence[Sequence[Any]], counts: tuple[int, ...] | None = None
    ) -> Any:
        """The results, held together; with `counts`, a list of pieces that have so many each."""
        natives = gone()
        dropped = len(natives)
        for piece in pieces:
            if type(piece) is Arrays:  # `isinstance` asks an abstract class, which takes long
                natives.append(piece.native)
            elif len(piece) == 1:
                natives.append(piece[0].native)
            else:
                natives += [each.native for each in piece]
        deal = self._deals.get(counts) or self._deal(counts)
        dealt = deal.room()
        replaces = self._replaces and len({*natives}) == len(natives)
        stream, given = self._streams.own, len(natives) - dropped
        try:
            call = call_briefly if self._is_brief else self._call
            state = call(
                stream, self._native, natives, dropped, given, replaces, deal.native, dealt
            )
            self._is_brief = state == State.BRIEF
            if state != State.READY and not self._is_brief:
                how = given, replaces, deal.native, dealt
                self._insist(state, stream, natives[dropped:], how)
        except Exception:
            raise
        except BaseException:  # an interrupt: nobody else will ever have what was dealt already
            for part in dealt:
                core().brimstone_drop(part)
            leave_behind()
            raise
        if len(deal.forms) != 1:
            return deal.held(dealt)
        made = Arrays(ffi.gc(dealt[0], deal.droppers[0]), deal.forms[0])
        dealt[0] = _NONE
        deal.spare.append(dealt)
        return made if counts is None else [made]

    def _insist(self, state: int, stream: Any, given: Sequence[Any], how: tuple[Any, ...]) -> None:
        """Call again until the stream takes the call; an error says why it does not."""
        while state == State.PENDING:
            while not core().brimstone_admit(stream, self._native):
                pass  # in between Python looks at signals
            state = self._call(stream, self._native, given, 0, *how)
        if state not in (State.READY, State.BRIEF):
            # For want of memory, unless one of them was donated before.
            for each in given:
                lend(each)
            record = self._record
            raise NoMemory(record.arena + sum(record.made[0 : record.made_count]))

    def _deal(self, counts: tuple[int, ...] | None) -> _Deal:
        """How to deal so many to each; or all to one."""
        known = (len(self._forms),) if counts is None else counts
        ends = zip(known, accumulate(known), strict=True)
        places = [slice(end - count, end) for count, end in ends]
        forms = [self._forms[each] for each in places]
        droppers = [dropper(sum(self._fresh[each])) for each in places]
        listed: Any = ffi.new("int64_t[]", known)
        native: Any = ffi.new("brimstone_deal *", (listed, len(known)))
        made = _Deal(native, listed, forms, droppers, [])
        return self._deals.setdefault(counts, made)


def end_programs() -> None:
    """Let go of programs that nobody can call any more, but of those that are still to run."""
    for _ in range(len(_ENDING)):
        with suppress(IndexError):  # another thread is at it, too
            native = _ENDING.popleft()
            address = address_of(native)
            held = _HELD.pop(address)
            if not core().brimstone_end_program(native):
                _HELD[address] = held
                _ENDING.append(native)
