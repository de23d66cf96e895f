"""What becomes of ops of a step that the native core does in one call.

Comes in: launches of compiled kernels, copies, fills, checks of indices, loops, branches, and what
is said of memory around them, in the order of a step, where sizes are known. Goes out: a `Writing`:
a script with its slots, and what Python does before and after. Arrays that nobody sees afterwards
lie in one piece of memory, the arena, and those that are not alive at once may lie in the same
place.
Never: an op of which only Python knows what it does.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir import step
from ...ir.dtypes import SIGNED
from ...ir.types import Scalar
from ...ir.values import AnyValue, Op
from ...passes.touched import PARTS, owner_of
from ..script import Act, Kind, NoMemory, Script
from .about import Actions, Indices
from .actions import Memory
from .kernel import Layout
from .native import all_of
from .rounds import Base, Rounds, Strides, write_branch, write_loop, write_while
from .sharing import cut, is_shared
from .together import Launched, Range, Together, are_apart

if TYPE_CHECKING:
    from .program import Preparation

SLOT = 8
"""The bytes of one."""
MOST = 1 << 62
"""No address space holds so many bytes; and sizes and strides of less fit into slots."""
ARENA = 0
"""The number of its address."""
NOWHERE: Strides = {}
"""Of what follows no loop."""


Lying = tuple[Layout, Base, Strides]
"""How an array lies in memory, where it begins, and how that follows loops."""


class Writing:
    """The script, and what Python does before and after it; nothing, if the ops are all of the
    step that takes these `inputs`."""

    def __init__(
        self,
        preparation: "Preparation",
        ops: Sequence[Op],
        inputs: Sequence[AnyValue] | None = None,
    ) -> None:
        every = [*all_of(preparation, ops)]
        self.preparation, self.ops = preparation, dict.fromkeys(every)
        self.slots, self.scalars = list[int](), list[tuple[int, AnyValue]]()
        self.about, self.work = Actions(preparation.module.main.name), 0
        self.script, self.rounds = Script([], [], [], self.about), Rounds()
        self.whole = inputs is not None
        self.addresses = {value: place for place, value in enumerate(inputs or (), ARENA + 1)}
        self.latest: Together | None = None
        self.made = list[AnyValue]()
        self.gone: list[int] = []
        self.views: list[Callable[[Memory], None]] = []
        self.offsets: dict[AnyValue, int] = {}
        self._lying: dict[AnyValue, Lying] = {}
        self._roots: dict[AnyValue, tuple[AnyValue, int, Strides]] = {}
        self._memory: dict[AnyValue, Range] = {}
        self.arena = self._arena(every)
        self.write(ops)
        loops, moves = self.rounds.finish(self.slots, self.script.places)
        self.script = self.script._replace(loops=loops, moves=moves)

    def _arena(self, ops: Sequence[Op]) -> int:
        """Place the arrays that are freed again; how many bytes they take."""
        begins = {op.array: place for place, op in enumerate(ops) if isinstance(op, step.Allocate)}
        ends = {op.array: place for place, op in enumerate(ops) if isinstance(op, step.Free)}
        inner = [value for value in begins if value in ends]
        alive = [(begins[each], ends[each], self.bytes(each)) for each in inner]
        offsets, total = self.preparation.host.pack(alive) if alive else ([], 0)
        self.offsets = dict(zip(inner, offsets, strict=True))
        return total

    def write(self, ops: Iterable[Op]) -> None:
        """All in order."""
        for op in ops:
            WRITTEN[op.__class__](self, op)

    @property
    def position(self) -> int:
        """The number of the next action."""
        return len(self.script.actions)

    def bytes(self, value: AnyValue) -> int:
        """How many an array has."""
        bytes_ = self.preparation.layout(value).bytes
        if bytes_ > MOST:
            raise NoMemory(bytes_)
        return bytes_

    def allocate(self, op: step.Allocate) -> None:
        """Memory that is freed here has its place; other memory is made in each call."""
        if op.array not in self.offsets:
            self.made.append(op.array)
            self.addresses[op.array] = ARENA + 1 + len(self.addresses)

    def free(self, op: step.Free) -> None:
        """Python lets go of what it has; what a step is given stays its caller's."""
        if op.array not in self.offsets:
            self.gone.append(self.preparation.place(op.array))

    def view(self, op: step.View) -> None:
        """Who launches a kernel on a view says where it begins; Python makes it for all others."""
        if not self._is_seen(op.part):
            return
        preparation, (root, start, _) = self.preparation, self.root(op.part)
        places = preparation.place(root), preparation.place(op.part)
        shape, storage = preparation.shape(op.part), op.part.dtype.storage
        self.views.append(partial(_show, *places, start, shape, storage))

    def dim(self, op: step.Dim) -> None:
        """Kernels are handed the size; Python keeps it for all others."""
        if self._is_seen(op.size):
            preparation = self.preparation
            size = np.asarray(preparation.shape(op.array)[op.axis], np.int64)
            self.views.append(partial(_keep, preparation.place(op.size), size))

    def _is_seen(self, value: AnyValue) -> bool:
        """Whether Python has a use for it."""
        if self.whole:
            return False
        skipped = self.preparation.is_skipped
        return any([use not in self.ops and not skipped(use) for use in value.uses])

    def launch(self, op: step.Launch) -> None:
        """All groups at once, and with those of the launch before where that is of use."""
        preparation, first = self.preparation, len(self.script.launches)
        kernel, launched = preparation.code(op), list[Launched]()
        assert kernel is not None
        for group in op.each:
            grid = [preparation.numbers[each] for each in group.grid]
            if not all(grid):
                continue
            slot = len(self.slots)
            handed = self._hand((*group.reads, *group.writes))
            slots = slot, len(self.slots) - slot
            launch, bytes_ = kernel.launch(slots, handed, grid, preparation.sizes)
            self.script.launches.append(launch)
            launched.append(Launched(kernel, launch.grid, bytes_))
        if launched:
            self._launch(op, Together(first, [op], launched))

    def _launch(self, op: step.Launch, these: Together) -> None:
        """The action of launches, or one more part of the one before."""
        threads, before = self.preparation.host.count, self.latest
        self.work += these.work
        joins = threads > 1 and before is not None and self._joins(before, these)
        made = before.with_next(these) if joins and before is not None else these
        shared = threads > 1 and is_shared(made.shared)
        if shared:
            launches = self.script.launches
            for number, each in enumerate(made.launches, made.first):
                axis, chunks = cut(each.shared, each.grid, threads, each.kernel.chunks)
                launches[number] = launches[number]._replace(axis=axis, chunks=chunks)
        kind = Kind.SHARE if shared else Kind.ALONE
        act = Act(kind, made.first, len(made.launches), int(is_shared(made.work)))
        if joins:
            self.script.actions[-1] = act
            self.about.join(op, these.bytes)
        else:
            self.act(op, act, these.bytes)
        self.latest = made

    def _joins(self, before: Together, these: Together) -> bool:
        """Whether threads gain by sharing both, and neither touches what the other one writes."""
        if not before.gains(these):
            return False
        read, written = self._touched(before)
        reads, writes = self._touched(these)
        return are_apart(written, [*reads, *writes]) and are_apart(read, writes)

    def _touched(self, these: Together) -> tuple[list[Range], list[Range]]:
        """The memory that launches read, and what they write."""
        read = [each for op in these.ops for each in op.reads]
        written = [each for op in these.ops for each in op.writes]
        return self._ranges(read), self._ranges(written)

    def _ranges(self, values: Iterable[AnyValue]) -> list[Range]:
        """The memory of the arrays among these."""
        known, lying = self._memory, self._lying
        return [known.get(each) or self._range(each) for each in values if each in lying]

    def _range(self, value: AnyValue) -> Range:
        """The memory of an array: all that it may be, where it follows a loop or where its parts
        are not known here."""
        root, begin, strides = self.root(value)
        owner, end = owner_of(root), begin + self.bytes(value)
        if strides or root is not owner:
            begin, end = 0, self.bytes(owner)
        start = self.offsets.get(owner)
        whose, by = (owner, 0) if start is None else (ARENA, start)
        found = self._memory[value] = Range(whose, by + begin, by + end)
        return found

    def copy(self, op: step.Copy) -> None:
        """Bytes, from an array to another one."""
        size = self.bytes(op.source)
        self.act(op, Act(Kind.COPY, len(self.slots), size), 2 * size)
        self.place(self.slot(), op.destination)
        self.place(self.slot(), op.source)

    def fill(self, op: step.Fill) -> None:
        """An element, repeated."""
        element = op.value.array.tobytes()
        count = prod(self.preparation.shape(op.array))
        self.act(op, Act(Kind.FILL, len(self.slots), count, len(element)), count * len(element))
        self.place(self.slot(), op.array)
        padded = element.ljust(-(-len(element) // SLOT) * SLOT, b"\0")
        self.slots += np.frombuffer(padded, np.uint64).tolist()

    def store(self, op: step.Store) -> None:
        """The bytes of a number."""
        size = op.number.dtype.storage.itemsize
        self.act(op, Act(Kind.STORE, len(self.slots), size), size)
        self.place(self.slot(), op.array)
        self._number(op.number)

    def inside(self, op: step.Inside) -> None:
        """All indices, those of each axis with its size."""
        dtype, shape = op.indices.dtype, self.preparation.shape(op.array)
        indices = Indices(
            self.preparation.shape(op.indices), tuple([shape[axis] for axis in op.axes])
        )
        size = self.bytes(op.indices)
        act = Act(Kind.INSIDE, len(self.slots), prod(indices.shape), int(is_shared(size)))
        self.work += size
        self.act(op, act, size, indices)
        self.place(self.slot(), op.indices)
        what = dtype.storage.itemsize, int(dtype in SIGNED), len(op.axes)
        self.slots += [*what, *indices.sizes]

    def act(self, op: Op, act: Act, bytes: int = 0, indices: Indices | None = None) -> int:
        """One action more; its number."""
        self.latest = None
        self.script.actions.append(act)
        self.about.add(op, bytes, indices)
        return self.position - 1

    def slot(self) -> int:
        """One slot more."""
        self.slots.append(0)
        return len(self.slots) - 1

    def _hand(self, values: Iterable[AnyValue]) -> list[Layout | None]:
        """Slots for what a kernel is handed: numbers, and arrays with their sizes and strides."""
        slots, known = self.slots, self._lying
        handed: list[Layout | None] = []
        for value in values:
            if (lying := known.get(value)) is None and isinstance(value.type, Scalar):
                self._number(value)
                handed.append(None)
                continue
            layout, base, strides = lying or self._lie(value)
            self._put(len(slots), base, strides)
            slots += layout.slots
            handed.append(layout)
        return handed

    def _number(self, value: AnyValue) -> None:
        """A slot for a number: a size, the index of a loop, or one that is given."""
        slot, op = self.slot(), value.op
        if isinstance(op, step.Dim) and op in self.ops:
            self.slots[slot] = self.preparation.shape(op.array)[op.axis]
        elif value in self.rounds.loops:
            self.rounds.follow(slot, None, {value: 1})
        else:
            self.scalars.append((slot, value))

    def place(self, slot: int, value: AnyValue) -> None:
        """Let a slot hold where an array begins."""
        _, base, strides = self._lying.get(value) or self._lie(value)
        self._put(slot, base, strides)

    def _put(self, slot: int, base: Base, strides: Strides) -> None:
        if strides:
            self.rounds.follow(slot, base, strides)
        else:
            self.script.places.append((slot, *base))

    def _lie(self, value: AnyValue) -> Lying:
        """How an array lies, where nobody has asked yet."""
        root, offset, strides = self.root(value)
        start = self.offsets.get(root)
        if start is None:
            base = self.addresses.setdefault(root, ARENA + 1 + len(self.addresses)), offset
        else:
            base = ARENA, offset + start
        found = self._lying[value] = self.preparation.layout(value), base, strides
        return found

    def root(self, value: AnyValue) -> tuple[AnyValue, int, Strides]:
        """The array whose memory this is, as far as it is known here; where in it; and how much
        further for each index of a loop."""
        if value.owner.__class__ not in PARTS:  # as of most
            return value, 0, NOWHERE
        known = self._roots.get(value)
        if known is None:
            known = self._roots[value] = self._root(value)
        return known

    def _root(self, value: AnyValue) -> tuple[AnyValue, int, Strides]:
        offset, strides = 0, dict[AnyValue, int]()
        while isinstance(op := value.op, PARTS) and op in self.ops:
            if isinstance(op, step.View):
                offset += self.preparation.numbers[op.offset] * op.array.dtype.itemsize
            else:
                strides[op.index] = strides.get(op.index, 0) + self.bytes(value)
            value = op.array
        return value, offset, strides


def _nothing(writing: Writing, op: step.Row) -> None:
    """Who uses it says where it is."""


WRITTEN: dict[type[Op], Callable[[Writing, Any], None]] = {
    step.Allocate: Writing.allocate,
    step.Branch: write_branch,
    step.Copy: Writing.copy,
    step.Dim: Writing.dim,
    step.Fill: Writing.fill,
    step.Free: Writing.free,
    step.Inside: Writing.inside,
    step.Launch: Writing.launch,
    step.Loop: write_loop,
    step.Row: _nothing,
    step.Store: Writing.store,
    step.View: Writing.view,
    step.While: write_while,
}


def _show(
    source: int, place: int, start: int, shape: tuple[int, ...], storage: Any, memory: Memory
) -> None:
    """Make a view of an array, from some byte on."""
    array, stop = memory[source], start + prod(shape) * storage.itemsize
    if (start, stop, storage) == (0, array.nbytes, array.dtype):
        memory[place] = array.reshape(shape)
    else:
        part = array.reshape(-1).view(np.uint8)[start:stop]
        memory[place] = part.view(storage).reshape(shape)


def _keep(place: int, number: Any, memory: Memory) -> None:
    """Put a number in its place."""
    memory[place] = number
