"""The host side of a compiled step: what is done in which order, once for each tuple of sizes.

Comes in: a func of the step floor, and the code of its kernels. Goes out: a `Program`, which runs
it on arrays of the host: as one native call, or where something is left to Python, by actions, of
which `Segment`s are native calls.
Never: what a kernel computes.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain, groupby
from math import prod
from threading import RLock
from typing import Any, cast

from ...ir import step
from ...ir.dims import Symbol
from ...ir.errors import ExecutionError, IRError, Unmet
from ...ir.func import Func
from ...ir.types import Shaped
from ...ir.values import AnyValue, Block, Op
from ...passes.collector import without_collections
from ...passes.once import once
from ...passes.past_caches import has_lines
from ..account import Memory as Taken
from ..limits import Limit, check
from ..script import Arrays, Call, Dealer, Form, Host, Pattern, Plan
from ..sizes import Numbers
from ..tape import Tape, plain
from ..target import dealt
from .actions import PREPARE, Action, Actions, Memory, noted, run
from .ahead import ahead
from .code import Changed, Code, Foreseen
from .flow import Flows
from .kernel import Kernel
from .layouts import Layout, Layouts
from .machines import host as processor
from .native import all_of, is_native
from .own import Own, own_results
from .segment import Segment
from .stored import NO_PLACE, Place
from .whole import is_whole, plan_of, replaced_in

Sizes = Mapping[Symbol, int]
Pieces = Sequence[Sequence[Arrays]]
Ready = Call | partial[Sequence[Any]]
"""What runs a step on arrays; it gives back arrays, held together or each alone, or dealt."""
PREPARED_AT_MOST = 64
"""For so many sizes a step is kept ready; then those are let go for which that was made first."""
PATTERNS_AT_MOST = 8
"""So many are tried for other sizes, the latest first."""
LARGE = 8 << 20
"""Kernels with results of so many bytes have versions of their own."""
LEVELS = 8
"""And results that would fill so many level-2 caches are not in a cache when they are read: a core
has a few MiB of the one that all share. Where these have 1 MiB (Zen 5), as much is lost of results
of 4 MiB as is won of 12; where they have 2 (Intel), a layer norm of 12 MiB takes 1.06 ms past the
caches and 0.90 through them, and of 16 MiB as long."""
MAY_BE_LARGE = LARGE >> 7
"""And results of so many bytes may become as large, of a batch that is so many times another."""
WORTH_FORESEEING = 4
"""For fewer kernels there need not be a helper, which takes some 100 MiB: they are soon made."""


def past_caches_from() -> int:
    """How many bytes a result has that goes past the caches."""
    return max(LARGE, LEVELS * processor().level2)


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
        self._lock = RLock()

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
        """The same, with all there is to find out."""
        tape = Tape()
        try:
            plan = self._prepare(sizes, tape).plan()
        except Changed:
            self._place.drop()
            raise
        self._place.tell(self.main, self.code)
        if plan is None:
            prepared = self._prepare(sizes)
            forms = [prepared.form(value) for value in self.main.results]
            own = [*prepared.own.values()]
            return partial(self.play, prepared.block(self.main.body), forms, own)
        pattern = self.host.pattern(plan, tape)
        self._patterns = [pattern, *self._patterns[: PATTERNS_AT_MOST - 1]]
        made = pattern.at(sizes)
        if made is None:
            raise MemoryError("there is no memory for a program")
        return made

    def _prepare(self, sizes: Sequence[int], tape: Tape | None = None) -> "Preparation":
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


class Preparation:
    """What runs a program's blocks, where its symbols have certain sizes, perhaps on a tape."""

    def __init__(self, program: Program, sizes: Sizes, tape: Tape | None = None) -> None:
        self.program, self.sizes, self.tape = program, sizes, tape
        self.host, self.main = program.host, program.main
        self.kernels: dict[Op, str] = {}
        self.numbers = Numbers(sizes)
        self.layouts = Layouts(self.numbers)
        self.flow = program.flows.at(self.numbers)

    @cached_property
    def own(self) -> dict[AnyValue, Own]:
        """The results that are memory of their own, where Python has a part in the step."""
        return own_results(self)

    def plan(self) -> Plan | None:
        """What the host does for the whole step, once there is code for the kernels that it
        launches; None if Python has a part in it."""
        check(self.program.limits, self.numbers)
        self.program.code.make(self.launched())
        return plan_of(self) if is_whole(self) else None

    def pack(self, alive: Sequence[tuple[int, int, int]]) -> tuple[list[int], int]:
        """Where to put arrays that are alive from one place to another one, and have so many
        bytes; and how many bytes that takes."""
        if self.tape is None:
            return self.host.pack(alive)
        now = [(begin, end, plain(bytes_)) for begin, end, bytes_ in alive]
        return self.tape.pack(alive, self.host.pack(now))

    def block(self, block: Block) -> Actions:
        """What the ops of a block do, in order."""
        return self._actions(self.flat(block))

    def _actions(self, flat: Sequence[Op]) -> Actions:
        actions: Actions = []
        for native, ops in groupby(flat, partial(is_native, self)):
            listed = [*ops]
            if native:
                actions.append((Segment(self, listed), listed[0]))
            else:
                actions += [(self._action(op), op) for op in listed]
        return actions

    def flat(self, block: Block) -> list[Op]:
        """The ops of the body, or of a region that is done, and what is chosen in the place of each
        choice; nobody changes them."""
        return self.flow.ops[block]

    def launched(self) -> Iterator[str]:
        """The kernels that are launched with these sizes, also in loops and branches."""
        for op in all_of(self.flow, self.flat(self.main.body)):
            if isinstance(op, step.Launch):
                yield self.kernel(op)

    def kernel(self, op: step.Launch) -> str:
        """The kernel that runs: the one that is named, or its version for large results."""
        if op not in self.kernels:
            self.kernels[op] = self._kernel(op)
        return self.kernels[op]

    def foreseen(self, block: Block) -> Iterator[Foreseen]:
        """The kernels that other sizes launch: in regions that these do not choose, and versions
        for results that are large there."""
        for op in block:
            if isinstance(op, step.Launch) and op.grid:  # a kernel of tensors has none
                if self.program.code.get(op.kernel) is None:
                    yield Foreseen(op.kernel)
                large = self._large(op, MAY_BE_LARGE)
                if large:
                    yield Foreseen(op.kernel, large)
            for region in op.regions:
                yield from self.foreseen(region)

    def _kernel(self, op: step.Launch) -> str:
        large, code = self._large(op, LARGE), self.program.code
        if not large:
            return op.kernel
        past = self._large(op, past_caches_from())
        made = code.past_caches(op.kernel, past) if past else ""
        return made or code.through_caches(op.kernel, large) or op.kernel

    def _large(self, op: step.Launch, least: int) -> tuple[int, ...]:
        """Which arguments of a kernel are written, have so many bytes, and may bypass caches; none
        if what is written is read."""
        writes, layouts = op.writes, self.layouts
        if all([layouts[each.type].bytes < least for each in writes]):
            return ()
        first = len(op.reads)
        found = [place for place, each in enumerate(writes, first) if self._is_large(each, least)]
        if not found or op.count > 1:
            return ()
        apart = {*map(self.root, op.reads)}.isdisjoint(map(self.root, op.writes))
        return tuple(found) if apart else ()

    def _is_large(self, value: AnyValue, least: int) -> bool:
        """Whether an array has so many bytes, in memory of its own, and all its rows begin at lines
        of the caches."""
        shape, bytes_, _ = self.layout(value)
        if bytes_ < least or not has_lines(shape, value.dtype):
            return False
        return isinstance(self.root(value).owner, step.Allocate)

    def place(self, value: AnyValue) -> int:
        """Where the value is kept."""
        return self.program.places[value]

    def root(self, value: AnyValue) -> AnyValue:
        """The array that this one is, with another shape."""
        op = value.op
        while isinstance(op, step.View) and self._is_shape(op):
            value, op = op.array, op.array.op
        return value

    def layout(self, value: Any) -> Layout:
        """How an array lies in memory."""
        return self.layouts[value.type]

    def form(self, value: Any) -> Form:
        """The form of an array."""
        return Form(self.shape(value), value.dtype.storage)

    def shape(self, value: Any) -> tuple[int, ...]:
        """What the shape of an array is."""
        return self.layout(value).shape

    def elements(self, value: AnyValue) -> int:
        """How many an array has; a size of the host is one."""
        return prod(self.shape(value)) if isinstance(value.type, Shaped) else 1

    def code(self, op: step.Launch) -> Kernel | None:
        """The code that is launched, if there is any."""
        return self.program.code.get(self.kernel(op))

    def _action(self, op: Op) -> Action:
        prepare = PREPARE.get(op.__class__)
        if prepare is None:
            raise Unmet(f"the CPU has no {op.name}")
        return partial(noted, prepare(self, op), op)

    def _is_shape(self, op: step.View) -> bool:
        """Whether it shows the same memory, from its begin on."""
        return op.part.dtype is op.array.dtype and self.numbers[op.offset] == 0


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
