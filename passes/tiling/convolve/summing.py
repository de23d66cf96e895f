"""Sums of products of one panel of weights with columns in the memory of a program.

Comes in: the panel, the columns, what there is to add to. Goes out: a tile of sums.
Never: a column that is not packed.
"""

from ....ir import tile
from ....ir.values import AnyValue
from ..contract.packing import Panels
from ..contract.product import chunk
from ..writer import Writer


def added(
    writer: Writer, weights: Panels, operands: tuple[AnyValue, AnyValue], start: AnyValue
) -> AnyValue:
    """`start` and the product of a panel with as many rows as `columns`, a view of rank 3, has."""
    panel, columns = operands
    zero, step = writer.size(0), weights.chunk
    rows = writer.extent(columns, 1)
    sizes = [writer.size(each) for each in (1, *weights.block)]

    def body(inner: AnyValue, sums: AnyValue) -> list[AnyValue]:
        part = writer.part(panel, [writer.divide(inner, step), zero, zero], sizes)
        left = chunk(writer, weights, part, zero)
        right = writer.load(columns, [zero, inner, zero], 1, step, start.type.shape[-1])
        return [writer.emit(tile.Dot, left, right, sums)]

    (sums,) = writer.loop("k", (zero, rows, step), body, [start])
    return sums
