"""Plans whose numbers were traced, for all sizes of which the same holds.

Comes in: a `Plan`, and the `Tape` of its numbers. Goes out: a `Pattern`, which has the core do the
arithmetic again for other sizes, and makes a `Call` of what that comes to.
Never: a plan for sizes of which something else holds.
"""

from array import array
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from ..targets.script import About, Failure, Form, Plan, Said
from ..targets.tape import Tape, plain
from .calls import Call
from .native import Outcome, core, ffi
from .records import plan_words
from .scripts import known
from .streams import Streams


class Pattern:
    """What is the same for all sizes: the tape, whose words are those of the plan; behind them come
    the shapes of results, and what there is to say of actions."""

    def __init__(self, streams: Streams, plan: Plan, tape: Tape) -> None:
        words = plan_words(plan)
        self._streams, self._code = streams, plan.held
        self._results = [_kind_of(each.form) for each in plan.results]
        self._shapes = words.rows([each.form.shape for each in plan.results])
        about = plan.script.about
        numbers = list[int]() if about is None else [*about.numbers]
        self._about = about and about.with_numbers([*map(plain, numbers)])  # which holds no tape
        self._told = words.add(numbers)
        self._count = len(words.words)
        lines = [*map(tape.line_of, words.words)]
        self._held = (
            _listed("brimstone_line[]", chain.from_iterable(tape.lines)),
            ffi.new("brimstone_interval[]", [(*each, 0) for each in tape.packed]),
            _listed("int64_t[]", lines),
            _listed("int64_t[]", words.pointers),
        )
        counts = len(tape.lines), len(lines), len(words.pointers)
        self._tape: Any = ffi.new("brimstone_tape *", (*self._held, *counts))

    def at(self, given: Sequence[int]) -> Call | None:
        """What does the plan where the numbers that are given are these; None if it is no plan for
        them, or there is no memory."""
        memory: Any = ffi.new("int64_t[]", self._count)
        numbers: Any = ffi.new("int64_t[]", given)
        if core().brimstone_replay(self._tape, numbers, memory) != Outcome.DONE:
            return None
        about = self._about
        told = about and _Told(about, memory, self._told, self._count - self._told)
        held = memory, known(memory, told), self._code
        record: Any = ffi.cast("brimstone_plan *", memory)
        return Call(self._streams, record, self._forms(memory), held)

    def _forms(self, memory: Any) -> list[Form]:
        """Those of the results, as the words say it."""
        sizes = _numbers(memory + self._shapes, self._told - self._shapes)
        made, begin = list[Form](), 0
        for rank, storage in self._results:
            made.append(Form(tuple(sizes[begin : begin + rank]), storage))
            begin += rank
        return made


class _Told:
    """What there is to say of a script, with the numbers that some words hold."""

    __slots__ = ("__weakref__", "_about", "_memory", "_words", "name")

    def __init__(self, about: About, memory: Any, begin: int, count: int) -> None:
        self.name, self._about = about.name, about
        self._memory, self._words = memory, (begin, count)

    @property
    def numbers(self) -> Sequence[int]:
        """Those of the actions."""
        begin, count = self._words
        return _numbers(self._memory + begin, count)

    def with_numbers(self, numbers: Sequence[int]) -> About:
        """The same with others."""
        return self._about.with_numbers(numbers)

    def said(self, action: int) -> Said:
        """What an action is."""
        return self.with_numbers(self.numbers).said(action)

    def failed(self, failure: Failure) -> Exception:
        """The error where an action could not be done."""
        return self.with_numbers(self.numbers).failed(failure)


def _kind_of(form: Form) -> tuple[int, Any]:
    """What of a form is the same for all sizes: its rank, and its dtype."""
    return len(form.shape), form.storage


def _listed(type_: str, words: Iterable[int]) -> Any:
    """Memory with so many words, which are quicker put into an array than into records."""
    return ffi.from_buffer(type_, array("q", words))


def _numbers(words: Any, count: int) -> list[int]:
    unpacked: Any = ffi.unpack(words, count)
    return unpacked
