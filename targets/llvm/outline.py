"""What ops of a step become that the native core does in one call, whatever their sizes are.

Comes in: launches of compiled kernels, copies, fills, checks of indices, loops, branches, and what
is said of memory around them, in the order of a step, where its choices are made. Goes out: an
`Outline`: a draft of each action, the slots, what each of them holds, and which arrays lie in one
piece of memory, the arena. `writing` makes a script of it for some sizes.
Never: a size; or an op of which only Python knows what it does.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...ir import step
from ...ir.dims import Size
from ...ir.dtypes import SIGNED
from ...ir.tile.ids import MAX_GRID_RANK
from ...ir.types import Scalar, Type
from ...ir.values import AnyValue, Op
from ...passes.touched import PARTS
from ..script import Place
from .flow import Flow
from .native import all_of

SLOT = 8
"""The bytes of one."""
ARENA = 0
"""The number of its address."""


class Run(NamedTuple):
    """One run of a kernel: its grid, of as many axes as any has; the first of the slots that it is
    handed, and how many there are; and the types of what they stand for."""

    grid: Sequence[Size]
    slots: tuple[int, int]
    types: list[Type]


class Draft(NamedTuple):
    """An action, or those of a loop or a branch: the op, its first slot, each run of its kernel,
    and what each of its regions does."""

    op: Any
    slot: int
    runs: Sequence[Run] = ()
    regions: "Sequence[Sequence[Draft]]" = ()


class Outline:
    """That of ops; nothing is left to Python before and after them, if they are all of the step
    that takes these `inputs`.

    A slot holds where an array begins, which lies alone (`places`), in the arena (`packed`), or in
    another one (`parts`); what a type says of sizes and strides, from the one behind the slot on
    (`sized`); one size (`dims`); the index of a loop (`indices`); or a number that is given
    (`scalars`). Of the arrays some are `alive` from one op to another, `made` in each call, or
    `gone` after it; of others Python has `seen` a part, or a size.
    """

    def __init__(
        self, flow: Flow, ops: Sequence[Op], inputs: Sequence[AnyValue] | None = None
    ) -> None:
        every = [*all_of(flow, ops)]
        self.flow, self.ops, self.whole = flow, dict.fromkeys(every), inputs is not None
        self.addresses = {value: place for place, value in enumerate(inputs or (), ARENA + 1)}
        self.alive = _alive(every)
        self.slots = list[int]()
        self.sized, self.dims = list[tuple[int, Type]](), list[tuple[int, AnyValue, int]]()
        self.places, self.packed = list[Place](), list[tuple[int, AnyValue]]()
        self.parts, self.indices = list[tuple[int, AnyValue]](), list[tuple[int, AnyValue]]()
        self.scalars = list[tuple[int, AnyValue]]()
        self.made, self.gone = list[AnyValue](), list[AnyValue]()
        self.seen = list[step.View | step.Dim]()
        self._chains: dict[AnyValue, tuple[AnyValue, list[Any]]] = {}
        self._loops = set[AnyValue]()
        self.drafts = self.draft(ops)

    def draft(self, ops: Iterable[Op]) -> list[Draft]:
        """All actions in order."""
        drafts = [DRAFTED[op.__class__](self, op) for op in ops]
        return [each for each in drafts if each is not None]

    def chain(self, value: AnyValue) -> tuple[AnyValue, list[Any]]:
        """The array whose memory this is, as far as it is known here; and the ops that show parts
        of it in turn, the innermost first."""
        known = self._chains.get(value)
        if known is None:
            root, ops = value, list[Any]()
            while isinstance(op := root.op, PARTS) and op in self.ops:
                ops.append(op)
                root = op.array
            known = self._chains[value] = root, ops
        return known

    def allocate(self, op: step.Allocate) -> None:
        """Memory that is freed here has its place; other memory is made in each call."""
        if op.array not in self.alive:
            self.made.append(op.array)
            self.address(op.array)

    def free(self, op: step.Free) -> None:
        """Python lets go of what it has; what a step is given stays its caller's."""
        if op.array not in self.alive:
            self.gone.append(op.array)

    def view(self, op: step.View) -> None:
        """Who launches a kernel on a view says where it begins; Python makes it for all others."""
        if self._is_seen(op.part):
            self.seen.append(op)

    def dim(self, op: step.Dim) -> None:
        """Kernels are handed the size; Python keeps it for all others."""
        if self._is_seen(op.size):
            self.seen.append(op)

    def _is_seen(self, value: AnyValue) -> bool:
        """Whether Python has a use for it."""
        if self.whole:
            return False
        skipped = self.flow.is_skipped
        return any([use not in self.ops and not skipped(use) for use in value.uses])

    def launch(self, op: step.Launch) -> Draft:
        """The slots of each group."""
        return Draft(op, len(self.slots), runs=[self._run(group) for group in op.each])

    def _run(self, group: step.Group) -> Run:
        """Slots for what a kernel is handed: numbers, and arrays with their sizes and strides."""
        first, values = len(self.slots), (*group.reads, *group.writes)
        for value in values:
            if isinstance(value.type, Scalar):
                self._number(value)
            else:
                self._array(value)
        grid = (*group.grid, *[1] * (MAX_GRID_RANK - len(group.grid)))
        return Run(grid, (first, len(self.slots) - first), [value.type for value in values])

    def _array(self, value: AnyValue) -> None:
        slot, type_ = len(self.slots), value.type
        self.place(slot, value)
        self.sized.append((slot, type_))
        self.slots += [0] * (1 + 2 * len(type_.shape))

    def _number(self, value: AnyValue) -> None:
        """A slot for a number: a size, the index of a loop, or one that is given."""
        slot, op = self.slot(), value.op
        if isinstance(op, step.Dim) and op in self.ops:
            self.dims.append((slot, op.array, op.axis))
        elif value in self._loops:
            self.indices.append((slot, value))
        else:
            self.scalars.append((slot, value))

    def copy(self, op: step.Copy) -> Draft:
        """Bytes, from an array to another one."""
        draft = Draft(op, len(self.slots))
        self.place(self.slot(), op.destination)
        self.place(self.slot(), op.source)
        return draft

    def fill(self, op: step.Fill) -> Draft:
        """An element, repeated."""
        draft, element = Draft(op, len(self.slots)), op.value.array.tobytes()
        self.place(self.slot(), op.array)
        padded = element.ljust(-(-len(element) // SLOT) * SLOT, b"\0")
        self.slots += np.frombuffer(padded, np.uint64).tolist()
        return draft

    def store(self, op: step.Store) -> Draft:
        """The bytes of a number."""
        draft = Draft(op, len(self.slots))
        self.place(self.slot(), op.array)
        self._number(op.number)
        return draft

    def inside(self, op: step.Inside) -> Draft:
        """All indices, those of each axis with its size."""
        draft, dtype = Draft(op, len(self.slots)), op.indices.dtype
        self.place(self.slot(), op.indices)
        self.slots += [dtype.storage.itemsize, int(dtype in SIGNED), len(op.axes)]
        self.dims += [(self.slot(), op.array, axis) for axis in op.axes]
        return draft

    def expect(self, op: step.Expect) -> Draft:
        """All flags, as indices into one place."""
        draft, dtype = Draft(op, len(self.slots)), op.flags.dtype
        self.place(self.slot(), op.flags)
        self.slots += [dtype.storage.itemsize, int(dtype in SIGNED), 1, 1]
        return draft

    def loop(self, op: step.Loop) -> Draft:
        """The body, with a slot for its index."""
        slot = self.slot()
        self._loops.update(op.body.arguments)
        return Draft(op, slot, regions=[self.draft(self.flow.ops[op.body])])

    def choice(self, op: step.While | step.Branch) -> Draft:
        """The regions, with a slot for where the predicate is."""
        slot = self.slot()
        self.place(slot, op.predicate)
        return Draft(op, slot, regions=[self.draft(self.flow.ops[each]) for each in op.regions])

    def row(self, op: step.Row) -> None:
        """Who uses it says where it is."""

    def slot(self) -> int:
        """One slot more."""
        self.slots.append(0)
        return len(self.slots) - 1

    def place(self, slot: int, value: AnyValue) -> None:
        """Let a slot hold where an array begins."""
        root, ops = self.chain(value)
        number = None if root in self.alive else self.address(root)
        if ops:
            self.parts.append((slot, value))
        elif number is None:
            self.packed.append((slot, root))
        else:
            self.places.append((slot, number, 0))

    def address(self, root: AnyValue) -> int:
        """The number of the address of memory that is not in the arena."""
        return self.addresses.setdefault(root, ARENA + 1 + len(self.addresses))


def outline_of(flow: Flow, ops: Iterable[Op]) -> Outline:
    """That of a part of a step, made when it is first asked for."""
    key = tuple(ops)
    found = flow.parts.get(key)
    if found is None:
        found = flow.parts[key] = Outline(flow, key)
    return found


def _alive(ops: Sequence[Op]) -> dict[AnyValue, tuple[int, int]]:
    """From where to where arrays are alive that are freed again."""
    begins = {op.array: place for place, op in enumerate(ops) if isinstance(op, step.Allocate)}
    ends = {op.array: place for place, op in enumerate(ops) if isinstance(op, step.Free)}
    return {array: (begin, ends[array]) for array, begin in begins.items() if array in ends}


DRAFTED: dict[type[Op], Callable[[Outline, Any], Draft | None]] = {
    step.Allocate: Outline.allocate,
    step.Branch: Outline.choice,
    step.Copy: Outline.copy,
    step.Dim: Outline.dim,
    step.Expect: Outline.expect,
    step.Fill: Outline.fill,
    step.Free: Outline.free,
    step.Inside: Outline.inside,
    step.Launch: Outline.launch,
    step.Loop: Outline.loop,
    step.Row: Outline.row,
    step.Store: Outline.store,
    step.View: Outline.view,
    step.While: Outline.choice,
}
