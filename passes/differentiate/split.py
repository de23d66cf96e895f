"""What depends on tangents, taken out of a block and made again in another.

Comes in: a block that a sweep has filled, and which values depend on tangents. Goes out: the block
without the ops that do, and these ops in another block; what they read of the first block is their
residuals, but for what is cheaper to make again than to keep.
"""

from collections.abc import Iterable, Sequence
from itertools import chain

from ...ir import tensor
from ...ir.builder import Builder
from ...ir.values import AnyValue, Block, Op
from ..copying import Values, copy_ops
from ..reads import depends, needed, reads

CHEAP = (tensor.Constant, tensor.Iota, tensor.Dim, tensor.Broadcast, tensor.Reshape, tensor.Permute)
"""What is no smaller than the values it is made of, and made without arithmetic."""
LITTLE = (
    tensor.Add, tensor.Subtract, tensor.Multiply, tensor.Divide, tensor.Negate, tensor.Absolute,
    tensor.Select, tensor.Equal, tensor.NotEqual, tensor.Less, tensor.LessEqual,
)  # fmt: skip
"""Arithmetic that takes less time than to write its result and to read that again."""


class Split:
    """The linear ops of a block that the values `wanted` need, in order; what they read of the
    block; what to make again.

    In the body of a `loop`, whatever no step changes is made again too. The values `wanted` are
    asked for like what linear ops read. Those `at_hand` cost nothing to hand over.
    """

    def __init__(
        self,
        block: Block,
        linear: set[AnyValue],
        wanted: Sequence[AnyValue],
        loop: bool = False,
        at_hand: Iterable[AnyValue] = (),
    ) -> None:
        self.block = block
        self.linear = [op for op in block if depends(op, linear)]
        self.ops: list[Op] = []
        self.residuals: dict[AnyValue, None] = {}
        self.again: dict[Op, None] = {}
        self._steady: set[Op] = set()
        counted = needed(block, wanted)
        for op in block:
            if depends(op, linear):
                if not counted.isdisjoint(op.results):
                    self.ops.append(op)
            elif loop and not any([self._moves(value) for value in reads(op)]):
                self._steady.add(op)
        for value in chain(*map(reads, self.ops), wanted):
            if value.block is block and value not in linear:
                self._keep(value)
        self._spare({*at_hand})
        self.again = {op: None for op in block if op in self.again}

    def rebuild(self, builder: Builder, values: Values) -> None:
        """Make the linear ops where a builder stands; `values` says what stands for residuals."""
        copy_ops(self.again, builder, values)
        copy_ops(self.ops, builder, values)

    def erase(self) -> None:
        """Take the linear ops out of the block, once its terminator reads none of them."""
        for op in reversed(self.linear):
            op.detach()

    def _keep(self, value: AnyValue) -> None:
        """Hand a value over, or what it can be made of again."""
        pending = [value]
        while pending:
            value, op = pending[-1], pending[-1].op
            if op is None or not self._is_made_again(op):
                self.residuals[value] = None
            elif op not in self.again:
                missing = [each for each in reads(op) if self._is_missing(each)]
                pending += missing
                if missing:
                    continue
                self.again[op] = None
            pending.pop()

    def _spare(self, at_hand: set[AnyValue]) -> None:
        """Make again what takes but little arithmetic on values that are handed over as well."""
        for value in [value for value in self.residuals if isinstance(value.op, LITTLE)]:
            assert value.op is not None
            operands, bits = value.op.operands, value.type.dtype.bits
            if not all([self._is_near(each, at_hand, bits) for each in operands]):
                continue
            del self.residuals[value]
            self.again[value.op] = None
            for each in filter(self._is_missing, operands):
                self._keep(each)

    def _is_near(self, value: AnyValue, at_hand: set[AnyValue], bits: int) -> bool:
        """Whether the other block has a value, or can have it for less than one of its size."""
        while self._is_missing(value):
            op = value.op
            if isinstance(op, tensor.Constant | tensor.Iota | tensor.Dim):
                return True
            if isinstance(op, tensor.Broadcast) and op.x.type.shape != op.shape:
                return True
            if not isinstance(op, tensor.Broadcast | tensor.Reshape | tensor.Permute):
                return value in at_hand and value.type.dtype.bits <= bits
            value = op.x
        return True

    def _is_missing(self, value: AnyValue) -> bool:
        here = value.block is self.block
        return here and value not in self.residuals and value.op not in self.again

    def _is_made_again(self, op: Op) -> bool:
        widens = isinstance(op, tensor.Cast) and op.x.dtype.bits < op.dtype.bits
        return widens or isinstance(op, CHEAP) or op in self._steady

    def _moves(self, value: AnyValue) -> bool:
        """Whether a value may be another at another step."""
        return value.block is self.block and value.op not in self._steady
