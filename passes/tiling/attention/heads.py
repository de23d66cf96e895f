"""The sizes of an attention, and its operands as panels.

Comes in: the op, and a schedule. Goes out: `Heads`: the sizes by name; and `Panels` of an operand,
whose batch is all heads of all samples.
Never: an op.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ....ir import tensor
from ....ir.dims import Size, ceil_div
from ....ir.dtypes import DType
from ....ir.values import AnyValue
from ..contract.matrix import Matrix, Role
from ..contract.packing import Panels
from ..schedule import Schedule


@dataclass(frozen=True, slots=True)
class Heads:
    """Queries are [batch, heads, rows, width], keys [batch, groups, columns, width], values
    [batch, groups, columns, depth]; sums are of the dtype `wide`."""

    batch: Size
    heads: Size
    groups: Size
    rows: Size
    columns: Size
    width: Size
    depth: Size
    wide: DType
    schedule: Schedule

    def lines(self, length: Size) -> int:
        """How many rows a block has, of so many."""
        return 1 if length == 1 else self.schedule["m"]

    def few(self, length: Size) -> int:
        """How many rows of a block are worked on at once, where each score is by itself."""
        lines, few = self.lines(length), self.schedule["rows"]
        return few if lines % few == 0 else 1

    def beside(self, length: Size) -> int:
        """How many columns a block has, of so many."""
        return 1 if length == 1 else self.schedule["n"]

    def chunk(self, length: Size) -> int:
        """How many of the numbers that are summed are a chunk of a panel."""
        return 1 if length == 1 else self.schedule["k"]

    def near(self, length: Size) -> int:
        """How many columns stay near while all rows of a program pass: whole blocks of them."""
        if length == 1:
            return 1
        step = self.beside(length)
        return -(-self.schedule["keys"] // step) * step

    def together(self, length: Size) -> int:
        """How many rows are one program's: whole blocks of them."""
        step = self.lines(length)
        return step if length == 1 else -(-self.schedule["queries"] // step) * step


def heads_of(op: tensor.Attention | tensor.AttentionBackward, schedule: Schedule) -> Heads:
    """The sizes of an attention, or of its gradients."""
    batch, heads, rows, width = op.query.type.shape
    _, groups, columns, depth = op.value.type.shape
    wide = op.query.dtype.accumulator
    return Heads(batch, heads, groups, rows, columns, width, depth, wide, schedule)


def along(operand: AnyValue, sizes: Heads, length: Size) -> Panels:
    """Panels of the rows of an operand, of which there are `length`; its last axis is summed."""
    width = operand.type.shape[3]
    lines, chunk = sizes.beside(length), sizes.chunk(width)
    return _panels(operand, (Role.BATCH, Role.FREE, Role.CONTRACT), lines, chunk, sizes.wide)


def across(operand: AnyValue, sizes: Heads, length: Size) -> Panels:
    """Panels of the columns of an operand; its rows are summed, of which there are `length`."""
    width = operand.type.shape[3]
    lines, chunk = sizes.beside(width), sizes.chunk(length)
    return _panels(operand, (Role.BATCH, Role.CONTRACT, Role.FREE), lines, chunk, sizes.wide)


def _panels(
    operand: AnyValue, order: tuple[Role, Role, Role], lines: int, chunk: int, wide: DType
) -> Panels:
    batch, heads, length, width = operand.type.shape
    sizes: Mapping[Role, Size] = dict(zip(order, (batch * heads, length, width), strict=True))
    return Panels(
        Matrix(operand.index, operand.dtype, order, sizes), lines, chunk, wide, beside=True
    )


def padded(size: Size, step: int) -> Size:
    """The size, rounded up to whole steps."""
    return ceil_div(size, step) * step
