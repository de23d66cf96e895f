"""Steps that are one native call each.

Comes in: the record of a plan. Goes out: a `Call`, which hands arrays to the core and has those
that it makes at once, though they may still have to be computed.
Never: a plan that goes while the core runs it; what the core made and nobody has.
"""

from collections.abc import Sequence
from functools import partial
from itertools import accumulate, count
from typing import Any, NamedTuple

from ..targets.script import Dealer, Form, NoMemory
from .arrays import Arrays, dropper, leave_to_next, lend, take_gone
from .native import State, core, ffi
from .streams import Streams, leave_behind

_DEALT: Any = ffi.typeof("brimstone_arrays *[]")
"""What results are dealt to: to find the type by its name takes longer than to make one."""
_NONE: Any = ffi.NULL
_NUMBERS = count(1)
_ENDING: dict[int, Any] = {}
"""Programs that nobody can call any more, by their numbers."""
_HELD: dict[int, Any] = {}
"""What programs need, by their numbers, until the core has ended them."""


class Fresh(NamedTuple):
    """A result: its form, and how many bytes of memory it may be the first to have."""

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
        number = next(_NUMBERS)
        _HELD[number] = record, held
        # What is called when it dies has no code of Python: an interrupt that came in it would be
        # lost, and with it what the core still reads.
        self.native = ffi.gc(native, partial(_ENDING.__setitem__, number))
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
    to how many; the forms of each, and what drops it; and where results were dealt to before, which
    holds none any more."""

    __slots__ = ("counts", "droppers", "forms", "native", "none", "number", "spare")

    def __init__(self, counts: tuple[int, ...], results: Sequence[Fresh]) -> None:
        self.number = len(counts)
        self.counts: Any = ffi.new("int64_t[]", counts)
        self.native: Any = ffi.new("brimstone_deal *", (self.counts, self.number))
        ends = zip(counts, accumulate(counts), strict=True)
        parts = [results[end - count : end] for count, end in ends]
        self.forms = [tuple([each.form for each in part]) for part in parts]
        self.droppers = [dropper(sum([each.bytes for each in part])) for part in parts]
        self.none, self.spare = [_NONE] * len(counts), list[Any]()


def _dealer(program: _Program, deal: _Deal) -> Dealer:
    """What a program makes of pieces, dealt; written out, as a call in Python costs as much as a
    kernel.

    Python looks at signals behind a call, so an interrupt may be raised behind each of them. There
    is none from where it is noted that the core is told to where it is, nor from where the results
    have owners to where nobody else has them.
    """
    may_replace = program.record.replaced_count > 0

    def dealer(*pieces: Sequence[Any]) -> list[Any]:
        given: list[Any] = []
        for piece in pieces:
            if type(piece) is Arrays:  # `isinstance` asks an abstract class, which takes long
                given.append(piece.native)
            elif len(piece) == 1:
                given.append(piece[0].native)
            else:
                given += [each.native for each in piece]
        asked, stream = len(given), program.streams.own
        replaces = may_replace and len({*given}) == asked  # who is given twice is still read
        try:
            dealt = deal.spare.pop()
        except IndexError:  # at first, and while other threads have them
            dealt = ffi.new(_DEALT, deal.none)
        is_told = False
        dropped: list[Any] = []
        try:
            take_gone(dropped)
            all_of_them, gone = [*dropped, *given], len(dropped)
            is_told = True
            state = program.call(
                stream, program.native, all_of_them, gone, asked, replaces, deal.native, dealt
            )
            if state != State.READY:
                program.insist(state, stream, given, (replaces, deal.native, dealt))
            natives = [*map(ffi.gc, dealt, deal.droppers)]
            dealt[0 : deal.number] = deal.none
        except BaseException as problem:
            _mend(problem, is_told, dropped, dealt)
            raise
        made = [*map(Arrays, natives, deal.forms)]
        deal.spare.append(dealt)
        return made

    return dealer


def _mend(problem: BaseException, is_told: bool, dropped: list[Any], dealt: Any) -> None:
    """After what went wrong in a call, leave nothing that nobody has."""
    if not is_told:
        leave_to_next(dropped)
    elif not isinstance(problem, Exception):  # an interrupt
        for part in dealt:
            core().brimstone_drop(part)
        leave_behind()


def end_programs() -> None:
    """Let go of programs that nobody can call any more, but of those that are still to run."""
    for number in [*_ENDING]:
        native = _ENDING.pop(number, None)
        if native is None:  # another thread is at it, too
            continue
        if core().brimstone_end_program(native):
            del _HELD[number]
        else:
            _ENDING[number] = native
