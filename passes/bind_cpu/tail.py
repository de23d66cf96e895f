"""What a block does after its last loop, written out twice: for blocks that lie inside of their
views, and with masks.

Comes in: a tile func. Goes out: its `Tails`, with the checks that nothing but them must see to.
Where a product ends, sums are stored with masks or without; the loop that makes them has nothing to
check, and is written out once.
Never: a tail of which the block yields something.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...ir import tile
from ...ir.func import Func
from ...ir.values import AnyValue, Block, Op, walk
from ..ranges import Ranges
from .checks import Check, Key, checks_of, holds, open_checks


@dataclass(frozen=True, slots=True)
class Tail:
    """The ops of a block after its last loop, with the checks that they alone have, and those that
    they share with others."""

    ops: Sequence[Op]
    checks: Sequence[Check]
    shared: Sequence[Check]


@dataclass(frozen=True, slots=True)
class Tails:
    """Those of a func, by their blocks, and the keys of their checks."""

    of: Mapping[Block, Tail]
    keys: frozenset[Key]


NO_TAILS = Tails({}, frozenset())


def tails_of(func: Func, ranges: Ranges) -> Tails:
    """The tails that have checks of their own."""
    loops = dict.fromkeys([op.block for op in func.walk() if isinstance(op, tile.For)])
    behind = {block: _behind_loops(block) for block in loops if block is not None}
    behind = {block: ops for block, ops in behind.items() if ops and not _yielded(block, ops)}
    if not behind:
        return NO_TAILS
    inside = {op for ops in behind.values() for op in walk(ops)}
    elsewhere = _keys([op for op in func.walk() if op not in inside], ranges)
    found: dict[Block, Tail] = {}
    for block, ops in behind.items():
        checks = open_checks(ops, ranges)
        own = [check for check in checks if check.key not in elsewhere]
        if own and all([_told_before(ops, check) for check in own]):
            shared = [check for check in checks if check.key in elsewhere]
            found[block] = Tail(ops, own, shared)
    return Tails(found, frozenset([each.key for tail in found.values() for each in tail.checks]))


def _behind_loops(block: Block) -> list[Op]:
    """The ops after the last loop of a block, but for its end."""
    ops = [*block][:-1]
    last = max([at for at, op in enumerate(ops) if isinstance(op, tile.For)])
    return ops[last + 1 :]


def _yielded(block: Block, ops: Iterable[Op]) -> bool:
    """Whether a block ends with what some of its ops make."""
    made = {value for op in ops for value in op.results}
    return any([value in made for value in block.terminator.operands])


def _keys(ops: Iterable[Op], ranges: Ranges) -> set[Key]:
    """The keys of the checks of these ops alone that are not proved."""
    found = [check for op in ops for check in checks_of(op, ranges)]
    return {check.key for check in found if not holds(check, ranges)}


def _told_before(ops: Sequence[Op], check: Check) -> bool:
    """Whether it can be told before these ops what a check says."""
    return check.source.owner not in ops and _known_before(ops, check.offset)


def _known_before(ops: Sequence[Op], offset: AnyValue) -> bool:
    """Whether an offset is made before these ops, or computed of such."""
    op = offset.owner
    if op not in ops:
        return True
    if not isinstance(op, tile.Constant | tile.Binary):
        return False
    return all([_known_before(ops, operand) for operand in op.operands])
