"""Which 64-bit integers fit 32 bits, and which blocks lie inside of their views.

Comes in: a func of the tile floor. Goes out: proofs, from the grid, the bounds of loops and the
facts of views. The source computes what is `narrow` in `int32`, all else in `int64`.
Never: a guess.
"""

from collections.abc import Callable
from typing import Any

from ...ir import tile
from ...ir.dims import Size, interval
from ...ir.dtypes import i64
from ...ir.func import Func
from ...ir.tile import BinaryKind, CompareKind
from ...ir.values import AnyValue, Block, walk
from ...passes.ranges import Ranges

LOW, HIGH = -(1 << 31), (1 << 31) - 1
FAR = 1 << 63
Interval = tuple[int, int]
UNKNOWN = (-FAR, FAR - 1)


class Widths:
    """What is known of the integers of one func."""

    def __init__(self, func: Func) -> None:
        self.ranges = Ranges(func)
        self.grid: tuple[Size, ...] = tuple(func.attributes.get("grid", ()))
        self._intervals: dict[AnyValue, Interval] = {}
        self._assumed: dict[AnyValue, list[tuple[AnyValue, int]]] = {}
        for op in walk(func.body):
            self._assume(op)

    def _assume(self, op: Any) -> None:
        """Learn `x < limit` where it holds as soon as there is an x."""
        found = op.predicate.owner if isinstance(op, tile.Assume) else None
        if not isinstance(found, tile.Compare) or found.left.block is not op.block:
            return
        if found.kind in (CompareKind.LESS, CompareKind.LESS_EQUAL):
            less = found.kind is CompareKind.LESS
            self._assumed.setdefault(found.left, []).append((found.right, int(less)))

    def interval(self, value: AnyValue) -> Interval:
        """Between which numbers an i64, or each one of a tile, lies."""
        if value not in self._intervals:
            self._intervals[value] = UNKNOWN  # an argument of a loop may need itself
            self._intervals[value] = self._limited(value, self._find(value))
        return self._intervals[value]

    def narrow(self, value: AnyValue) -> bool:
        """Whether an i64, or each one of a tile, is computed in 32 bits."""
        if value.type.dtype is not i64:
            return False
        owner = value.owner
        if isinstance(owner, Block):
            loop = owner.parent_op
            if not isinstance(loop, tile.For) or value.index:
                return False
            return all(self.narrow(each) for each in loop.operands[:3])
        return not isinstance(owner, tile.If | tile.For) and _fits(self.interval(value))

    def size_fits(self, view: AnyValue, axis: int) -> bool:
        """Whether the size of a view along an axis fits 32 bits."""
        return _fits(interval(self.ranges.sizes_of(view)[axis]))

    def not_before(self, offset: AnyValue) -> bool:
        """Whether an offset is never negative."""
        place = self.ranges.of(offset)
        proved = place is not None and self.ranges.proves(0, place)
        return proved or self.interval(offset)[0] >= 0

    def not_beyond(self, offset: AnyValue, count: int, view: AnyValue, axis: int) -> bool:
        """Whether `count` elements from an offset on never pass the end of a view."""
        place = self.ranges.of(offset)
        size = self.ranges.sizes_of(view)[axis]
        return place is not None and self.ranges.proves(place + count, size)

    def block_fits(self, offset: AnyValue, count: int) -> bool:
        """Whether the places of `count` elements from an offset on fit 32 bits."""
        low, high = self.interval(offset)
        return self.narrow(offset) and _fits((low, high + count))

    def _limited(self, value: AnyValue, found: Interval) -> Interval:
        """What is assumed, and nothing that 64 bits would not hold."""
        low, high = found
        for limit, less in self._assumed.get(value, ()):
            high = min(high, self.interval(limit)[1] - less)
        return (low, high) if low >= -FAR and high < FAR else UNKNOWN

    def _find(self, value: AnyValue) -> Interval:
        owner: Any = value.owner
        if value.type.dtype is not i64:
            return UNKNOWN
        if isinstance(owner, Block):
            return self._of_index(value, owner)
        if isinstance(owner, tile.Binary):
            rule = RULES.get(owner.kind)
            operands = [self.interval(each) for each in owner.operands]
            return UNKNOWN if rule is None else rule(*operands)
        if isinstance(owner, tile.Full | tile.Broadcast | tile.Reshape | tile.Permute):
            return self.interval(owner.x)
        return self._of_source(owner)

    def _of_index(self, value: AnyValue, block: Block) -> Interval:
        """The index of a loop lies between its bounds."""
        loop = block.parent_op
        if not isinstance(loop, tile.For) or value.index:
            return UNKNOWN
        return self.interval(loop.lower)[0], self.interval(loop.upper)[1] - 1

    def _of_source(self, op: Any) -> Interval:
        """What comes from no other integer."""
        match op:
            case tile.Constant():
                return int(op.value.array), int(op.value.array)
            case tile.ProgramId() if op.axis < len(self.grid):
                return 0, interval(self.grid[op.axis])[1] - 1
            case tile.ProgramCount() if op.axis < len(self.grid):
                return interval(self.grid[op.axis])
            case tile.Extent():
                return interval(self.ranges.sizes_of(op.view)[op.axis])
            case tile.Iota():
                return 0, op.shape[op.axis] - 1
            case _:
                return UNKNOWN


def _fits(found: Interval) -> bool:
    return found[0] >= LOW and found[1] <= HIGH


def _corners(operate: Callable[[int, int], int]) -> Callable[[Interval, Interval], Interval]:
    """The rule of a function whose extremes lie where those of its operands do."""

    def rule(left: Interval, right: Interval) -> Interval:
        made = [operate(x, y) for x in left for y in right]
        return min(made), max(made)

    return rule


def _divided(left: Interval, right: Interval) -> Interval:
    """Of a dividend that is not negative: at most that, with the divisor's sign; by 0 it is 0."""
    if left[0] < 0:
        return UNKNOWN
    return -left[1] if right[0] < 0 else 0, left[1] // max(right[0], 1)


def _remaining(left: Interval, right: Interval) -> Interval:
    """Of a dividend that is not negative: less than the divisor, whatever its sign."""
    if left[0] < 0:
        return UNKNOWN
    return 0, max(0, min(left[1], max(-right[0], right[1]) - 1))


RULES: dict[BinaryKind, Callable[[Interval, Interval], Interval]] = {
    BinaryKind.ADD: _corners(lambda x, y: x + y),
    BinaryKind.SUBTRACT: _corners(lambda x, y: x - y),
    BinaryKind.MULTIPLY: _corners(lambda x, y: x * y),
    BinaryKind.MINIMUM: _corners(min),
    BinaryKind.MAXIMUM: _corners(max),
    BinaryKind.DIVIDE: _divided,
    BinaryKind.REMAINDER: _remaining,
}
