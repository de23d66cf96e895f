"""Arrays that are made where they would be copied to.

Comes in: a step module whose kernels are final, and whose main func is the pass's to change. Goes
out: the same module, in which what a block makes, copies whole into another array and frees is made
in that array. So a loop updates what it carries in place: the carry is copied, an element of the
copy is set, and the copy is put back in the place of the carry; all three are the carry then, and
both copies are gone.
Never: an element of the other array that is read after it was written; an update of a carry that is
read after that, in the same round, is made beside it.
"""

from ..ir import step
from ..ir.builder import Builder
from ..ir.func import Module
from ..ir.values import AnyValue, Block, replace
from .sharing import Sharing
from .touched import blocks_in, drop, owner_of, touched


def spare_copies(module: Module) -> Module:
    """Make arrays where they would be copied to; regions come before what they are regions of."""
    sharing = Sharing(module)
    for block in reversed(list(blocks_in(module.main.body))):
        _Copies(block, sharing).spare()
    sharing.drop_idle_copies()
    return module


class _Copies:
    """The copies of a block, and at which ops each array is touched."""

    def __init__(self, block: Block, sharing: Sharing) -> None:
        self.block, self.sharing = block, sharing
        self.ops = list(block)
        self.places = [place for place, op in enumerate(self.ops) if sharing.copied(op)]
        self.frees = {op.array: op for op in self.ops if isinstance(op, step.Free)}
        self.touches: dict[AnyValue, list[int]] = {}

    def spare(self) -> None:
        """The last copy first: what is made in its place may be a copy itself."""
        if self.places:
            self._note()
        for place in reversed(self.places):
            ends = self.sharing.copied(self.ops[place])
            assert ends is not None
            if ends[0] is ends[1]:
                self._drop(place, ends[0])
            elif self._may_be_made_there(place, *ends):
                self._make_there(place, *ends)

    def _note(self) -> None:
        for place, op in enumerate(self.ops):
            if not isinstance(op, step.Free | step.Allocate | step.View | step.Row):
                reads, writes = touched(op)
                for array in reads | writes:
                    self.touches.setdefault(array, []).append(place)

    def _drop(self, place: int, array: AnyValue) -> None:
        """A copy that is not made touches nothing."""
        drop(self.ops[place])
        self.touches[owner_of(array)].remove(place)

    def _may_be_made_there(self, place: int, source: AnyValue, target: AnyValue) -> bool:
        """Whether the source of a copy is this block's, is not touched after it, and is not there
        before all is done that touches what is in the target."""
        if source not in self.frees or not self._is_at_hand(target):
            return False
        first, last = self.touches[source][0], self.touches[source][-1]
        others = self.touches[owner_of(target)]
        if not first < place == last or any(first < at < place for at in others):
            return False
        return first not in others or self._begins_there(first, source, target)

    def _begins_there(self, first: int, source: AnyValue, target: AnyValue) -> bool:
        """Whether the op that first writes to the source may do so where it reads the target."""
        op = self.ops[first]
        if owner_of(target) is target:
            return self.sharing.may_share(op, target, source)
        return self.sharing.copied(op) == (target, source)

    def _is_at_hand(self, target: AnyValue) -> bool:
        """Whether an array is there from the begin of the block on, or can be."""
        return target.block is not self.block or isinstance(target.op, step.Allocate)

    def _make_there(self, place: int, source: AnyValue, target: AnyValue) -> None:
        """Let the target be the source, from where that is allocated on."""
        made = source.op
        assert made is not None
        if target.op is not None and target.op.block is self.block and made.precedes(target.op):
            self.block.move(target.op, made)
        seen = target
        if source.type is not target.type:
            shape = source.type.shape
            seen = Builder(self.block, made).emit(step.View, target, offset=0, shape=shape)
        self.frees.pop(source).detach()
        drop(self.ops[place])
        self.sharing.forget(source)
        replace(source, seen)
        made.detach()
        owner = owner_of(target)
        touches = {*self.touches.pop(source), *self.touches[owner]} - {place}
        self.touches[owner] = sorted(touches)
