"""What ops read, also from inside their regions, and what of a block is needed for what.

Comes in: ops, blocks, values. Goes out: values, or ops.
Never: a change to them.
"""

from collections.abc import Iterable, Sequence, Set

from ..ir.values import AnyValue, Block, Op, walk


def captured(regions: Iterable[Block]) -> list[AnyValue]:
    """The values that regions read from outside, each once."""
    made: set[AnyValue] = set()
    read: dict[AnyValue, None] = {}
    for region in regions:
        made.update(region.arguments)
        for op in walk(region):
            made.update(op.results)
            read.update(dict.fromkeys(op.operands))
            for inner in op.regions:
                made.update(inner.arguments)
    return [value for value in read if value not in made]


def reads(op: Op) -> Sequence[AnyValue]:
    """The values that an op reads, in its regions too, unless they are made there."""
    return (*op.operands, *captured(op.regions)) if op.regions else op.operands


def depends(op: Op, values: Set[AnyValue]) -> bool:
    """Whether an op reads one of the values."""
    return not values.isdisjoint(reads(op))


def needed(block: Block, wanted: Iterable[AnyValue]) -> set[AnyValue]:
    """The wanted values, and all that the ops of a block read to make them."""
    found = set(wanted)
    for op in reversed(list(block)):
        if not found.isdisjoint(op.results):
            found.update(reads(op))
    return found
