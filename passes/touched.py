"""Which memory an op of the `step` floor reads and writes.

Comes in: ops of the host. Goes out: the arrays, each by the one that owns its memory.
Never: a part of an array: two parts of one count as the same memory, and who shows one reads it,
since it must be there.
"""

from collections.abc import Callable, Iterable, Iterator
from math import prod
from typing import Any, NamedTuple

from ..ir import step
from ..ir.values import AnyValue, Block, Op, walk

Values = Iterable[AnyValue]
PARTS = (step.View, step.Row)
"""The ops that show a part of an array."""


class Touched(NamedTuple):
    """The owners of the memory that an op reads, and of what it writes, in the order in which it
    does."""

    reads: dict[AnyValue, None]
    writes: dict[AnyValue, None]


def owner_of(array: AnyValue) -> AnyValue:
    """The array of which this one shows a part."""
    op = array.op
    while isinstance(op, PARTS):
        array = op.array
        op = array.op
    return array


def whole(array: AnyValue) -> AnyValue | None:
    """The array, or the row of one, of which this shows all elements in order, in any shape."""
    shown, op = array, array.op
    while isinstance(op, step.View):
        if op.offset != 0 or op.array.dtype is not shown.dtype:
            return None
        array = op.array
        op = array.op
    return array if prod(array.type.shape) == prod(shown.type.shape) else None


def drop(op: Op) -> None:
    """Take an op out of its block, and with it views that nobody else reads."""
    idle = [op]
    while idle:
        idle += [each for each in idle.pop().detach() if isinstance(each, PARTS) and each.unused]


def touched(op: Op) -> Touched:
    """What an op touches, with all that its regions do; an op that nobody knows writes all."""
    found = Touched({}, {})
    for each in walk([op]) if op.regions else (op,):
        touches = _TOUCHES.get(each.__class__, _everything)
        if touches is _nothing or not each.operands:  # as most ops, and this is asked of every one
            continue
        reads, writes = touches(each)
        found.reads.update(dict.fromkeys(map(owner_of, reads)))
        found.writes.update(dict.fromkeys(map(owner_of, writes)))
    return found


def blocks_in(block: Block) -> Iterator[Block]:
    """A block, and those of all regions inside."""
    yield block
    for op in block:
        for region in op.regions:
            yield from blocks_in(region)


def _everything(op: Op) -> tuple[Values, Values]:
    return op.operands, () if op.terminator else op.operands


def _only_reads(op: Op) -> tuple[Values, Values]:
    return op.operands, ()


def _nothing(op: Op) -> tuple[Values, Values]:
    return (), ()


def _listed(op: Any) -> tuple[Values, Values]:
    return op.reads, op.writes


_TOUCHES: dict[type[Op], Callable[[Any], tuple[Values, Values]]] = {
    step.Allocate: _nothing,
    step.Branch: _only_reads,
    step.Collective: _listed,
    step.Copy: lambda op: ((op.source,), (op.destination,)),
    step.Dim: _only_reads,
    step.Expect: _only_reads,
    step.Fill: lambda op: ((), (op.array,)),
    step.Host: _listed,
    step.Inside: _only_reads,
    step.Launch: _listed,
    step.Loop: _nothing,
    step.Row: _only_reads,
    step.Store: lambda op: ((op.number,), (op.array,)),
    step.View: _only_reads,
    step.When: _nothing,
    step.While: _only_reads,
}
