"""Takes out results of control flow that nobody reads, with all that only they need.

Comes in: a func. Goes out: the func in which loops, conditions and checkpoints make, carry and are
handed nothing that nobody reads; and in which, as after `dead`, no pure op is unused.
Never: a change to how often a region runs, or to an op that is read as a whole.
"""

from itertools import compress

from ..ir import tensor
from ..ir.builder import Builder
from ..ir.func import Func, Yield
from ..ir.rewriter import Journal
from ..ir.values import Block, Op, replace
from .context import Context
from .copying import copy_ops
from .dead import removable
from .declare import pipeline_pass
from .reads import needed

Flags = list[bool]
Slimmable = tensor.Loop | tensor.Cond | tensor.Checkpoint


@pipeline_pass("prune")
def prune(func: Func, context: Context) -> None:
    """Take out unused results of loops, conditions and checkpoints, and what only they need."""
    sweep(func.body, context)


def sweep(block: Block, journal: Journal | None = None) -> None:
    """The same in one block and the regions inside."""
    # A stack of ops, the last of the program on top: readers come before what they read.
    pending = list(block)
    while pending:
        op = pending.pop()
        if removable(op):
            if journal is None or journal.allow("prune", op):
                op.detach()
            continue
        if isinstance(op, Slimmable):
            handed, results = _used(op)
            if not all((*handed, *results)) and (journal is None or journal.allow("prune", op)):
                op = _slim(op, handed, results)
        for region in op.regions:
            pending.extend(region)


def _used(op: Slimmable) -> tuple[Flags, Flags]:
    """Which of what the regions are handed somebody reads, and which results."""
    results = [bool(result.uses) for result in op.results]
    count = len(op.carries) if isinstance(op, tensor.Loop) else 0
    while True:
        handed = [False] * _handed_count(op)
        for region in op.regions:
            found = needed(region, compress(region.terminator.operands, results))
            arguments = region.arguments[-len(handed) :] if handed else ()
            handed = [old or new in found for old, new in zip(handed, arguments, strict=True)]
        carried = [old or new for old, new in zip(results[:count], handed, strict=False)]
        if carried == results[:count]:
            return [*carried, *handed[count:]], results
        results[:count] = carried


def _handed_count(op: Slimmable) -> int:
    """How many operands the regions are handed: all but the predicate."""
    return len(op.operands) - isinstance(op, tensor.Cond)


def _slim(op: Slimmable, handed: Flags, results: Flags) -> Op:
    """The op without operands and results that have no flag, in its place."""
    assert op.block is not None
    builder = Builder(op.block, op, op.location)
    regions = [_slim_region(op, builder, region, handed, results) for region in op.regions]
    match op:
        case tensor.Loop():
            count = len(op.carries)
            carries, inputs = compress(op.carries, handed), compress(op.inputs, handed[count:])
            named = {"trip": op.trip, "reverse": op.reverse}
            made = builder.emit_all(tensor.Loop, carries, inputs, body=regions[0], **named)
        case tensor.Cond():
            arguments = compress(op.arguments, handed)
            made = builder.emit_all(tensor.Cond, op.predicate, arguments, *regions)
        case tensor.Checkpoint():
            arguments = compress(op.arguments, handed)
            made = builder.emit_all(tensor.Checkpoint, arguments, again=op.again, body=regions[0])
    for old, new in zip(compress(op.results, results), made, strict=True):
        new.name = old.name
        replace(old, new)
    slim = op.previous
    op.detach()
    assert slim is not None
    return slim


def _slim_region(
    op: Slimmable, builder: Builder, region: Block, handed: Flags, results: Flags
) -> Block:
    """A region that takes and yields only what has a flag."""
    first = len(region.arguments) - len(handed)
    kept = [*region.arguments[:first], *compress(region.arguments[first:], handed)]
    types = [value.type for value in kept]
    apart = isinstance(op, tensor.Checkpoint)
    inner = Builder(Block(types), location=op.location) if apart else builder.nest(types)
    values = dict(zip(kept, inner.block.arguments, strict=True))
    for old, new in values.items():
        new.name = old.name
    yielded = list(compress(region.terminator.operands, results))
    found = needed(region, yielded)
    ops = [each for each in region if not found.isdisjoint(each.results)]
    copy_ops(ops, inner, values)
    inner.location = region.terminator.location
    inner.emit_all(Yield, [values.get(value, value) for value in yielded])
    return inner.block
