"""What is known of a step where its sizes are: how arrays lie, what is done, which kernels run.

Comes in: a program, and what its symbols are, perhaps on a tape. Goes out: a `Preparation`: the
plan of the whole step as one native call, or actions for what is left to Python.
Never: code of a kernel that nobody asked for.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from math import prod
from typing import TYPE_CHECKING, Any

from ...ir import step
from ...ir.dims import Symbol
from ...ir.errors import Unmet
from ...ir.shared.properties import cached_property
from ...ir.types import Shaped
from ...ir.values import AnyValue, Block, Op
from ...passes.past_caches import has_lines
from ..limits import check
from ..script import Form, Plan
from ..sizes import Numbers
from ..tape import Tape, plain
from .actions import PREPARE, Action, Actions, noted
from .code import Foreseen
from .kernel import Kernel
from .layouts import Layout, Layouts
from .machines import host as processor
from .native import all_of, is_native
from .own import Own, own_results
from .segment import Segment
from .whole import is_whole, plan_of

if TYPE_CHECKING:
    from .program import Program

Sizes = Mapping[Symbol, int]
LARGE = 8 << 20
"""Kernels with results of so many bytes have versions of their own."""
LEVELS = 8
"""And results that would fill so many level-2 caches are not in a cache when they are read: a core
has a few MiB of the one that all share. Where these have 1 MiB (Zen 5), as much is lost of results
of 4 MiB as is won of 12; where they have 2 (Intel), a layer norm of 12 MiB takes 1.06 ms past the
caches and 0.90 through them, and of 16 MiB as long."""
MAY_BE_LARGE = LARGE >> 7
"""And results of so many bytes may become as large, of a batch that is so many times another."""


def past_caches_from() -> int:
    """How many bytes a result has that goes past the caches."""
    return max(LARGE, LEVELS * processor().level2)


class Preparation:
    """What runs a program's blocks, where its symbols have certain sizes, perhaps on a tape."""

    def __init__(self, program: "Program", sizes: Sizes, tape: Tape | None = None) -> None:
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
