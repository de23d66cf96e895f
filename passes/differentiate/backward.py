"""The backward sweep: ops of a linear function, the last first, each turned round.

Comes in: ops of which some are linear in some values, and cotangents of what they make. Goes out:
ops where a builder stands, and cotangents of those values.
Never: a rule of an op. Those of single ops stand with the ops, those of regions in a table.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ...ir.builder import Builder
from ...ir.errors import Unmet
from ...ir.tensor import TensorOp
from ...ir.tensor.base import Tangents
from ...ir.values import AnyValue, Block, Op
from ..copying import Values, copy_ops
from ..reads import captured, depends
from .added import added
from .errors import blame

Rule = Callable[["Backward", Any, Tangents], None]
"""Transposes an op with regions, given the cotangents of its results."""


class Backward:
    """A sweep: `linear` are the values in which the function is linear, with all that depends on
    them; `values` says what stands for the others; `cotangents` is what has been found so far."""

    def __init__(
        self,
        builder: Builder,
        rules: Mapping[type[Op], Rule],
        linear: set[AnyValue],
        values: Values,
    ) -> None:
        self.builder = builder
        self.rules = rules
        self.linear = linear
        self.values = values
        self.cotangents: dict[AnyValue, AnyValue] = {}

    def inside(self, builder: Builder) -> "Backward":
        """A sweep of a region of the op at hand."""
        return Backward(builder, self.rules, self.linear, self.values)

    def taken(self, values: Iterable[AnyValue]) -> tuple[AnyValue, ...]:
        """What stands for values that are not linear."""
        return tuple([self.values.get(value, value) for value in values])

    def know(self, values: Iterable[AnyValue], taken: Iterable[AnyValue]) -> None:
        """Let other values stand for some that are not linear."""
        self.values.update(zip(values, taken, strict=True))

    def add(self, values: Iterable[AnyValue], cotangents: Iterable[AnyValue | None]) -> None:
        """More cotangents, of those of the values that are linear."""
        found, linear = self.cotangents, self.linear
        for value, more in zip(values, cotangents, strict=True):
            if more is None or value not in linear:
                continue
            if more.type is not value.type:
                raise Unmet(f"has an operand {value.type} with a cotangent {more.type}")
            old = found.get(value)
            found[value] = more if old is None else added(self.builder, old, more)

    def found(self, values: Iterable[AnyValue]) -> Tangents:
        """The cotangents of some values."""
        return tuple([self.cotangents.get(value) for value in values])

    def block(self, block: Block, linear: Iterable[AnyValue], cotangents: Sequence[Any]) -> None:
        """Transpose the ops of a block which are linear in these values; copy the others."""
        self.linear.update(linear)
        ops: list[Op] = []
        for op in block:
            if op.terminator:
                self.add(op.operands, cotangents)
            elif depends(op, self.linear):
                self.linear.update(op.results)
                ops.append(op)
            else:
                copy_ops((op,), self.builder, self.values)
        self.run(reversed(ops))

    def run(self, ops: Iterable[Op]) -> None:
        """Transpose linear ops, given from the last to the first."""
        op: Any = None
        try:
            for op in ops:
                given = tuple([self.cotangents.pop(result, None) for result in op.results])
                if any(given):
                    self.builder.location = op.location
                    self._step(op, given)
        except (Unmet, ValueError) as problem:
            raise blame(op, problem) from None

    def captured(self, op: Op) -> list[AnyValue]:
        """The linear values that an op reads from inside its regions."""
        return [value for value in captured(op.regions) if value in self.linear]

    def _step(self, op: TensorOp, given: Tangents) -> None:
        rule = self.rules.get(op.__class__)
        if rule is not None:
            rule(self, op, given)
            return
        linear, values = self.linear, self.values
        operands = tuple([None if o in linear else values.get(o, o) for o in op.operands])
        self.add(op.operands, op.transpose(self.builder, operands, given))
