"""The builder: makes ops at a point of a block.

Comes in: op classes with operands and attributes. Goes out: values. A pure op that stands already
before the point is not made again, and one whose operands are constants is folded: equal things are
one from birth. Never: a rewrite; nor is anything made or merged here of what the parser reads.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from .declare import BareOp, Op
from .errors import Unmet, VerifyError
from .locations import UNKNOWN, Location
from .types import Type
from .values import AnyValue, Block, Key, Value


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
        self.location, self.outer = location, outer
        self.log: list[BareOp] | None = None
        self.move_to(block, before)

    def move_to(self, block: Block, before: BareOp | None = None) -> None:
        """Build from now on in `block`, before the op `before` or at the end."""
        self.block, self.before = block, before
        self.nested = self.outer is not None or block.parent_op is not None

    def emit(self, cls: type[Op], *arguments: Any, **named: Any) -> AnyValue:
        """The first result of an op of class `cls`."""
        try:
            return cls.build(self, *arguments, **named)[0]
        except (Unmet, ValueError) as problem:
            raise self._refused(cls, arguments, problem) from None

    def emit_all(self, cls: type[Op], *arguments: Any, **named: Any) -> tuple[AnyValue, ...]:
        """All results of an op of class `cls`."""
        try:
            return cls.build(self, *arguments, **named)
        except (Unmet, ValueError) as problem:
            raise self._refused(cls, arguments, problem) from None

    def nest(self, types: Iterable[Type] = ()) -> "Builder":
        """A builder for the block of a region-to-be, whose ops may reuse those standing here."""
        return Builder(Block(types), location=self.location, outer=self)

    def insert(self, op: BareOp) -> None:
        """Put a finished op at the point."""
        self.block.insert(op, self.before)
        if self.log is not None:
            self.log.append(op)

    def find(self, key: Key) -> tuple[AnyValue, ...] | None:
        """The results of an equal op, here or outside, which moves up if it stands too late."""
        at: Builder | None = self
        while at is not None:
            found = at.block.numbering.get(key)
            if found is not None:
                if found is at.before:
                    at.before = found.next
                elif at.before is not None and found.order >= at.before.order:
                    at.block.move(found, at.before)
                found.location = found.location.union(self.location)
                return found.results
            if any([operand.block is at.block for operand in key[1]]):
                break
            owner = at.block.parent_op  # the op that this block is a region of, or None as yet
            above = owner.block if owner is not None else None
            at = at.outer if above is None else Builder(above, owner, at.location, at.outer)
        return None

    def covers(self, *others: BareOp) -> None:
        """Say that what is built from now on stands for these ops too, and keeps their lines."""
        for other in others:
            self.location = self.location.union(other.location)

    def _refused(self, cls: type[Op], arguments: Iterable[Any], problem: Exception) -> VerifyError:
        types = [str(each.type) for each in arguments if isinstance(each, Value)]  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
        shown = f" (operands: {', '.join(types)})" if types else ""
        return VerifyError(f"{cls.name}: {problem}{shown}", self.location)

    def constants(self, cls: type[Op], payloads: Sequence[Any]) -> tuple[AnyValue, ...]:
        """What an op folded to, as constants of its dialect."""
        assert cls.constant_class is not None
        return tuple(cls.constant_class.build(self, payload)[0] for payload in payloads)
