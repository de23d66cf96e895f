"""The builder: makes ops at a point of a block.

Comes in: op classes with operands and attributes. Goes out: values. A pure op that stands already
before the point is not made again, and one whose operands are constants is folded, so equal things
are one thing from birth.
Never: a rewrite; and it never merges what the parser reads, see `make`.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from .declare import Op
from .errors import Unmet, VerifyError
from .locations import UNKNOWN, Location
from .types import Type
from .values import AnyValue, Block, Key, Value
from .values import Op as BareOp


class Builder:
    """A point in a block: before the op `before`, or at the end; new ops come from `location`."""

    __slots__ = ("before", "block", "location", "log", "nested", "outer")

    def __init__(
        self,
        block: Block,
        before: BareOp | None = None,
        location: Location = UNKNOWN,
        outer: "Builder | None" = None,
    ) -> None:
        self.location = location
        self.outer = outer
        self.log: list[BareOp] | None = None
        self.move_to(block, before)

    def move_to(self, block: Block, before: BareOp | None = None) -> None:
        """Build from now on in `block`, before the op `before` or at the end."""
        self.block = block
        self.before = before
        self.nested = self.outer is not None or block.parent_op is not None

    def emit(self, cls: type[Op], *arguments: Any, **named: Any) -> AnyValue:
        """The first result of an op of class `cls`."""
        return self.emit_all(cls, *arguments, **named)[0]

    def emit_all(self, cls: type[Op], *arguments: Any, **named: Any) -> tuple[AnyValue, ...]:
        """All results of an op of class `cls`."""
        try:
            return cls.build(self, *arguments, **named)
        except (Unmet, ValueError) as problem:
            raise self._blame(cls, problem, arguments) from None

    def nest(self, types: Iterable[Type] = ()) -> "Builder":
        """A builder for the block of a region-to-be, whose ops may reuse those standing here."""
        return Builder(Block(types), location=self.location, outer=self)

    def insert(self, op: BareOp) -> None:
        """Put a finished op at the point."""
        self.block.insert(op, self.before)
        if self.log is not None:
            self.log.append(op)

    def reuse(self, found: BareOp) -> tuple[AnyValue, ...]:
        """An equal op instead of a new one: moved up to the point if it stands later."""
        before = self.before
        if before is not None and found.block is self.block and found.order >= before.order:
            if found is before:
                self.before = before.next
            else:
                self.block.move(found, before)
        if found.location is not self.location:
            found.location = found.location.union(self.location)
        return found.results

    def find_outside(self, key: Key) -> BareOp | None:
        """An equal op in an enclosing block, from where it can be read here."""
        block, at, outer = self.block, self.before, self.outer
        while not any(operand.block is block for operand in key[1]):
            parent = block.parent_op
            if parent is not None and parent.block is not None:
                block, at = parent.block, parent
            elif outer is not None:
                block, at, outer = outer.block, outer.before, outer.outer
            else:
                return None
            found = block.numbering.get(key)
            if found is not None:
                if at is not None and found.order >= at.order:
                    block.move(found, at)
                return found
        return None

    def constants(self, cls: type[Op], payloads: Sequence[Any]) -> tuple[AnyValue, ...]:
        """What an op folded to, as constants of its dialect."""
        assert cls.constant_class is not None
        return tuple(cls.constant_class.build(self, payload)[0] for payload in payloads)

    def _blame(self, cls: type[Op], problem: Exception, given: Sequence[Any]) -> VerifyError:
        types = [str(each.type) for each in given if isinstance(each, Value)]  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
        shown = f" (operands: {', '.join(types)})" if types else ""
        return VerifyError(f"{cls.name}: {problem}{shown}", self.location)


def make(
    cls: type[Op],
    operands: tuple[AnyValue, ...],
    attributes: tuple[Any, ...],
    types: Iterable[Type],
    regions: tuple[Block, ...],
    location: Location,
) -> Op:
    """An op exactly as stated, unchecked and in no block: for the parser and for copies."""
    op = object.__new__(cls)
    op.operands, op.attributes, op.regions = operands, attributes, regions
    op.location, op.block, op.previous, op.next, op.order = location, None, None, None, 0
    op.results = tuple([Value(type_, op, index) for index, type_ in enumerate(types)])
    for operand in operands:
        operand.uses[op] = None
    for region in regions:
        region.parent = op
    return op
