"""Reductions, scans and the places of extremes.

Comes in: a tile and an axis. Goes out: one statement, with a function that combines two numbers.
Never: a narrow sum; floats of 8 and 16 bits are combined as f32 and rounded once.
"""

from ....ir import tile
from ....ir.dtypes import FLOATS, boolean
from ....ir.tile import ArgKind, ReduceKind, ScanKind
from ....ir.values import AnyValue
from ..types import dtype_text, is_narrow
from ..writer import Printers, Writer, shape_of

COMBINATIONS = {
    ReduceKind.PRODUCT: "product_of",
    ReduceKind.MAXIMUM: "maximum_of",
    ReduceKind.MINIMUM: "minimum_of",
    ReduceKind.AND: "all_bits",
    ReduceKind.OR: "any_bits",
    ScanKind.SUM: "sum_of",
    ScanKind.PRODUCT: "product_of",
    ScanKind.MAXIMUM: "maximum_of",
    ScanKind.MINIMUM: "minimum_of",
}
EXTREMES = {ReduceKind.MAXIMUM: "max", ReduceKind.MINIMUM: "min"}
FIRSTS = {ArgKind.MAXIMUM: "first_maximum", ArgKind.MINIMUM: "first_minimum"}


def write_reduce(writer: Writer, op: tile.Reduce) -> None:
    """All along an axis become one."""
    x, dtype = computed(writer, op.x), op.x.dtype
    if op.kind is ReduceKind.SUM:
        made = f"tl.sum({x}, {op.axis})"
    elif op.kind in EXTREMES and dtype not in FLOATS:
        made = f"tl.{EXTREMES[op.kind]}({x}, {op.axis})"
    else:
        made = f"tl.reduce({x}, {op.axis}, {writer.helper(COMBINATIONS[op.kind])})"
    writer.define(op.result, _stored(writer, made, op.x))


def computed(writer: Writer, value: AnyValue) -> str:
    """A whole tile, as it is combined: narrow floats as f32, bools as integers."""
    whole = writer.whole(value)
    if value.dtype is boolean:
        return f"{whole}.to(tl.int32)"
    return f"{whole}.to(tl.float32)" if is_narrow(value.dtype) else whole


def _stored(writer: Writer, made: str, x: AnyValue) -> str:
    """What was combined, in its own dtype; Triton sums short integers as int32."""
    if x.dtype is boolean:
        return f"{made} != 0"
    if x.dtype in FLOATS:
        return writer.rounded(made, x.dtype)
    return f"{made}.to({dtype_text(x.dtype)})" if x.dtype.bits < 32 else made


def write_arg_reduce(writer: Writer, op: tile.ArgReduce) -> None:
    """The place of an extreme: it is carried beside the number."""
    shape = shape_of(op.x)
    places = ["None"] * len(shape)
    places[op.axis] = ":"
    subscript = f"[{', '.join(places)}]" if len(shape) > 1 else ""
    counted = f"tl.broadcast_to(tl.arange(0, {shape[op.axis]}){subscript}, {list(shape)})"
    both, found = f"({computed(writer, op.x)}, {counted})", writer.unique("found")
    combine = writer.helper(FIRSTS[op.kind])
    writer.line(f"{found} = tl.reduce({both}, {op.axis}, {combine})")
    writer.define(op.result, f"{found}[1].to({dtype_text(op.dtype)})")


def write_scan(writer: Writer, op: tile.Scan) -> None:
    """Each with all before it."""
    combine = writer.helper(COMBINATIONS[op.kind])
    order = ", reverse=True" if op.reverse else ""
    made = f"tl.associative_scan({computed(writer, op.x)}, {op.axis}, {combine}{order})"
    writer.define(op.result, _stored(writer, made, op.x))


REDUCTIONS: Printers = {
    tile.Reduce: write_reduce,
    tile.ArgReduce: write_arg_reduce,
    tile.Scan: write_scan,
}
