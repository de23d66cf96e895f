"""What is written out twice inside of loops: for blocks that lie inside of their views, and with
masks.

Comes in: a tile func. Goes out: its `Tails`, with the checks that nothing but them must see to:
what a block does after its last loop, or all of it where something is transposed. Where a product
ends, sums are stored with masks or without; the loop that makes them has nothing to check, and is
written out once. A transposition is long, and four of them, for the interior and the edge of two
axes, would be very long; so is what stands behind the last check, which is written out once, too.
Never: a tail of which the block yields something.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...ir import tile
from ...ir.func import Func
from ...ir.tile import BinaryKind
from ...ir.types import View
from ...ir.values import AnyValue, Block, Op, walk
from ..ranges import Ranges
from .checks import Check, Key, checks_of, holds, open_checks


@dataclass(frozen=True, slots=True)
class Tail:
    """The last ops of a block: those that are written out twice, and those behind them, which need
    not be; with the checks that they alone have, and those that they share with others."""

    ops: Sequence[Op]
    behind: Sequence[Op]
    checks: Sequence[Check]
    shared: Sequence[Check]


@dataclass(frozen=True, slots=True)
class Tails:
    """Those of a func, by their blocks, and the keys of their checks."""

    of: Mapping[Block, Tail]
    keys: frozenset[Key]


_EVALUATED = (BinaryKind.ADD, BinaryKind.SUBTRACT, BinaryKind.MULTIPLY)
"""What `split.evaluate` computes of offsets."""
NO_TAILS = Tails({}, frozenset())


def tails_of(func: Func, ranges: Ranges) -> Tails:
    """The tails that have checks of their own."""
    loops = dict.fromkeys([op.block for op in func.walk() if isinstance(op, tile.For)])
    behind = {block: _behind_loops(block) for block in loops if block is not None}
    behind |= {block: [*block][:-1] for block in _transposing(func) if block not in behind}
    behind = {block: ops for block, ops in behind.items() if ops and not _yielded(block, ops)}
    if not behind:
        return NO_TAILS
    inside = {op for ops in behind.values() for op in walk(ops)}
    elsewhere = _keys([op for op in func.walk() if op not in inside], ranges)
    found: dict[Block, Tail] = {}
    for block, ops in behind.items():
        checks, made = open_checks(ops, ranges), _makers(ops)
        own = [check for check in checks if check.key not in elsewhere]
        if own and all([_told_before(made, check) for check in own]):
            shared = [check for check in checks if check.key in elsewhere]
            found[block] = Tail(*_cut(ops, own, ranges), own, shared)
    return Tails(found, frozenset([each.key for tail in found.values() for each in tail.checks]))


def _behind_loops(block: Block) -> list[Op]:
    """The ops after the last loop of a block, but for its end."""
    ops = [*block][:-1]
    last = max([at for at, op in enumerate(ops) if isinstance(op, tile.For)])
    return ops[last + 1 :]


def _transposing(func: Func) -> list[Block]:
    """The bodies of loops in which neighbours become others than before."""
    found = [op.block for op in func.walk() if isinstance(op, tile.Permute) and _transposes(op)]
    return [each for each in found if each is not None and isinstance(each.parent_op, tile.For)]


def _transposes(op: tile.Permute) -> bool:
    long = [axis for axis in op.axes if op.x.type.shape[axis] != 1]
    return long != sorted(long)


def _cut(ops: list[Op], checks: Sequence[Check], ranges: Ranges) -> tuple[list[Op], list[Op]]:
    """The ops from the first to the last one with such a check, and those behind them, unless these
    use a view that is made in between: a branch gives back numbers."""
    keys = {check.key for check in checks}
    have = [at for at, op in enumerate(ops) if keys.intersection(keys_of([op], ranges))]
    first, last = have[0], have[-1] + 1
    if any([isinstance(value.type, View) for value in read_behind(ops[first:last], ops[last:])]):
        last = len(ops)
    return ops[first:last], ops[last:]


def read_behind(ops: Iterable[Op], behind: Iterable[Op]) -> list[AnyValue]:
    """What some ops make that those behind them read, each once."""
    read = {value for op in walk(behind) for value in op.operands}
    return [value for op in ops for value in op.results if value in read]


def _yielded(block: Block, ops: Iterable[Op]) -> bool:
    """Whether a block ends with what some of its ops make."""
    made = {value for op in ops for value in op.results}
    return any([value in made for value in block.terminator.operands])


def keys_of(ops: Iterable[Op], ranges: Ranges) -> set[Key]:
    """The keys of the checks of these ops, and of those in their regions, that are not proved."""
    return _keys(walk(ops), ranges)


def _keys(ops: Iterable[Op], ranges: Ranges) -> set[Key]:
    """The keys of the checks of these ops alone that are not proved."""
    found = [check for op in ops for check in checks_of(op, ranges)]
    return {check.key for check in found if not holds(check, ranges)}


def _makers(ops: Iterable[Op]) -> set[Op | Block]:
    """What makes the values of these ops, and of those in their regions."""
    all_ops = [*walk(ops)]
    return {*all_ops, *[region for op in all_ops for region in op.regions]}


def _told_before(made: Collection[Op | Block], check: Check) -> bool:
    """Whether it can be told what a check says before these make their values."""
    return check.source.owner not in made and _known_before(made, check.offset)


def _known_before(made: Collection[Op | Block], offset: AnyValue) -> bool:
    """Whether an offset is made by others, or computed of such."""
    op = offset.owner
    if op not in made or isinstance(op, tile.Constant):
        return True
    if not isinstance(op, tile.Binary) or op.kind not in _EVALUATED:
        return False
    return all([_known_before(made, operand) for operand in op.operands])
