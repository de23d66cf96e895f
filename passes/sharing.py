"""What may read and write the same memory.

Comes in: a step module whose kernels are final. Goes out: `Sharing`, which says of an op of the
host whether an array that it makes may be made in the memory of one that it reads; and
which ops are but copies.
Never: an element that is read after it was written, whatever the order of a kernel's programs.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from ..ir import step
from ..ir.func import Module
from ..ir.values import AnyValue, Op
from .places import Pairs, is_copy, pairs_of
from .touched import drop, owner_of, touched, whole


class _Use(NamedTuple):
    """An array among those that a group of a launch hands to the kernel."""

    group: int
    place: int
    value: AnyValue
    is_written: bool


class Sharing:
    """What kernels allow, each looked at once; and what launches hand to them."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.pairs: dict[str, Pairs] = {}
        self.copies: dict[str, bool] = {}
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

    def copied(self, op: Op) -> tuple[AnyValue, AnyValue] | None:
        """The array of which an op makes but a copy, and the one that is the copy; both whole."""
        if isinstance(op, step.Copy):
            ends = op.source, op.destination
        elif isinstance(op, step.Launch) and op.count == 1 and self._copies(op.kernel):
            ends = op.reads[0], op.writes[0]
        else:
            return None
        source, target = map(whole, ends)
        return None if source is None or target is None else (source, target)

    def drop_idle_copies(self) -> None:
        """Make no copies of arrays that have come to be the same as what they are copied from."""
        for op in list(self.module.main.walk()):
            ends = self.copied(op)
            if ends and ends[0] is ends[1]:
                drop(op)

    def forget(self, array: AnyValue) -> None:
        """Another array will stand in the place of this one."""
        for op in [op for op, uses in self.uses.items() if array in uses]:
            del self.uses[op], self.reads[op]

    def may_share(self, op: Op, read: AnyValue, made: AnyValue) -> bool:
        """Whether an array, of which nothing is there yet, can be made in the memory of one that
        this op reads."""
        return self._is_made([op], read, made, False) is not None

    def _is_made(self, ops: Iterable[Op], read: AnyValue, made: AnyValue, is_made: bool) -> Any:
        """Whether something of the new array is there after some ops; None if they cannot share."""
        for op in ops:
            if self.copied(op) == (read, made):
                if is_made:
                    return None
                is_made = True
            elif isinstance(op, step.When | step.Branch):
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
            self.pairs[name] = frozenset(pairs_of(self.module[name]))
        return self.pairs[name]

    def _copies(self, name: str) -> bool:
        if name not in self.copies:
            self.copies[name] = is_copy(self.module[name])
        return self.copies[name]


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
