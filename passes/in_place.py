"""Results in memory that nobody reads any more.

Comes in: a step module whose kernels are final, and whose main func is the pass's to change; its
`donated` arguments, counted from 0, are memory that the step may write to. Goes out: the same
module, in which an array is made in the place of one of the same type: of a donated one that nobody
reads any more, or of one that the same kernel reads for the last time, each element right before it
writes there.
Never: an element that is read after it was written, whatever the order of a kernel's programs.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ..ir import step, tile
from ..ir.func import Func, Module
from ..ir.values import AnyValue, Block, Op, replace
from .touched import blocks_in, owner_of, touched

Pairs = frozenset[tuple[int, int]]
"""Arguments of a kernel, of which the second may be written in the memory of the first."""


def in_place(module: Module) -> Module:
    """Let kernels write where they read for the last time, and results be what was donated."""
    kernels, main = _Kernels(module), module.main
    for block in list(blocks_in(main.body)):
        donated = main.attributes.get("donated", ()) if block is main.body else ()
        _Block(block, kernels, [main.arguments[place] for place in donated]).reuse()
    return module


class _Block:
    """The arrays of a block: at which op each is touched first, and last."""

    def __init__(self, block: Block, kernels: "_Kernels", donated: list[AnyValue]) -> None:
        self.block, self.kernels = block, kernels
        self.ops = list(block)
        self.first, self.last = dict[AnyValue, int](), dict[AnyValue, int]()
        self.frees: dict[AnyValue, Op] = {}
        for place, op in enumerate(self.ops):
            self._note(place, op)
        returned = {owner_of(value) for value in block.terminator.operands}
        self.donated = dict.fromkeys(each for each in donated if each not in returned)

    def _note(self, place: int, op: Op) -> None:
        if isinstance(op, step.Free):
            self.frees[op.array] = op
        elif not isinstance(op, step.Allocate | step.View):
            reads, writes = touched(op)
            for array in reads | writes:
                self.first.setdefault(array, place)
                self.last[array] = place

    def reuse(self) -> None:
        """Find memory for all that is allocated here: where it is read, else what was donated."""
        made = [op.array for op in self.ops if isinstance(op, step.Allocate)]
        made = sorted([each for each in made if each in self.first], key=self.first.__getitem__)
        left = [each for each in made if not self._take(each, self._read_for(each))]
        for array in left:
            if array not in self.frees:
                place = self.first[array]
                dead = (each for each in self.donated if self.last.get(each, -1) < place)
                self._take(array, dead)

    def _read_for(self, array: AnyValue) -> Iterator[AnyValue]:
        """The arrays in whose place this one can be made while they are read."""
        place = self.first[array]
        op = self.ops[place]
        for other in self.kernels.read_beside(op, array):
            is_ours = other in (self.frees if array in self.frees else self.donated)
            if not is_ours or other is array or self.last.get(other) != place:
                continue
            if other.type is array.type and self.kernels.may_share(op, other, array):
                yield other

    def _take(self, array: AnyValue, others: Iterable[AnyValue]) -> bool:
        """Make an array in the memory of the first of some others, of the same type."""
        other = next((each for each in others if each.type is array.type), None)
        if other is None:
            return False
        self.last[other] = self.last.pop(array)
        self.donated.pop(other, None)
        self.kernels.replace(array, other)
        if array.op is not None:
            replace(array, other)
            array.op.detach()
        if other in self.frees:
            self.frees.pop(other).detach()
            self.frees[other] = self.frees.pop(array)
        return True


class _Use(NamedTuple):
    """An array among those that a group of a launch hands to the kernel."""

    group: int
    place: int
    value: AnyValue
    is_written: bool


class _Kernels:
    """What kernels allow, each looked at once; and what launches hand to them."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.pairs: dict[str, Pairs] = {}
        self.uses: dict[Op, dict[AnyValue, list[_Use]]] = {}
        self.reads: dict[Op, list[list[AnyValue]]] = {}
        self.place_of: dict[AnyValue, AnyValue] = {}

    def read_beside(self, op: Op, array: AnyValue) -> list[AnyValue]:
        """What an op reads where it writes an array."""
        if not isinstance(op, step.Launch):
            return [*touched(op).reads]
        uses = self._uses_in(op)
        found = [each for use in uses[array] for each in self.reads[op][use.group]]
        return [*dict.fromkeys(map(self._made_in, found))]

    def _made_in(self, array: AnyValue) -> AnyValue:
        while array in self.place_of:
            array = self.place_of[array]
        return array

    def replace(self, array: AnyValue, other: AnyValue) -> None:
        """An array is made in the place of another one, which may be made in that of a third."""
        self.place_of[array] = other
        for uses in self.uses.values():
            if array in uses:
                uses.setdefault(other, []).extend(uses.pop(array))

    def may_share(self, op: Op, read: AnyValue, made: AnyValue) -> bool:
        """Whether an array, of which nothing is there yet, can be made in the memory of one that
        this op reads."""
        return self._is_made([op], read, made, False) is not None

    def _is_made(self, ops: Iterable[Op], read: AnyValue, made: AnyValue, is_made: bool) -> Any:
        """Whether something of the new array is there after some ops; None if they cannot share."""
        for op in ops:
            if isinstance(op, step.When):
                found = [self._is_made(region, read, made, is_made) for region in op.regions]
                if None in found:
                    return None
                is_made = any(found)
            elif isinstance(op, step.Launch):
                uses = self._uses_in(op)
                if read in uses and (is_made or not self._launched(op, uses[read], uses.get(made))):
                    return None
                is_made = is_made or made in uses
            elif not isinstance(op, step.View | step.Allocate | step.Free):
                reads, writes = touched(op)
                if read in writes or (read in reads and (is_made or made in reads | writes)):
                    return None
                is_made = is_made or made in writes
        return is_made

    def _launched(self, op: step.Launch, ours: list[_Use], theirs: list[_Use] | None) -> bool:
        """Whether one launch may read and write the same memory."""
        if any(use.is_written for use in ours):
            return False
        pairs = self._pairs(op.kernel)
        for one in ours if theirs else ():
            beside = [other for other in theirs or () if other.group == one.group]
            safe = all((one.place, other.place) in pairs for other in beside)
            if not beside or not safe or not all(_alike(one.value, each.value) for each in beside):
                return False
        return True

    def _uses_in(self, op: step.Launch) -> dict[AnyValue, list[_Use]]:
        """Where each array stands among what a launch hands over."""
        if op not in self.uses:
            found = self.uses[op] = dict[AnyValue, list[_Use]]()
            self.reads[op] = []
            for number, group in enumerate(op.each):
                count = len(group.reads)
                owners = [owner_of(value) for value in (*group.reads, *group.writes)]
                self.reads[op].append(owners[:count])
                for place, value in enumerate((*group.reads, *group.writes)):
                    use = _Use(number, place, value, place >= count)
                    found.setdefault(owners[place], []).append(use)
        return self.uses[op]

    def _pairs(self, name: str) -> Pairs:
        if name not in self.pairs:
            self.pairs[name] = frozenset(_pairs_of(self.module[name]))
        return self.pairs[name]


def _alike(one: AnyValue, other: AnyValue) -> bool:
    """Whether equal indices of two arrays mean the same place of their memory."""
    return one.type is other.type and _begins(one) and _begins(other)


def _begins(array: AnyValue) -> bool:
    """Whether an array begins where its memory does."""
    while isinstance(array.op, step.View):
        if array.op.offset != 0:
            return False
        array = array.op.array
    return not isinstance(array.op, step.Row)


def _pairs_of(kernel: Func) -> Iterator[tuple[int, int]]:
    """The views of a kernel of tiles of which each element is stored once, right after those are
    loaded that stand at the same place of others."""
    if "tile" not in kernel.attributes:  # written by hand: its programs may meet
        return
    told = _told(kernel)
    for written, view in enumerate(kernel.arguments):
        stores = _uses(view)
        if len(stores) != 1 or not isinstance(stores[0], tile.Store):
            continue
        store = stores[0]
        if not _is_stored_once(kernel, store, told):
            continue
        for read, other in enumerate(kernel.arguments):
            loads = _uses(other)
            if loads and all(_is_before(op, store) for op in loads):
                yield read, written


def _uses(view: AnyValue) -> list[Op]:
    """What looks at the elements of a view."""
    return [op for op in view.uses if not isinstance(op, tile.Extent)]


def _is_before(op: Op, store: tile.Store) -> bool:
    """Whether an op loads what stands where a store is about to write."""
    return (
        isinstance(op, tile.Load)
        and op.block is store.block
        and op.order < store.order
        and op.offsets == store.offsets
        and op.shape == store.value.type.shape
    )


def _is_stored_once(kernel: Func, store: tile.Store, told: dict[AnyValue, set[object]]) -> bool:
    """Whether each program, and each round of the loops around it, stores at places of its own."""
    grid = kernel.attributes.get("grid") or ()
    needed: set[object] = {axis for axis, count in enumerate(grid) if count != 1}
    op = store.block and store.block.parent_op
    while op is not None:
        needed.update(region for region in op.regions if region.arguments)
        op = op.block and op.block.parent_op
    return needed <= set[object]().union(*[told.get(each, ()) for each in store.offsets])


def _told(kernel: Func) -> dict[AnyValue, set[object]]:
    """On which axes of the grid, and on which rounds of loops, each value depends."""
    told: dict[AnyValue, set[object]] = {}
    for op in kernel.walk():
        known = {each for operand in op.operands for each in told.get(operand, ())}
        if isinstance(op, tile.ProgramId):
            known.add(int(op.axis))
        for value in op.results:
            told[value] = known
        for region in op.regions:
            inner = {*known, region}
            for value in region.arguments:
                told[value] = inner
    return told
