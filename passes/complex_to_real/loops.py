"""Products of many complex numbers, as loops.

Comes in: an op that multiplies elements with each other. Goes out: what it makes, of ops of complex
numbers that have rules.
Never: as many turns as elements where these are many: a turn multiplies elements of many blocks.
"""

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

from ...ir import tensor
from ...ir.builder import Builder
from ...ir.dims import Size, ceil_div, maximum
from ...ir.dtypes import i64
from ...ir.func import Yield
from ...ir.payloads import Number
from ...ir.tensor.axes import other_axes
from ...ir.tensor.control import INDEX
from ...ir.tensor.indexing import Combiner
from ...ir.tensor.rules import broadcast_along, emit, filled, with_axis
from ...ir.values import AnyValue, Op
from ..one_by_one import products_at_places

BLOCK, LEVELS = 64, 2
"""As many turns has a loop at most, where blocks of blocks may stand beside each other."""


def has_loop(op: Op) -> bool:
    """Whether an op is a loop of others; of places, only products."""
    if isinstance(op, tensor.Scatter):
        return op.combiner is Combiner.MULTIPLY
    return op.__class__ in LOOPS


def as_loop(op: Op, builder: Builder) -> AnyValue:
    """What an op makes, of loops."""
    if isinstance(op, tensor.Scatter):
        return products_at_places(op, builder, op.operands)[0]
    return LOOPS[op.__class__](op, builder, *op.operands)


def reduced(op: tensor.ReduceProduct, builder: Builder, x: AnyValue) -> AnyValue:
    """The product of all along some axes."""
    kept = other_axes(len(x.shape), op.axes)
    first = emit(builder, "permute", x, (*op.axes, *kept))
    count = prod(x.shape[axis] for axis in op.axes)
    lines = emit(builder, "reshape", first, (count, *[x.shape[axis] for axis in kept]))
    for _ in range(LEVELS):
        width = _blocks(lines.shape[0])
        turns = ceil_div(lines.shape[0], width)
        rows = _filled_up(builder, lines, (turns, width))
        lines = _multiplied(builder, rows, stacked=False)[0]
    return _multiplied(builder, lines, stacked=False)[0]


def cumulative(op: tensor.CumulativeProduct, builder: Builder, x: AnyValue) -> AnyValue:
    """The product of each element and all before it, or after it."""
    lines = with_axis(builder, x, op.axis, 0)
    forward = emit(builder, "flip", lines, (0,)) if op.reverse else lines
    made = _prefixes(builder, forward, LEVELS)
    made = emit(builder, "flip", made, (0,)) if op.reverse else made
    return with_axis(builder, made, 0, op.axis)


def _prefixes(builder: Builder, x: AnyValue, levels: int) -> AnyValue:
    """Products from the first on: those within blocks, by those of all blocks before."""
    if not levels:
        return _multiplied(builder, x, stacked=True)[1]
    count, *rest = x.shape
    blocks = _blocks(count)
    turns = ceil_div(count, blocks)
    rows = with_axis(builder, _filled_up(builder, x, (blocks, turns)), 1, 0)
    last, within = _multiplied(builder, rows, stacked=True)
    whole = _prefixes(builder, last, levels - 1)
    before = _moved_on(builder, whole)
    by_before = broadcast_along(builder, before, within.shape, (0,))
    place = emit(builder, "iota", within.shape, 1, i64)
    is_first = emit(builder, "equal", place, filled(builder, 0, place.type))
    made = emit(builder, "select", is_first, within, emit(builder, "multiply", by_before, within))
    flat = emit(builder, "reshape", with_axis(builder, made, 1, 0), (blocks * turns, *rest))
    return emit(builder, "slice", flat, (0,) * len(x.shape), x.shape, (1,) * len(x.shape))


def _blocks(count: Size) -> Size:
    """In how many blocks so many elements lie."""
    return maximum(1, ceil_div(count, BLOCK))


def _filled_up(builder: Builder, x: AnyValue, sizes: tuple[Size, Size]) -> AnyValue:
    """The first axis as two, with ones at the end."""
    count, *rest = x.shape
    none = (0,) * len(x.shape)
    high = (sizes[0] * sizes[1] - count, *none[1:])
    wider = emit(builder, "pad", x, none, high, none, Number(1, x.dtype))
    return emit(builder, "reshape", wider, (*sizes, *rest))


def _moved_on(builder: Builder, x: AnyValue) -> AnyValue:
    """One place further along the first axis, after a one."""
    none = (0,) * len(x.shape)
    wider = emit(builder, "pad", x, (1, *none[1:]), none, none, Number(1, x.dtype))
    return emit(builder, "slice", wider, none, x.shape, (1,) * len(x.shape))


def _multiplied(builder: Builder, rows: AnyValue, stacked: bool) -> tuple[AnyValue, ...]:
    """The product of all rows, and those on the way; the first row is no product with 1."""
    row = rows.type.with_shape(rows.shape[1:])
    body = builder.nest([INDEX, row, row])
    turn, old, factor = body.block.arguments
    begins = emit(body, "equal", turn, filled(body, 0, turn.type))
    begins = emit(body, "broadcast", begins, row.shape)
    new = emit(body, "select", begins, factor, emit(body, "multiply", old, factor))
    body.emit_all(Yield, [new, new] if stacked else [new])
    start = filled(builder, 1, row)
    return builder.emit_all(tensor.Loop, [start], [rows], rows.shape[0], body.block)


LOOPS: Mapping[type[Op], Callable[[Any, Builder, Any], AnyValue]] = {
    tensor.CumulativeProduct: cumulative,
    tensor.ReduceProduct: reduced,
}
