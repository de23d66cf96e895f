"""Results in memory that nobody reads any more.

Comes in: a step module whose kernels are final, and whose main func is the pass's to change; its
`donated` arguments, counted from 0, are memory that the step may write to. Goes out: the same
module, in which an array is made in the place of one of the same type: of a donated one that nobody
reads any more, or of one that the same kernel reads for the last time, each element right before it
writes there. What would only copy an array to where it is then is gone.
Never: an element that is read after it was written, whatever the order of a kernel's programs.
"""

from collections.abc import Iterable, Iterator

from ..ir import step
from ..ir.func import Module
from ..ir.values import AnyValue, Block, Op, replace
from .sharing import Sharing
from .touched import blocks_in, owner_of, touched


def in_place(module: Module) -> Module:
    """Let kernels write where they read for the last time, and results be what was donated."""
    sharing, main = Sharing(module), module.main
    for block in list(blocks_in(main.body)):
        donated = main.attributes.get("donated", ()) if block is main.body else ()
        _Block(block, sharing, [main.arguments[place] for place in donated]).reuse()
    sharing.drop_idle_copies()
    return module


class _Block:
    """The arrays of a block: at which op each is touched first, and last."""

    def __init__(self, block: Block, sharing: Sharing, donated: list[AnyValue]) -> None:
        self.block, self.sharing = block, sharing
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
        for other in self.sharing.read_beside(op, array):
            is_ours = other in (self.frees if array in self.frees else self.donated)
            if not is_ours or other is array or self.last.get(other) != place:
                continue
            if other.type is array.type and self.sharing.may_share(op, other, array):
                yield other

    def _take(self, array: AnyValue, others: Iterable[AnyValue]) -> bool:
        """Make an array in the memory of the first of some others, of the same type."""
        other = next((each for each in others if each.type is array.type), None)
        if other is None:
            return False
        self.last[other] = self.last.pop(array)
        self.donated.pop(other, None)
        self.sharing.replace(array, other)
        if array.op is not None:
            replace(array, other)
            array.op.detach()
        if other in self.frees:
            self.frees.pop(other).detach()
            self.frees[other] = self.frees.pop(array)
        return True
