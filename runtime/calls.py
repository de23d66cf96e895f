"""Steps that are one native call each.

Comes in: the record of a plan. Goes out: a `Call`, which hands arrays to the core and has those
that it makes at once, though they may still have to be computed.
Never: a plan that goes while the core runs it; what the core made and nobody has.
"""

from collections import deque
from collections.abc import Sequence
from functools import partial
from itertools import accumulate, compress
from threading import Lock
from typing import Any

from ..passes.forks import held_across_forks
from ..targets.script import Form, NoMemory
from .arrays import Arrays, bytes_of, forbid_writing
from .held import Dealer
from .native import Outcome, address_of, core, owned
from .streams import INTERRUPTIBLE, Streams


class _Needs:
    """What a program needs until the core has ended it."""

    __slots__ = ("held", "record")

    def __init__(self, record: Any, held: Any) -> None:
        self.record, self.held = record, held


_ENDING: dict[_Needs, Any] = {}
"""Programs that nobody can call any more, by what they need."""
_TURN = held_across_forks(Lock())
"""Of who ends them."""


class Call:
    """Called with arrays, in pieces: the arrays that a program makes of them."""

    __slots__ = ("__weakref__", "_dealers", "_program", "_results")

    def __init__(self, streams: Streams, record: Any, results: Sequence[Form], held: Any) -> None:
        end_programs()
        self._program, self._results = _Program(streams, record, held), results
        self._dealers: dict[tuple[int, ...], Dealer] = {}

    def __call__(
        self, pieces: Sequence[Sequence[Any]], counts: tuple[int, ...] | None = None
    ) -> Any:
        """The results, held together; with `counts`, a list of pieces that have so many each."""
        with INTERRUPTIBLE:
            if counts is None:
                return self.dealer((len(self._results),))(*pieces)[0]
            return self.dealer(counts)(*pieces)

    def dealer(self, counts: tuple[int, ...]) -> Dealer:
        """What is called with the pieces one by one, and gives back those of so many each."""
        known = self._dealers.get(counts)
        if known is None:
            made = self._program.dealer(counts, self._results)
            known = self._dealers.setdefault(counts, made)
        return known


class _Program:
    """A program of the core, its record, and the streams of the threads that call it."""

    __slots__ = ("native", "record", "streams")

    def __init__(self, streams: Streams, record: Any, held: Any) -> None:
        # What is called when it dies has no code of Python: an interrupt that came in it would be
        # lost, and with it what the core still reads.
        end = partial(_ENDING.__setitem__, _Needs(record, held))
        self.native = owned(end, core().brimstone_new_program, record)
        if not self.native:
            raise MemoryError("there is no memory for a program")
        self.record, self.streams = record, streams

    def dealer(self, counts: tuple[int, ...], results: Sequence[Form]) -> Dealer:
        """What deals the results, so many to each in turn."""
        ends = zip(counts, accumulate(counts), strict=True)
        parts = [results[end - count : end] for count, end in ends]
        told = [(tuple(part), bytes_of(part)) for part in parts]
        replaces = self.record.replaced_count > 0
        address = address_of(self.native)
        return Dealer(address, replaces, self.streams, self.insist, Arrays, told)

    def insist(self, dealer: Dealer, outcome: int, pieces: Sequence[Any]) -> list[Any]:
        """Call again when the stream takes the call; an error says why it does not."""
        if outcome == Outcome.OUT_OF_MEMORY:
            raise NoMemory(self.record.arena + sum(self.record.made[0 : self.record.made_count]))
        if outcome == Outcome.DONATED:
            for piece in pieces:
                for each in [piece] if isinstance(piece, Arrays) else piece:
                    # Which says so, unless a thread has given it up since then.
                    forbid_writing(each.native)
        while not core().brimstone_admit(self.streams.own, self.native):
            pass  # in between Python looks at signals
        return dealer(*pieces)


def end_programs() -> None:
    """Let go of programs that nobody can call any more, but of those that are still to run."""
    if not _ENDING or _TURN.locked():  # by another thread, or by this one, which was interrupted
        return
    with _TURN:
        ending = [*_ENDING]  # no pairs: to make them may collect garbage, which adds some
        natives = [*map(_ENDING.__getitem__, ending)]
        # An interrupt between the end of one and its way out of here would end it twice: all is one
        # call.
        are_ended = map(core().brimstone_end_program, natives)
        deque(map(_ENDING.pop, compress(ending, are_ended)), maxlen=0)
