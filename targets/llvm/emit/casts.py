"""Casts and bitcasts.

Comes in: a register of one dtype. Goes out: instructions that make one of another.
Never: two roundings; casts that LLVM would round twice, or call a library for, are refused.
"""

from ....ir.dtypes import DType, Kind, f16, f32
from ....ir.loop import Bitcast, Cast
from ....ir.loop.base import with_dtype
from .. import types
from ..writer import Printers, Writer, refuse
from .forms import Register, uniform
from .halves import narrowed, widened


def convert(writer: Writer, source: Register, target: DType, x: str) -> str | None:
    """The right-hand side that makes `target` of x, or nothing if there is none."""
    made = with_dtype(source, target)
    if target.kind is Kind.FLOAT and target not in types.NATIVE_FLOATS:
        return _to_half(writer, source, made, x)
    if source.dtype.kind is Kind.FLOAT and source.dtype not in types.NATIVE_FLOATS:
        return _from_half(writer, source, target, x)
    if target.kind is Kind.BOOL:
        return _to_bool(source, x)
    if source.dtype.kind is not Kind.FLOAT:
        return _from_integer(source, made, x)
    if target.kind is Kind.FLOAT:
        opcode = "fpext" if target.bits > source.dtype.bits else "fptrunc"
        return f"{opcode} {types.text(source)} {x} to {types.text(made)}"
    return _saturate(source, made, x)


def _to_bool(source: Register, x: str) -> str:
    """Whether x is not 0; NaN is not."""
    floats = source.dtype.kind is Kind.FLOAT
    relation, zero = ("fcmp une", "0.0") if floats else ("icmp ne", "0")
    return f"{relation} {types.text(source)} {x}, {uniform(source, zero)}"


def _from_integer(source: Register, made: Register, x: str) -> str:
    """Integers wrap to integers, and round once to floats."""
    signed = source.dtype.kind is Kind.SIGNED
    if made.dtype.kind is Kind.FLOAT:
        opcode = "sitofp" if signed else "uitofp"
    elif made.dtype.bits < source.dtype.bits:
        opcode = "trunc"
    else:
        opcode = "sext" if signed else "zext"
    return f"{opcode} {types.text(source)} {x} to {types.text(made)}"


def _saturate(source: Register, made: Register, x: str) -> str:
    """Floats to integers: the nearest that there is on the way to zero, and 0 for NaN."""
    name = "fptosi" if made.dtype.kind is Kind.SIGNED else "fptoui"
    suffixes = f"{types.suffix(made)}.{types.suffix(source)}"
    return f"call {types.text(made)} @llvm.{name}.sat.{suffixes}({types.text(source)} {x})"


def _to_half(writer: Writer, source: Register, made: Register, x: str) -> str | None:
    """f16 from f32, and from what f32 holds exactly."""
    exact = source.dtype.kind is not Kind.FLOAT and source.dtype.bits <= 16
    if made.dtype is not f16 or not (exact or source.dtype is f32):
        return None
    if exact:
        x = writer.temporary("single", _from_integer(source, with_dtype(source, f32), x))
    return narrowed(writer, made, x)


def _from_half(writer: Writer, source: Register, target: DType, x: str) -> str | None:
    """f16 to f32, and from there on."""
    if source.dtype is not f16:
        return None
    right = widened(writer, source, x)
    if target is f32:
        return right
    return convert(writer, with_dtype(source, f32), target, writer.temporary("single", right))


def print_cast(writer: Writer, op: Cast) -> None:
    source, target = op.x.type, op.dtype
    integers = Kind.FLOAT not in (source.dtype.kind, target.kind)
    if source.dtype is target or (integers and source.dtype.bits == target.bits):
        writer.equate(op.result, writer.operand(op.x))
        return
    right = convert(writer, source, target, writer.operand(op.x))
    if right is None:
        raise refuse(op, f"the pass expand casts {source.dtype} to {target}")
    writer.define(op.result, right)


def print_bitcast(writer: Writer, op: Bitcast) -> None:
    before, after = types.text(op.x.type), types.text(op.result.type)
    if before == after:
        writer.equate(op.result, writer.operand(op.x))
    else:
        writer.define(op.result, f"bitcast {before} {writer.operand(op.x)} to {after}")


TABLE: Printers = {Cast: print_cast, Bitcast: print_bitcast}
