"""Where loop ops are put: as far outside of loops as what they read allows.

Comes in: op classes and operands; sums and products of places, which are integers or i64 values.
Goes out: values, each made once. Never: an op moved out of a branch, but for constants and what is
made of steady numbers alone, which no program makes anew: what only one branch needs costs the
other one nothing.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from ...ir import loop
from ...ir.builder import Builder
from ...ir.declare import Op
from ...ir.dtypes import DType, Kind, i64
from ...ir.locations import Location
from ...ir.loop import BinaryKind, CompareKind
from ...ir.payloads import Array, Number, payload
from ...ir.types import Space, Type
from ...ir.values import AnyValue, Block
from .refused import TooLong

Index = AnyValue | int
"""A place in memory or a distance: known now, or an i64 when the kernel runs."""


MOST_OPS = 4_000
"""How long a kernel may become; LLVM takes some 0.05 ms an op."""
BEFORE = -1
"""The depth of what is the same for all programs: constants, steady numbers, what is made of them;
it stands in the outermost block."""


class Emitter:
    """Builders for the blocks that are open, the outermost first."""

    def __init__(self, block: Block) -> None:
        self.location = Location()
        self.builders = [Builder(block)]
        self.fences = [0]
        self.emitted = 0
        # How deep the block stands in which a value is made, but for the outermost block.
        self._depths: dict[AnyValue, int] = {}
        # What stands in the open blocks. Builders would find it as well, but slower, and places in
        # memory ask for the same again and again; so each builder knows its own block alone.
        self._made: dict[Any, AnyValue] = {}
        self._keys: list[list[Any]] = [[]]
        self._numbers: dict[int, AnyValue] = {}

    def emit(self, op: type[Op], *operands: Any, **attributes: Any) -> AnyValue:
        """The first result of an op; a pure one stands as far outside as it may."""
        if not op.numbered:
            return self._emitted(len(self.fences) - 1, op, operands, attributes)[0]
        key = (op, operands, *attributes.values())
        value = self._made.get(key)
        if value is None:
            depth = self._place(op, operands)
            self._made[key] = value = self._emitted(depth, op, operands, attributes)[0]
            self._keys[max(depth, 0)].append(key)
        return value

    def emit_all(self, op: type[Op], *operands: Any, **attributes: Any) -> tuple[AnyValue, ...]:
        """All results of an op."""
        depth = self._place(op, operands) if op.numbered else len(self.fences) - 1
        return self._emitted(depth, op, operands, attributes)

    def _emitted(
        self, depth: int, op: type[Op], operands: Any, attributes: Any
    ) -> tuple[AnyValue, ...]:
        self.emitted += 1
        if self.emitted > MOST_OPS:
            raise TooLong(f"the kernel becomes more than {MOST_OPS} ops", self.location)
        at = self.builders[max(depth, 0)]
        at.location = self.location
        made = at.emit_all(op, *operands, **attributes)
        if depth:
            for value in made:
                self._depths.setdefault(value, depth)
        return made

    def steady(self, buffer: AnyValue) -> AnyValue:
        """The number that a buffer holds, which no program changes."""
        first = self.number(0)
        return self._emitted(BEFORE, loop.Load, (buffer, first), {"steady": True})[0]

    def allocate(self, count: int, dtype: DType) -> AnyValue:
        """Local memory for some numbers, at the very beginning."""
        at = self.builders[0]
        at.location = self.location
        return at.emit(loop.Allocate, count=count, dtype=dtype, space=Space.LOCAL)

    def open(self, types: Iterable[Type], is_branch: bool) -> Block:
        """Begin a region; what follows is put into it."""
        builder = Builder(Block(types))
        depth = len(self.builders)
        self._depths.update(dict.fromkeys(builder.block.arguments, depth))
        self.builders.append(builder)
        self.fences.append(depth if is_branch else self.fences[-1])
        self._keys.append([])
        return builder.block

    def close(self) -> None:
        """End the region that was begun last."""
        self.builders.pop()
        self.fences.pop()
        for key in self._keys.pop():
            del self._made[key]

    def depth_of(self, value: Index) -> int:
        """How deep the block stands in which a value is made."""
        return 0 if isinstance(value, int) else self._depths.get(value, 0)

    def _place(self, op: type[Op], operands: Iterable[AnyValue | tuple[AnyValue, ...]]) -> int:
        """How deep an op is put: outside of loops in which it does not change, inside of the branch
        that wants it."""
        if op.is_constant:
            return BEFORE
        deepest, depths = BEFORE if operands else 0, self._depths
        for operand in operands:
            for value in operand if isinstance(operand, tuple) else (operand,):
                if not value.owner.is_constant:
                    deepest = max(deepest, depths.get(value, 0))
        return BEFORE if deepest == BEFORE else max(deepest, self.fences[-1])

    def number(self, value: float, dtype: DType = i64) -> AnyValue:
        """A constant scalar."""
        if dtype is not i64:
            stored: Any = float(value) if dtype.kind is Kind.FLOAT else value
            return self.emit(loop.Constant, Number(stored, dtype))
        found = self._numbers.get(int(value))
        if found is None:
            found = self.emit(loop.Constant, Number(value, dtype))
            self._numbers[int(value)] = found
        return found

    def constant(self, row: Array, dtype: DType) -> AnyValue:
        """A constant vector, or scalar of rank 0."""
        return self.emit(loop.Constant, payload(row, dtype))

    def splat(self, value: AnyValue, lanes: int) -> AnyValue:
        """A scalar in every lane; of one lane, the scalar itself."""
        return value if lanes == 1 else self.emit(loop.Splat, value, lanes=lanes)

    def filled(self, value: Any, dtype: DType, lanes: int) -> AnyValue:
        """A constant in every lane."""
        return self.splat(self.number(value, dtype), lanes)

    def binary(self, kind: BinaryKind, left: AnyValue, right: AnyValue) -> AnyValue:
        """kind(left, right)"""
        return self.emit(loop.Binary, left, right, kind=kind)

    def compare(self, kind: CompareKind, left: AnyValue, right: AnyValue) -> AnyValue:
        """Whether kind(left, right)"""
        return self.emit(loop.Compare, left, right, kind=kind)

    def value(self, index: Index) -> AnyValue:
        """A place as an i64 value."""
        return self.number(index) if isinstance(index, int) else index

    def known(self, value: Index) -> Index:
        """A constant scalar as the integer it is; anything else as it is."""
        if isinstance(value, int) or not isinstance(value.owner, loop.Constant):
            return value
        return int(value.owner.value.array)

    def sum(self, *terms: Index) -> Index:
        """Their sum: what changes seldom is added first, and what is known last."""
        return self.moved(*self.sums(*terms))

    def sums(self, *terms: Index) -> tuple[Index, int]:
        """The sum of what is not known yet, which may be nothing, and that of what is."""
        values: list[AnyValue] = []
        constant = 0
        for term in terms:
            found = self.known(term)
            if isinstance(found, int):
                constant += found
            else:
                values.append(found)
        if not values:
            return 0, constant
        total, *others = sorted(values, key=self.depth_of) if len(values) > 1 else values
        for other in others:
            total = self.binary(BinaryKind.ADD, total, other)
        return total, constant

    def moved(self, value: Index, constant: int) -> Index:
        """A place, moved by a known distance."""
        if isinstance(value, int):
            return value + constant
        if constant == 0:
            return value
        if constant < 0:
            return self.binary(BinaryKind.SUBTRACT, value, self.number(-constant))
        return self.binary(BinaryKind.ADD, value, self.number(constant))

    def difference(self, left: Index, right: Index) -> Index:
        """left - right"""
        left, right = self.known(left), self.known(right)
        if isinstance(right, int):
            return self.sum(left, -right)
        return self.binary(BinaryKind.SUBTRACT, self.value(left), right)

    def product(self, left: Index, right: Index) -> Index:
        """left * right"""
        left, right = self.known(left), self.known(right)
        if isinstance(left, int):
            left, right = right, left
        if isinstance(left, int):
            assert isinstance(right, int)
            return left * right
        if isinstance(right, int) and right in (0, 1):
            return left if right else 0
        return self.binary(BinaryKind.MULTIPLY, left, self.value(right))

    def arithmetic(self, kind: BinaryKind, left: Index, right: Index) -> Index | None:
        """A sum, a difference or a product; None for what is neither."""
        match kind:
            case BinaryKind.ADD:
                return self.sum(left, right)
            case BinaryKind.SUBTRACT:
                return self.difference(left, right)
            case BinaryKind.MULTIPLY:
                return self.product(left, right)
            case _:
                return None

    def least(self, left: Index, right: Index) -> Index:
        """The smaller"""
        left, right = self.known(left), self.known(right)
        if isinstance(left, int) and isinstance(right, int):
            return min(left, right)
        return self.binary(BinaryKind.MINIMUM, self.value(left), self.value(right))

    def greatest(self, left: Index, right: Index) -> Index:
        """The larger"""
        left, right = self.known(left), self.known(right)
        if isinstance(left, int) and isinstance(right, int):
            return max(left, right)
        return self.binary(BinaryKind.MAXIMUM, self.value(left), self.value(right))

    def all_of(self, predicates: Sequence[AnyValue]) -> AnyValue:
        """Whether all hold; there is one at least."""
        first, *others = predicates
        for other in others:
            first = self.binary(BinaryKind.BIT_AND, first, other)
        return first
