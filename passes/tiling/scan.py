"""Scans: every prefix along an axis.

Comes in: a kernel of one cumulative op. Goes out: its stage. Where the scanned axis is the last
one, a program runs along one line in tiles, and carries what all before has come to; else it runs
along many lines at once, its vectors lying across them. A scan in reverse sees the axis backwards.
Never: one line shared out among programs.
"""

from math import prod
from typing import Any

from ...ir import tensor, tile
from ...ir.dims import Size
from ...ir.func import Func
from ...ir.payloads import Number, payload
from ...ir.tensor import order
from ...ir.tensor.scan import Scan
from ...ir.values import AnyValue
from .draft import Draft
from .kernel import Param
from .parts import Stages
from .schedule import Chooser, KernelShape

KINDS: dict[type[Scan], tuple[tile.ScanKind, tile.BinaryKind, tile.ReduceKind]] = {
    tensor.CumulativeSum: (tile.ScanKind.SUM, tile.BinaryKind.ADD, tile.ReduceKind.SUM),
    tensor.CumulativeProduct: (
        tile.ScanKind.PRODUCT,
        tile.BinaryKind.MULTIPLY,
        tile.ReduceKind.PRODUCT,
    ),
    tensor.CumulativeMaximum: (
        tile.ScanKind.MAXIMUM,
        tile.BinaryKind.MAXIMUM,
        tile.ReduceKind.MAXIMUM,
    ),
    tensor.CumulativeMinimum: (
        tile.ScanKind.MINIMUM,
        tile.BinaryKind.MINIMUM,
        tile.ReduceKind.MINIMUM,
    ),
}


def scan_lines(func: Func, op: Scan, choose: Chooser) -> Stages:
    """One stage: a program for each line, or for so many as a tile is wide."""
    shape, axis, dtype = op.x.type.shape, op.axis, op.x.dtype
    before, after = prod(shape[:axis]), prod(shape[axis + 1 :])
    across = after != 1
    seen: tuple[Size, ...] = (before, shape[axis], after) if across else (before, shape[axis])
    wide = dtype.accumulator
    schedule = choose(KernelShape("rows", dtype, wide, not across, False, 3, False))
    width = schedule.get("n", 1)
    params = [
        Param(0, seen, dtype, func.arguments[0].name),
        Param(0, seen, dtype, func.results[0].name, written=True),
    ]
    counts = [(before, 1), (after, width)] if across else [(before, 1)]
    draft = Draft(func, params, counts, schedule)
    source, target = [_along(draft, view, seen, op.reverse) for view in draft.views]
    block = (1, 1, width) if across else (1, width)
    start = draft.emit(tile.Constant, _neutral(op))
    first = draft.full(start, *(block if across else (1,)))

    def body(at: AnyValue, carry: AnyValue) -> list[AnyValue]:
        offsets = [draft.starts[0], at, *draft.starts[1:]]
        x = draft.cast(draft.load(source, offsets, *block), wide)
        combined, carried = _round(draft, op, x, carry, across)
        draft.store(target, draft.cast(combined, dtype), offsets)
        return [carried]

    draft.tiles("scan", shape[axis], 1 if across else width, body, [first])
    return Stages(func, (draft.stage([0, 1]),))


def _round(
    draft: Draft, op: Scan, x: AnyValue, carry: AnyValue, across: bool
) -> tuple[AnyValue, AnyValue]:
    """What is stored of a round, and what is carried on."""
    scan, binary, reduce = KINDS[op.__class__]
    if across:
        combined = draft.binary(binary, carry, x)
        return combined, combined
    prefixes = draft.emit(tile.Scan, x, axis=1, kind=scan)
    spread = draft.spread(carry, 0, *x.type.shape)
    whole = draft.reduce(reduce, x, 1)
    return draft.binary(binary, spread, prefixes), draft.binary(binary, carry, whole)


def _along(draft: Draft, view: AnyValue, seen: tuple[Size, ...], reverse: bool) -> AnyValue:
    """The view, with the scanned axis backwards if the scan runs in reverse."""
    if not reverse:
        return view
    zero = draft.size(0)
    offsets = [zero, draft.size(seen[1] - 1), *([zero] if len(seen) > 2 else [])]
    sizes = [draft.size(size) for size in seen]
    axes = tuple(range(len(seen)))
    steps = tuple(-1 if axis == 1 else 1 for axis in axes)
    return draft.emit(tile.View, view, offsets, sizes, axes=axes, steps=steps)


def _neutral(op: Scan) -> Any:
    """What is carried in at first."""
    wide = op.x.dtype.accumulator
    if isinstance(op, tensor.CumulativeMaximum):
        return payload(order.least(wide.storage), wide)
    if isinstance(op, tensor.CumulativeMinimum):
        return payload(order.greatest(wide.storage), wide)
    return Number(int(isinstance(op, tensor.CumulativeProduct)), wide)
