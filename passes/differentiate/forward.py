"""The forward sweep: a copy of some ops, and beside each the op that makes its tangent.

Comes in: ops of a func, what stands for the values they read, and tangents of some of these. Goes
out: ops where a builder stands, and the tangents of what they make; values without one stand still.
Never: a rule of an op. Those of single ops stand with the ops, those of regions in two tables: one
runs tangents along with values, one keeps them apart, so that they can be transposed.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ...ir.builder import Builder
from ...ir.dtypes import INEXACT
from ...ir.errors import Unmet
from ...ir.tensor import TensorOp
from ...ir.tensor.base import Tangents
from ...ir.tensor.control import types_of
from ...ir.values import AnyValue, Block, Op
from ..copying import copy_op, copy_ops
from ..reads import captured, depends
from .errors import blame
from .regions import closed, opened

Rule = Callable[["Forward", Any], None]
"""Builds what stands for an op, and says so by `define`."""


class Forward:
    """A sweep: `values` knows what stands for a value, `tangents` the tangent of what stands.

    `linear` holds all values made so far that depend on tangents. The ops `aside` are only copied.
    """

    def __init__(self, builder: Builder, rules: Mapping[type[Op], Rule]) -> None:
        self.builder = builder
        self.rules = rules
        self.values: dict[AnyValue, AnyValue] = {}
        self.tangents: dict[AnyValue, AnyValue] = {}
        self.linear: set[AnyValue] = set()
        self.aside: set[Op] = set()

    def bind(self, values: Iterable[AnyValue], tangents: Iterable[AnyValue | None]) -> None:
        """Give values of the func being built their tangents, on which others are to depend."""
        for value, tangent in zip(values, tangents, strict=True):
            if tangent is not None:
                self.tangents[value] = tangent
                self.linear.add(tangent)

    def taken(self, values: Iterable[AnyValue]) -> tuple[AnyValue, ...]:
        """What stands for some values."""
        return tuple([self.values.get(value, value) for value in values])

    def changes(self, values: Iterable[AnyValue]) -> Tangents:
        """The tangents of what stands for some values."""
        return tuple([self.tangents.get(self.values.get(value, value)) for value in values])

    def define(self, op: Op, results: Sequence[AnyValue], tangents: Sequence[Any]) -> None:
        """Let these values stand for an op's results, and have these tangents."""
        self.values.update(zip(op.results, results, strict=True))
        for result, tangent in zip(results, tangents, strict=True):
            if tangent is not None:
                if tangent.type is not result.type or result.dtype not in INEXACT:
                    raise Unmet(f"has a result {result.type} with a tangent {tangent.type}")
                self.tangents[result] = tangent

    def run(self, ops: Iterable[Op]) -> None:
        """Copy ops in order, but for a terminator, with their tangents."""
        op: Any = None
        try:
            for op in ops:
                if not op.terminator:
                    self.builder.location = op.location
                    self._step(op)
        except (Unmet, ValueError) as problem:
            raise blame(op, problem) from None

    def region(
        self, region: Block, builder: Builder, arguments: Sequence[AnyValue]
    ) -> tuple[tuple[AnyValue, ...], Tangents]:
        """Run the ops of a region where `builder` stands; what it yields, and the tangents."""
        self.values.update(zip(region.arguments, arguments, strict=True))
        outer, self.builder = self.builder, builder
        self.run(region)
        self.builder = outer
        yielded = region.terminator.operands
        return self.taken(yielded), self.changes(yielded)

    def copy(self, op: Op) -> None:
        """Copy an op that changes nothing, or whose tangents are made otherwise."""
        copy_ops((op,), self.builder, self.values)

    def copied(self, region: Block) -> Block:
        """A copy of a region, for an op that is made where the builder stands."""
        inner, (arguments,) = opened(self.builder, types_of(region.arguments))
        self.values.update(zip(region.arguments, arguments, strict=True))
        copy_ops((op for op in region if not op.terminator), inner, self.values)
        return closed(inner, self.taken(region.terminator.operands))

    def captured(self, op: Op) -> list[AnyValue]:
        """The values with a tangent that an op reads from inside its regions."""
        return [value for value in captured(op.regions) if self.changes((value,))[0] is not None]

    def _step(self, op: Op) -> None:
        tangents = self.changes(op.operands)
        moves = any(tangents) or (op.regions and self.captured(op))
        if not moves or op in self.aside:
            self.copy(op)
        elif op.__class__ in self.rules:
            before = self.builder.block.last
            self.rules[op.__class__](self, op)
            self._mark(before)
        else:
            self.plain(op, tangents)

    def plain(self, op: Op, tangents: Tangents) -> None:
        """Copy an op without regions, and apply its own rule."""
        results, _ = copy_op(op, self.builder, self.values)
        copied = results[0].owner
        assert isinstance(copied, TensorOp)
        before = self.builder.block.last
        self.define(op, results, copied.jvp(self.builder, tangents))
        self._mark(before)

    def _mark(self, before: Op | None) -> None:
        """Note which of the ops after `before` depend on tangents."""
        op = self.builder.block.first if before is None else before.next
        while op is not None:
            if depends(op, self.linear):
                self.linear.update(op.results)
            op = op.next
