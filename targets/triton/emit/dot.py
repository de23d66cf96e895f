"""Products of matrices: by tensor cores where they take the shapes, else by multiplying and adding.

Comes in: dots and scaled dots. Goes out: `tl.dot`, `tl.dot_scaled`, or a sum of products.
Never: a sum in fewer bits than the accumulator has.
"""

from math import prod

from ....ir import tile
from ....ir.dtypes import FLOATS as FLOAT_DTYPES
from ....ir.dtypes import f8e4m3, f8e5m2, f32, f64, i8, i32
from ....ir.tile import Precision
from ..types import dtype_text
from ..writer import Printers, Writer, refuse, shape_of

MAX_ELEMENTS = 1 << 20
"""As many as Triton allows in a tile."""
INNER = {8: 32, 16: 16, 32: 8, 64: 4}
"""The least inner size of `tl.dot` for operands of so many bits."""
SMALL = 16
"""Below this size `tl.dot` is not on every GPU."""
PRECISIONS = {Precision.IEEE: "ieee", Precision.TF32: "tf32", Precision.RELAXED: "tf32"}
FORMATS = {f8e4m3: "e4m3", f8e5m2: "e5m2"}
SCALED_BLOCK = 32


def write_dot(writer: Writer, op: tile.Dot) -> None:
    """accumulator + a @ b"""
    a, b, total = [writer.whole(each) for each in op.operands]
    if not _has_cores(op):
        made = f"{total} + {_products(writer, op)}"
    elif op.a.dtype is f32:
        made = f'tl.dot({a}, {b}, {total}, input_precision="{PRECISIONS[op.precision]}")'
    elif op.a.dtype in FORMATS:
        made = f"tl.dot({a}, {b}, {total}, max_num_imprecise_acc=0)"
    elif op.a.dtype is i8:
        made = f"tl.dot({a}, {b}, {total}, out_dtype=tl.int32)"
    elif op.a.dtype is f64:
        made = f"tl.dot({a}, {b}, {total}, out_dtype=tl.float64)"
    else:
        made = f"tl.dot({a}, {b}, {total})"
    writer.define(op.result, made)


def _has_cores(op: tile.Dot) -> bool:
    """Whether `tl.dot` takes these operands."""
    dtype, (rows, inner) = op.a.dtype, shape_of(op.a)[-2:]
    taken = dtype in FLOAT_DTYPES or (dtype is i8 and op.accumulator.dtype is i32)
    least = max(INNER[dtype.bits], SMALL)
    columns = shape_of(op.b)[-1]
    return taken and op.a.type.rank <= 3 and inner >= least and min(rows, columns) >= SMALL


def _products(writer: Writer, op: tile.Dot) -> str:
    """The sum of all products along the inner axis, which is an axis between the two outer ones."""
    shape, rank = shape_of(op.a), op.a.type.rank
    elements = prod(shape) * shape_of(op.b)[-1]
    if elements > MAX_ELEMENTS:
        raise refuse(op, f"no tensor core takes it, and it has {elements} products at once")
    dtype = dtype_text(op.accumulator.dtype)
    a, b = [f"{writer.whole(each)}.to({dtype})" for each in (op.a, op.b)]
    product = f"tl.expand_dims({a}, {rank}) * tl.expand_dims({b}, {rank - 2})"
    return f"tl.sum({product}, {rank - 1}).to({dtype})"


def write_scaled_dot(writer: Writer, op: tile.ScaledDot) -> None:
    """accumulator + (a × a_scale) @ (b × b_scale)"""
    inner, blocks = shape_of(op.a)[-1], {shape_of(op.a_scale)[-1], shape_of(op.b_scale)[-2]}
    if op.a.type.rank != 2 or {inner} != {SCALED_BLOCK * each for each in blocks}:
        raise refuse(op, f"Triton takes two matrices, and one scale for {SCALED_BLOCK} elements")
    a, a_scale, b, b_scale, total = [writer.whole(each) for each in op.operands]
    left = f'{a}, {a_scale}, "{FORMATS[op.a.dtype]}"'
    right = f'{b}, tl.trans({b_scale}), "{FORMATS[op.b.dtype]}"'
    writer.define(op.result, f"tl.dot_scaled({left}, {right}, {total})")


DOTS: Printers = {tile.Dot: write_dot, tile.ScaledDot: write_scaled_dot}
