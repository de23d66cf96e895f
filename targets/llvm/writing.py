"""What becomes of ops of a step that the native core does in one call.

Comes in: an `Outline` of them, where sizes are known, perhaps on a tape. Goes out: a `Writing`: a
script with its slots, and what Python does before and after it. Arrays that nobody sees afterwards
lie in the arena, and those that are not alive at once may lie in the same place.
Never: what does not depend on sizes; that the outline says, once for all of them. Nor a number that
is computed by anything but arithmetic: of one on a tape, nothing else is known.
"""

from collections.abc import Callable, Iterable
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir import step
from ...ir.types import Scalar
from ...ir.values import AnyValue, Op
from ...passes.touched import PARTS, owner_of
from ..script import Act, Kind, NoMemory, Place, Script
from ..tape import plain
from .about import Actions, Indices
from .actions import Memory
from .outline import ARENA, Draft, Outline
from .rounds import Base, Rounds, Strides, write_branch, write_loop, write_while
from .sharing import cut, is_shared
from .together import Launched, Range, Together, are_apart

if TYPE_CHECKING:
    from .preparation import Preparation

MOST = 1 << 62
"""No address space holds so many bytes; and sizes and strides of less fit into slots."""
NOWHERE: Strides = {}
"""Of what follows no loop."""


class Writing:
    """The script, and what Python does before and after it."""

    def __init__(self, preparation: "Preparation", outline: Outline) -> None:
        self.preparation, self.outline = preparation, outline
        self.about, self.work = Actions(preparation.main.name), 0
        self.rounds, self.held = Rounds(), list[Any]()
        self.latest: Together | None = None
        self._roots: dict[AnyValue, tuple[AnyValue, int, Strides]] = {}
        self._memory: dict[AnyValue, Range] = {}
        self.offsets, self.arena = self._packed()
        self.slots = self._sized()
        self.script = Script(self._places(), [], [], self.about)
        self.write(outline.drafts)
        loops, moves = self.rounds.finish(self.slots, self.script.places)
        self.script = self.script._replace(loops=loops, moves=moves)

    def _packed(self) -> tuple[dict[AnyValue, int], int]:
        """Where the arrays that are freed again lie in the arena, and how many bytes it has."""
        arrays = self.outline.alive
        if not arrays:
            return {}, 0
        alive = [(*lives, self.bytes(array)) for array, lives in arrays.items()]
        offsets, total = self.preparation.pack(alive)
        return dict(zip(arrays, offsets, strict=True)), total

    def _sized(self) -> list[int]:
        """The slots, with sizes and strides of arrays, and sizes that are numbers."""
        slots, layouts = self.outline.slots.copy(), self.preparation.layouts
        for slot, type_ in self.outline.sized:
            listed = layouts[type_].slots
            slots[slot : slot + len(listed)] = listed
        for slot, array, axis in self.outline.dims:
            slots[slot] = self.preparation.shape(array)[axis]
        return slots

    def _places(self) -> list[Place]:
        """The slots that hold addresses; those that follow loops are noted with these."""
        outline, offsets = self.outline, self.offsets
        places = [*outline.places]
        places += [(slot, ARENA, offsets[array]) for slot, array in outline.packed]
        for slot, value in outline.parts:
            base, strides = self._lies(value)
            if strides:
                self.rounds.follow(slot, base, strides)
            else:
                places.append((slot, *base))
        for slot, index in outline.indices:
            self.rounds.follow(slot, None, {index: 1})
        return places

    @property
    def views(self) -> list[Callable[[Memory], None]]:
        """What Python makes for others once all is done: views, and sizes as numbers."""
        return [
            self._view(op) if isinstance(op, step.View) else self._dim(op)
            for op in self.outline.seen
        ]

    def write(self, drafts: Iterable[Draft]) -> None:
        """All in order."""
        for draft in drafts:
            WRITTEN[draft.op.__class__](self, draft)

    @property
    def position(self) -> int:
        """The number of the next action."""
        return len(self.script.actions)

    def bytes(self, value: AnyValue) -> int:
        """How many an array has."""
        bytes_ = self.preparation.layout(value).bytes
        if bytes_ > MOST:
            raise NoMemory(plain(bytes_))
        return bytes_

    def _view(self, op: step.View) -> Callable[[Memory], None]:
        preparation, (root, start, _) = self.preparation, self.root(op.part)
        places = preparation.place(root), preparation.place(op.part)
        return partial(_show, *places, start, preparation.shape(op.part), op.part.dtype.storage)

    def _dim(self, op: step.Dim) -> Callable[[Memory], None]:
        preparation = self.preparation
        size = np.asarray(preparation.shape(op.array)[op.axis], np.int64)
        return partial(_keep, preparation.place(op.size), size)

    def launch(self, draft: Draft) -> None:
        """All groups at once, and with those of the launch before where that is of use."""
        preparation, launches = self.preparation, self.script.launches
        number, layout = preparation.numbers.__getitem__, preparation.layouts.__getitem__
        kernel, first, launched = preparation.code(draft.op), len(launches), list[Launched]()
        assert kernel is not None
        for run in draft.runs:
            x, y, z = map(number, run.grid)
            if x and y and z:
                handed = [*map(layout, run.types)]
                launch, bytes_ = kernel.launch(run.slots, handed, (x, y, z), preparation.sizes)
                launches.append(launch)
                launched.append(Launched(kernel, launch.grid, bytes_))
        if launched:
            self.held.append(kernel.code)
            self._launch(draft.op, Together(first, [draft.op], launched))

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
                axis, chunks = cut(each.shared, each.grid, threads, each.kernel.head.chunks)
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
        known = self._memory
        arrays = [each for each in values if not isinstance(each.type, Scalar)]
        return [known.get(each) or self._range(each) for each in arrays]

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

    def copy(self, draft: Draft) -> None:
        """Bytes, from an array to another one."""
        size = self.bytes(draft.op.source)
        self.act(draft.op, Act(Kind.COPY, draft.slot, size), 2 * size)

    def fill(self, draft: Draft) -> None:
        """An element, repeated."""
        op, size = draft.op, draft.op.value.array.nbytes
        count = prod(self.preparation.shape(op.array))
        self.act(op, Act(Kind.FILL, draft.slot, count, size), count * size)

    def store(self, draft: Draft) -> None:
        """The bytes of a number."""
        size = draft.op.number.dtype.storage.itemsize
        self.act(draft.op, Act(Kind.STORE, draft.slot, size), size)

    def inside(self, draft: Draft) -> None:
        """All indices, those of each axis with its size."""
        op: step.Inside = draft.op
        shape = self.preparation.shape(op.array)
        indices = Indices(
            self.preparation.shape(op.indices), tuple([shape[axis] for axis in op.axes])
        )
        size = self.bytes(op.indices)
        act = Act(Kind.INSIDE, draft.slot, prod(indices.shape), int(is_shared(size)))
        self.work += size
        self.act(op, act, size, indices)

    def expect(self, draft: Draft) -> None:
        """All flags, as indices into one place."""
        op: step.Expect = draft.op
        size, count = self.bytes(op.flags), prod(self.preparation.shape(op.flags))
        self.work += size
        self.act(op, Act(Kind.INSIDE, draft.slot, count, int(is_shared(size))), size)

    def act(self, op: Op, act: Act, bytes: int = 0, indices: Indices | None = None) -> int:
        """One action more; its number."""
        self.latest = None
        self.script.actions.append(act)
        self.about.add(op, bytes, indices)
        return self.position - 1

    def _lies(self, value: AnyValue) -> tuple[Base, Strides]:
        """Where an array begins, and how that follows loops."""
        root, offset, strides = self.root(value)
        start = self.offsets.get(root)
        if start is None:
            return (self.outline.addresses[root], offset), strides
        return (ARENA, offset + start), strides

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
        root, ops = self.outline.chain(value)
        offset, strides = 0, dict[AnyValue, int]()
        for op in ops:
            if isinstance(op, step.View):
                offset += self.preparation.numbers[op.offset] * op.array.dtype.itemsize
            else:
                strides[op.index] = strides.get(op.index, 0) + self.bytes(op.row)
        return root, offset, strides


WRITTEN: dict[type[Op], Callable[[Writing, Draft], None]] = {
    step.Branch: write_branch,
    step.Copy: Writing.copy,
    step.Expect: Writing.expect,
    step.Fill: Writing.fill,
    step.Inside: Writing.inside,
    step.Launch: Writing.launch,
    step.Loop: write_loop,
    step.Store: Writing.store,
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
