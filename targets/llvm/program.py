"""The host side of a compiled step: what is done in which order, once for each tuple of sizes.

Comes in: a func of the step floor, and the code of its kernels. Goes out: a `Program`, which runs
it on arrays of the host: as one native call, or where something is left to Python, by actions, of
which `Segment`s are native calls.
Never: what a kernel computes.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from threading import RLock
from typing import Any, cast

from ...ir.dims import Symbol
from ...ir.errors import ExecutionError, IRError
from ...ir.func import Func
from ...ir.types import Shaped
from ...ir.values import AnyValue, Op
from ...passes.collector import without_collections
from ...passes.forks import held_across_forks
from ...passes.once import once
from ..account import Memory as Taken
from ..limits import Limit, check
from ..script import Arrays, Call, Dealer, Form, Host, Pattern
from ..tape import Tape
from ..target import dealt
from .actions import Actions, Memory, run
from .ahead import ahead
from .code import Changed, Code, Foreseen
from .flow import Flows
from .near import near
from .own import Own
from .preparation import Preparation
from .stored import NO_PLACE, Place
from .whole import replaced_in

Sizes = Mapping[Symbol, int]
Pieces = Sequence[Sequence[Arrays]]
Ready = Call | partial[Sequence[Any]]
"""What runs a step on arrays; it gives back arrays, held together or each alone, or dealt."""
PREPARED_AT_MOST = 64
"""For so many sizes a step is kept ready; then those are let go for which that was made first."""
PATTERNS_AT_MOST = 8
"""So many are tried for other sizes, the latest first."""
WORTH_FORESEEING = 4
"""For fewer kernels there need not be a helper, which takes some 100 MiB: they are soon made."""


class Program:
    """A step that runs kernels one after the other, for any sizes."""

    def __init__(
        self,
        main: Func,
        code: Code,
        host: Host,
        limits: Sequence[Limit] = (),
        place: Place = NO_PLACE,
    ) -> None:
        self.main, self.code, self.host, self.limits = main, code, host, limits
        self._place = place
        self.places: dict[AnyValue, int] = {}
        for value in (*main.arguments, *[each for op in main.walk() for each in _made_by(op)]):
            self.places[value] = len(self.places)
        self.replaced = replaced_in(main)
        self.returned = [self.places[value] for value in main.results]
        self.flows = Flows(main.body)
        self._empty = [None] * (len(self.places) - len(main.arguments))
        self._names = [symbol.name for symbol in main.symbols]
        self._prepared: dict[tuple[int | None, ...], Ready] = {}
        self._patterns: list[Pattern] = []
        self._latest: tuple[Mapping[str, int] | None, Any] = None, None
        self._foreseen = False
        self._lock = held_across_forks(RLock())

    def __call__(
        self, pieces: Pieces, sizes: Mapping[str, int], counts: tuple[int, ...] | None = None
    ) -> Any:
        """Run the step on buffers of the target."""
        latest, ready = self._latest
        if sizes is not latest:  # nobody changes what he has given
            ready = self._ready(pieces, sizes)
        return ready(pieces, counts)

    def dealer(self, sizes: Mapping[str, int], counts: tuple[int, ...]) -> Dealer | None:
        """The same for who runs it often at these sizes, where that is one native call."""
        ready = self._prepared.get(tuple([sizes.get(name) for name in self._names]))
        return None if ready is None or isinstance(ready, partial) else ready.dealer(counts)

    def memory(self, sizes: Mapping[str, int]) -> Taken | None:
        """What is planned for these sizes."""
        from .planned import memory_of

        return memory_of(self, sizes)

    def play(
        self,
        actions: Actions,
        forms: Sequence[Form],
        own: Sequence[Own],
        pieces: Pieces,
        counts: tuple[int, ...] | None = None,
    ) -> Sequence[Any]:
        """Run actions on buffers, one after the other. If one fails, who reads a result is told, as
        he is of what the host does later."""
        handled = sys.exception()  # by the user
        try:
            made = self._played(actions, own, pieces)
        except IRError as problem:
            made = self.host.failed(forms, problem, handled)
        return made if counts is None else dealt(made, counts)

    def _played(self, actions: Actions, own: Sequence[Own], pieces: Pieces) -> tuple[Arrays, ...]:
        buffers = [each.array() for each in chain.from_iterable(pieces)]
        for place in self.replaced:
            given = buffers[place]
            buffers[place] = self.host.empty(given.shape, given.dtype)
            buffers[place][...] = given
        memory: Memory = [*buffers, *self._empty]
        made: dict[int, Arrays] = {}
        for number, form, place, kept in own:
            made[number], memory[place] = self.host.made(form, kept)
        run(actions, memory)
        lent = self.host.borrowed
        return tuple(
            [
                made[number] if number in made else lent(memory[place])
                for number, place in enumerate(self.returned)
            ]
        )

    def _ready(self, pieces: Pieces, given: Mapping[str, int]) -> Ready:
        """What runs the step at these sizes; those that are not given, the buffers' shapes say."""
        known = tuple([given.get(name) for name in self._names])
        prepared = self._prepared.get(known)
        if prepared is not None:
            self._latest = given, prepared
            if not self._foreseen:
                self._foresee(known)
            return prepared
        shapes = (form.shape for piece in pieces for form in _forms(piece))
        sizes = bind(self.main, shapes, given)
        return self._ready_at(tuple([sizes[symbol] for symbol in self.main.symbols]))

    @without_collections
    def _ready_at(self, key: tuple[int, ...]) -> Ready:
        with once(self._lock):
            if key not in self._prepared:
                if len(self._prepared) >= PREPARED_AT_MOST:
                    self._prepared.pop(next(iter(self._prepared)))
                self._prepared[key] = self._at(key) or self._new(key)
            return self._prepared[key]

    def _at(self, sizes: Sequence[int]) -> Call | None:
        """What runs the step where its symbols are these, by what was found out for others."""
        for pattern in self._patterns:
            made = pattern.at(sizes)
            if made is not None:
                return made
        return None

    def _new(self, sizes: Sequence[int]) -> Ready:
        """The same, with all there is to find out; the first time also what there is of sizes near
        these, whose kernels are compiled along with those that are to run."""
        others = [] if self._prepared else self._near(sizes)
        pattern = self._pattern(sizes)
        if pattern is None:
            prepared = self._prepare(sizes)
            forms = [prepared.form(value) for value in self.main.results]
            own = [*prepared.own.values()]
            return partial(self.play, prepared.block(self.main.body), forms, own)
        made = pattern.at(sizes)
        if made is None:
            raise MemoryError("there is no memory for a program")
        for each in others:
            with suppress(IRError, MemoryError):  # nobody has asked for it yet
                _ = self._at(each) or self._pattern(each)
        return made

    def _pattern(self, sizes: Sequence[int]) -> Pattern | None:
        """The plan for these sizes and those of which the same holds; None if Python has a part in
        the step."""
        tape = Tape()
        try:
            plan = self._prepare(sizes, tape).plan()
        except Changed:
            self._place.drop()
            raise
        self._place.tell(self.main, self.code)
        if plan is None:
            return None
        pattern = self.host.pattern(plan, tape)
        self._patterns = [pattern, *self._patterns[: PATTERNS_AT_MOST - 1]]
        return pattern

    def _near(self, sizes: Sequence[int]) -> list[tuple[int, ...]]:
        """Sizes near these that the step can have, and that launch other kernels: there is code for
        all of them then. None of a step that was read from disk, and might have to be lowered again
        for them."""
        if not self.code.is_news:
            return []
        wanted = dict.fromkeys(self._prepare(sizes).launched())
        if len(wanted) < WORTH_FORESEEING:
            return []
        found, own = list[tuple[int, ...]](), {*wanted}
        for each in near(self.main, sizes):
            prepared = self._prepare(each)
            with suppress(IRError):
                check(self.limits, prepared.numbers)
                launched = dict.fromkeys(prepared.launched())
                if not launched.keys() <= own:
                    found.append(each)
                    wanted |= launched
        if found:
            self.code.make(wanted)
        return found

    def _prepare(self, sizes: Sequence[int], tape: Tape | None = None) -> Preparation:
        """What is known of the step where its symbols are these, which a tape may be given."""
        given = sizes if tape is None else [*map(tape.given, sizes)]
        return Preparation(self, dict(zip(self.main.symbols, given, strict=True)), tape)

    def _foresee(self, sizes: tuple[Any, ...]) -> None:
        """Have code made for what the step launches at other sizes, now that it runs again."""
        self._foreseen = True
        foreseen = [*dict.fromkeys(self._prepare(sizes).foreseen(self.main.body))]
        foreseen.sort(key=lambda each: bool(each.past_caches))  # sizes change by little first
        if len(foreseen) >= WORTH_FORESEEING:
            made = [partial(self._make_ahead, each) for each in foreseen]
            ahead().add([*made, partial(self._place.tell, self.main, self.code)])

    def _make_ahead(self, kernel: Foreseen) -> Iterator[None]:
        """Have code for a kernel, part by part; if the step would be lowered otherwise by now, who
        launches what is missing will be told, and the next process finds nothing on disk."""
        try:
            yield from self.code.make_ahead(kernel)
        except Changed:
            self._place.drop()


def bind(func: Func, shapes: Iterable[Sequence[int]], given: Mapping[str, int]) -> Sizes:
    """What the func's symbols are: by name, else from the shapes of the arguments."""
    sizes = {each: given[each.name] for each in func.symbols if each.name in given}
    are_known = len(sizes) == len(func.symbols)
    arguments = () if are_known else zip(func.arguments, shapes, strict=True)
    for value, found_shape in arguments:
        shape = value.type.shape if isinstance(value.type, Shaped) else ()
        for size, found in zip(shape, found_shape, strict=True):
            if isinstance(size, Symbol):
                sizes.setdefault(size, found)
    for symbol in func.symbols:
        if symbol not in sizes or not symbol.admits(sizes[symbol]):
            found = f"is {sizes[symbol]}" if symbol in sizes else "is not given"
            raise ExecutionError(f"@{func.name}: the size {symbol.name} {found}", func.location)
    return sizes


def _forms(piece: Sequence[Arrays]) -> Sequence[Form]:
    """What the arrays of a piece are, none of which is looked at where they are held together."""
    if isinstance(piece, list | tuple):
        return [each.forms[0] for each in cast("Sequence[Arrays]", piece)]
    return cast("Arrays", piece).forms


def _made_by(op: Op) -> list[AnyValue]:
    """The values that an op makes: its results, and what its regions take."""
    return [*op.results, *[value for region in op.regions for value in region.arguments]]
