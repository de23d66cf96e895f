"""Steps that are one native call each.

Comes in: the record of a plan. Goes out: a `Call`, which hands arrays to the core and has those
that it makes at once, though they may still have to be computed.
Never: a plan that goes while the core runs it.
"""

from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from itertools import accumulate
from typing import Any, NamedTuple

from ..targets.script import Dealer, Form, NoMemory
from .arrays import Arrays, dropper, gone, lend
from .native import State, address_of, core, ffi
from .streams import Streams, leave_behind

_DEALT: Any = ffi.typeof("brimstone_arrays *[]")
"""What results are dealt to: to find the type by its name takes longer than to make one."""
_NONE: Any = ffi.NULL
_ENDING = deque[Any]()
"""Programs that nobody can call any more."""
_HELD: dict[int, Any] = {}
"""What programs need, by their addresses."""


class Fresh(NamedTuple):
    """A result: its form, and how many bytes of it are new memory."""

    form: Form
    bytes: int


class Call:
    """Called with arrays, in pieces: the arrays that a program makes of them."""

    __slots__ = ("__weakref__", "_dealers", "_program", "_results")

    def __init__(self, streams: Streams, record: Any, results: Sequence[Fresh], held: Any) -> None:
        end_programs()
        self._program, self._results = _Program(streams, record, held), results
        self._dealers: dict[tuple[int, ...], Dealer] = {}

    def __call__(
        self, pieces: Sequence[Sequence[Any]], counts: tuple[int, ...] | None = None
    ) -> Any:
        """The results, held together; with `counts`, a list of pieces that have so many each."""
        if counts is None:
            return self.dealer((len(self._results),))(*pieces)[0]
        return self.dealer(counts)(*pieces)

    def dealer(self, counts: tuple[int, ...]) -> Dealer:
        """What is called with the pieces one by one, and gives back those of so many each."""
        known = self._dealers.get(counts)
        if known is None:
            made = _dealer(self._program, _Deal(counts, self._results))
            known = self._dealers.setdefault(counts, made)
        return known


class _Program:
    """A program of the core, its record, the streams of the threads that call it, and how."""

    __slots__ = ("call", "native", "record", "streams")

    def __init__(self, streams: Streams, record: Any, held: Any) -> None:
        native = core().brimstone_new_program(record)
        if not native:
            raise MemoryError("there is no memory for a program")
        _HELD[address_of(native)] = record, held
        # What is called when it dies has no code of Python: an interrupt that came in it would be
        # lost, and with it what the core still reads.
        self.native = ffi.gc(native, _ENDING.append)
        self.record, self.streams = record, streams
        self.call = core().brimstone_call

    def insist(self, state: int, stream: Any, given: Sequence[Any], how: tuple[Any, ...]) -> None:
        """Call again until the stream takes the call; an error says why it does not."""
        while state == State.PENDING:
            while not core().brimstone_admit(stream, self.native):
                pass  # in between Python looks at signals
            state = self.call(stream, self.native, given, 0, len(given), *how)
        if state != State.READY:
            # For want of memory, unless one of them was donated before.
            for each in given:
                lend(each)
            record = self.record
            raise NoMemory(record.arena + sum(record.made[0 : record.made_count]))


class _Deal:
    """How results are dealt, so many to each in turn: as the core is told it, and what that needs;
    the forms of each, and what drops it; and where results were dealt to before, which holds none
    any more."""

    __slots__ = ("counts", "droppers", "forms", "native", "none", "spare")

    def __init__(self, counts: tuple[int, ...], results: Sequence[Fresh]) -> None:
        self.counts: Any = ffi.new("int64_t[]", counts)
        self.native: Any = ffi.new("brimstone_deal *", (self.counts, len(counts)))
        ends = zip(counts, accumulate(counts), strict=True)
        parts = [results[end - count : end] for count, end in ends]
        self.forms = [tuple([each.form for each in part]) for part in parts]
        self.droppers = [dropper(sum([each.bytes for each in part])) for part in parts]
        self.none, self.spare = [_NONE] * len(counts), list[Any]()


def _dealer(program: _Program, deal: _Deal) -> Dealer:
    """What a program makes of pieces, dealt; written out, as a call in Python costs as much as a
    kernel."""
    may_replace = program.record.replaced_count > 0

    def dealer(*pieces: Sequence[Any]) -> list[Any]:
        natives = gone()
        dropped = len(natives)
        for piece in pieces:
            if type(piece) is Arrays:  # `isinstance` asks an abstract class, which takes long
                natives.append(piece.native)
            elif len(piece) == 1:
                natives.append(piece[0].native)
            else:
                natives += [each.native for each in piece]
        given, stream = len(natives) - dropped, program.streams.own
        replaces = may_replace and len({*natives}) == len(natives)
        try:
            dealt = deal.spare.pop()
        except IndexError:  # at first, and while other threads have them
            dealt = ffi.new(_DEALT, deal.none)
        try:
            state = program.call(
                stream, program.native, natives, dropped, given, replaces, deal.native, dealt
            )
            if state != State.READY:
                program.insist(state, stream, natives[dropped:], (replaces, deal.native, dealt))
        except BaseException as problem:
            if not isinstance(problem, Exception):  # an interrupt
                _give_up(dealt)
            raise
        made = [*map(Arrays, map(ffi.gc, dealt, deal.droppers), deal.forms)]
        dealt[0 : len(made)] = deal.none
        deal.spare.append(dealt)
        return made

    return dealer


def _give_up(dealt: Any) -> None:
    """Drop what was dealt, which nobody else will ever have."""
    for part in dealt:
        core().brimstone_drop(part)
    leave_behind()


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
