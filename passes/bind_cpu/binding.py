"""What binding a tile func has come to: the loop values that stand for its values so far.

Comes in: a tile func's ops, one after the other. Goes out: loop ops, by the rule of each op.
Never: a rule; those stand in the other files, a family each, and `rules` lists them.
"""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import Any, cast

from ...ir.types import Tile, Type
from ...ir.values import AnyValue, Block, Op, Value
from ..machine import Machine
from ..ranges import Ranges
from .checks import Check, Key, holds
from .emitter import Emitter, Index
from .refused import Refused
from .registers import Registers, count_of, part_type, registers, shape_of
from .tail import NO_TAILS

MOST_REGISTERS = 4
"""How many times the machine's registers one tile may fill."""


@dataclass(frozen=True, eq=False, slots=True)
class Memory:
    """A view: a buffer, where in it the first element stands, and sizes and strides."""

    buffer: AnyValue
    start: Index
    sizes: tuple[Index, ...]
    strides: tuple[Index, ...]


class Splits(Enum):
    """Which loops are written out twice, for the interior and for the edge."""

    ALL, INNERMOST, NONE = "all", "innermost", "none"


Rule = Callable[["Binding", Any], Any]
Rules = Mapping[type[Op], Rule]


class Binding:
    """Values of the tile func by what stands for them, and what is known at this point."""

    def __init__(
        self, machine: Machine, lanes: int, ranges: Ranges, emitter: Emitter, rules: Rules
    ) -> None:
        self.machine, self.lanes, self.ranges, self.emitter = machine, lanes, ranges, emitter
        self.rules = rules
        self.values: dict[AnyValue, Any] = {}
        self.known: frozenset[Key] = frozenset()
        self.splits = Splits.ALL
        self.tails = NO_TAILS
        self.streamed: set[Op] = set()
        self.past_caches: set[Op] = set()
        self.schedule: Mapping[str, int] = {}
        self.numbers: dict[AnyValue, AnyValue] = {}

    def run(self, ops: Iterable[Op]) -> None:
        """Bind ops in order, but for those that are bound already, or element by element later."""
        for op in ops:
            bound = bool(op.results) and op.results[0] in self.values
            if not (op.terminator or bound or op in self.streamed):
                self.bind(op)

    def bind(self, op: Op) -> None:
        """Bind one op."""
        rule = self.rules.get(op.__class__)
        if rule is None:
            raise Refused(f"a CPU has no rule for {op.name}", op.location)
        for result in op.results:
            self._check_fits(result.type, op)
        self.emitter.location = op.location
        made = rule(self, op)
        results = cast(Sequence[Any], made if isinstance(made, tuple) else (made,))
        for value, bound in zip(op.results, results, strict=bool(op.results)):
            self.stand(value, bound)

    def stand(self, value: AnyValue, bound: Any) -> None:
        """Let loop values stand for a value of the tile func, and bear its name."""
        self.values[value] = bound
        parts = bound.values if isinstance(bound, Registers) else [bound]
        for part in parts:
            if isinstance(part, Value) and not part.name:
                part.name = value.name

    def _check_fits(self, type_: Type, op: Op) -> None:
        if not isinstance(type_, Tile):
            return
        count, most = count_of(shape_of(type_), self.lanes), MOST_REGISTERS * self.machine.registers
        if count > most:
            raise Refused(f"{type_} fills {count} registers, of at most {most}", op.location)

    def scalar(self, value: AnyValue) -> AnyValue:
        """What stands for a scalar."""
        return self.values[value]

    def tile(self, value: AnyValue) -> Registers:
        """What stands for a tile."""
        return self.values[value]

    def memory(self, value: AnyValue) -> Memory:
        """What stands for a view."""
        return self.values[value]

    def inside(self, check: Check) -> bool:
        """Whether a check certainly holds here."""
        return check.key in self.known or holds(check, self.ranges)

    def extent(self, check: Check) -> Index:
        """What a check compares with."""
        found = self.values[check.source]
        return found.sizes[check.axis] if isinstance(found, Memory) else found

    @contextmanager
    def region(
        self, types: Iterable[Type], known: Iterable[Key] = (), *, branch: bool = False
    ) -> Generator[Block]:
        """Bind into a new region, where more is known; what it makes is forgotten after it."""
        values, before = self.values, self.known
        self.values, self.known = dict(values), before.union(known)
        block = self.emitter.open(types, branch)
        yield block
        self.emitter.close()
        self.values, self.known = values, before

    def flat(self, values: Iterable[AnyValue]) -> list[AnyValue]:
        """The loop values of scalars and tiles, one after the other."""
        flat: list[AnyValue] = []
        for value in values:
            bound = self.values[value]
            flat += bound.values if isinstance(bound, Registers) else [bound]
        return flat

    def types(self, values: Iterable[AnyValue]) -> list[Type]:
        """The types of these loop values."""
        types: list[Type] = []
        for value in values:
            type_ = value.type
            if isinstance(type_, Tile):
                count = count_of(shape_of(type_), self.lanes)
                types += [part_type(type_, self.lanes)] * count
            else:
                types.append(type_)
        return types

    def gathered(self, values: Iterable[AnyValue], flat: Iterable[AnyValue]) -> tuple[Any, ...]:
        """The other way round: what stands for each of `values`, from the loop values of all."""
        given = iter(flat)
        return tuple([self._gathered(value.type, given) for value in values])

    def _gathered(self, type_: Type, given: Any) -> Any:
        if not isinstance(type_, Tile):
            return next(given)
        shape = shape_of(type_)
        parts = [next(given) for _ in range(count_of(shape, self.lanes))]
        return registers(shape, self.lanes, parts)
