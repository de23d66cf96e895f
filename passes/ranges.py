"""What is known of the scalars of a tile func before it runs: each as a symbolic size.

Comes in: a tile func. Goes out: for a scalar the dim that it is, if it is one; proofs that one dim
is at most another, from the grid, the bounds of loops and the facts of views.
Never: a guess; None where nothing is known.
"""

from typing import Any, cast

from ..ir import tile
from ..ir.dims import DimError, Size, Symbol, ceil_div, interval, maximum, minimum, symbols
from ..ir.dtypes import i64
from ..ir.facts import Claim, Facts, at_most
from ..ir.func import Func
from ..ir.tile import BinaryKind
from ..ir.values import AnyValue, Block
from .examples import some_examples

FARTHEST = 1 << 62
"""As large as a size may be of which nothing is known."""
WRAPS = 1 << 120
"""Integers wrap, and dims do not: what may be as large is no dim. Products of three sizes of `1 <<
39`, which is what kernels are bounded by, are smaller."""


class Ranges:
    """The dims of a func's scalars and of its views' sizes."""

    def __init__(self, func: Func) -> None:
        self.grid: tuple[Size, ...] = tuple(func.attributes.get("grid", ()))
        self.dims: dict[AnyValue, Size | None] = {}
        self.extents: dict[AnyValue, tuple[Size, ...]] = {}
        self.turns: dict[AnyValue, Symbol] = {}
        self.programs: dict[int, Symbol] = {}
        self.claims: list[Claim] = []
        self.counts: dict[Symbol, Size] = {}
        self.bounds: dict[Symbol, Claim] = {}
        self.examples = some_examples(self.counts)
        self.proofs: dict[tuple[Size, Size], bool] = {}
        self.symbols = 0

    def proves(self, small: Size, large: Size) -> bool:
        """Whether `small <= large` is certain."""
        key = (small, large)
        if key not in self.proofs:
            self.proofs[key] = self._prove(small, large)
        return self.proofs[key]

    def _prove(self, small: Size, large: Size) -> bool:
        try:
            assumed = [*self.claims, *self._inside(small, large)]
            examples = [each for each in self.examples if each.meets(assumed)]
            return Facts(assumed, examples).at_most(small, large)
        except DimError:
            return False

    def _inside(self, small: Size, large: Size) -> list[Claim]:
        """What holds in the loops that the two sizes speak of. A loop may have no round at all, so
        nothing may be concluded from it elsewhere."""
        pending, found = [*symbols(small), *symbols(large)], dict[Symbol, Claim]()
        while pending:
            turn = pending.pop()
            if turn in self.bounds and turn not in found:
                found[turn] = self.bounds[turn]
                pending += symbols(self.counts[turn])
        return [*found.values()]

    def of(self, value: AnyValue) -> Size | None:
        """The dim that a scalar is. What is the size of a part of a view is one in any case, and it
        is not negative."""
        if value not in self.dims:
            found = self._find(value)
            self.dims[value] = self._symbol() if found is None and _is_size(value) else found
        return self.dims[value]

    def sizes_of(self, view: AnyValue) -> tuple[Size, ...]:
        """The size of each axis of a view."""
        if view not in self.extents:
            self.extents[view] = self._sizes(view)
        return self.extents[view]

    def turn_of(self, index: AnyValue) -> Symbol | None:
        """What the index of a loop is counted by, if its step is known."""
        self.of(index)
        return self.turns.get(index)

    def _sizes(self, view: AnyValue) -> tuple[Size, ...]:
        owner = view.owner
        if isinstance(owner, tile.View):
            return tuple([cast(Size, self.of(value)) for value in owner.sizes])
        stated = view.type.facts.get("size")
        unknown = tuple([self._symbol() for _ in range(view.type.rank)])
        return unknown if stated is None else stated

    def _symbol(self) -> Symbol:
        self.symbols += 1
        return Symbol(f"_{self.symbols}", 0, FARTHEST)

    def _find(self, value: AnyValue) -> Size | None:
        owner = value.owner
        try:
            return self._index(value, owner) if isinstance(owner, Block) else self._computed(owner)
        except DimError:
            return None

    def _index(self, value: AnyValue, block: Block) -> Size | None:
        """lower + step * turn, for the index of a loop."""
        owner = block.parent_op
        if not isinstance(owner, tile.For) or value.index != 0:
            return None
        lower, upper, step = (self.of(each) for each in owner.operands[:3])
        if lower is None or upper is None or not isinstance(step, int) or step < 1:
            return None
        turn = self.turns[value] = self._symbol()
        count = ceil_div(upper - lower, step)
        self.counts[turn], self.bounds[turn] = count, at_most(turn + 1, count)
        return lower + step * turn

    def _computed(self, op: Any) -> Size | None:
        match op:
            case tile.Constant() if op.result.dtype is i64:
                return int(op.value.array)
            case tile.ProgramId() if op.axis < len(self.grid):
                return self._program(op.axis)
            case tile.ProgramCount() if op.axis < len(self.grid):
                return self.grid[op.axis]
            case tile.Extent():
                return self.sizes_of(op.view)[op.axis]
            case tile.Binary() if op.result.dtype is i64:
                return self._binary(op)
            case _:
                return None

    def _program(self, axis: int) -> Size:
        if axis not in self.programs:
            symbol = self.programs[axis] = self._symbol()
            self.counts[symbol] = self.grid[axis]
            self.claims.append(at_most(symbol + 1, self.grid[axis]))
        return self.programs[axis]

    def _binary(self, op: tile.Binary) -> Size | None:
        left, right = self.of(op.left), self.of(op.right)
        if left is None or right is None:
            return None
        match op.kind:
            case BinaryKind.ADD:
                found = left + right
            case BinaryKind.SUBTRACT:
                found = left - right
            case BinaryKind.MULTIPLY:
                found = left * right
            case BinaryKind.DIVIDE if interval(left)[0] >= 0 and interval(right)[0] >= 1:
                found = ceil_div(left - right + 1, right)
            case BinaryKind.MINIMUM:
                found = minimum(left, right)
            case BinaryKind.MAXIMUM:
                found = maximum(left, right)
            case _:
                return None
        low, high = interval(found)
        return found if low > -WRAPS and high < WRAPS else None


def _is_size(value: AnyValue) -> bool:
    return any(isinstance(use, tile.View) and value in use.sizes for use in value.uses)
