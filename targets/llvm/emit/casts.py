"""Casts and bitcasts.

Comes in: a register of one dtype. Goes out: instructions that make one of another.
Never: two roundings; casts that LLVM would round twice, or call a library for, are refused.
"""

from dataclasses import dataclass

import numpy as np

from ....ir.dtypes import DType, Kind, f16, f32, i32
from ....ir.loop import Bitcast, Cast
from ....ir.loop.base import with_dtype
from ....ir.types import Vec
from .. import types
from ..writer import Printers, Writer, refuse
from .forms import Register, select, uniform
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
    return _saturate(writer, source, made, x)


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


def _saturate(writer: Writer, source: Register, made: Register, x: str) -> str:
    """Floats to integers: the nearest that there is on the way to zero, and 0 for NaN.

    LLVM has instructions for this, which it takes apart into scalars if they are of vectors.
    """
    if isinstance(source, Vec):
        vector = _Saturating(writer, source, x)
        return vector.narrow(made) if made.dtype.bits < i32.bits else vector.wide(made)
    name = "fptosi" if made.dtype.kind is Kind.SIGNED else "fptoui"
    suffixes = f"{types.suffix(made)}.{types.suffix(source)}"
    return f"call {types.text(made)} @llvm.{name}.sat.{suffixes}({types.text(source)} {x})"


@dataclass(frozen=True, slots=True)
class _Saturating:
    """A vector of floats on its way to integers."""

    writer: Writer
    source: Register
    x: str

    def wide(self, made: Register) -> str:
        """What the instruction makes, which is anything for what is outside of the range; there the
        end of the range is taken."""
        ends = zip(("olt", "ogt"), _range(made.dtype), strict=True)
        opcode = "fptosi" if made.dtype.kind is Kind.SIGNED else "fptoui"
        whole = self._named("whole", self._cast(opcode, self.source, self.x, made))
        for relation, end in ends:
            outside = self._is(relation, self.x, _towards_zero(end, self.source.dtype))
            at_end = select(self.writer, made, outside, uniform(made, str(end)), whole)
            whole = self._named("whole", at_end)
        return self._unless_unknown(made, whole)

    def narrow(self, made: Register) -> str:
        """A part of what is made of the nearest float in the range, of which both ends are
        floats."""
        inside, wide = self.x, with_dtype(self.source, i32)
        for relation, end in zip(("ogt", "olt"), _range(made.dtype), strict=True):
            within = self._is(relation, inside, end)
            nearer = select(self.writer, self.source, within, inside, self._float(end))
            inside = self._named("inside", nearer)
        whole = self._named("whole", self._cast("fptosi", self.source, inside, wide))
        known = self._named("known", self._unless_unknown(wide, whole))
        return self._cast("trunc", wide, known, made)

    def _unless_unknown(self, made: Register, whole: str) -> str:
        """0 for NaN."""
        unknown = f"fcmp uno {types.text(self.source)} {self.x}, {self.x}"
        return select(self.writer, made, self._named("unknown", unknown), uniform(made, "0"), whole)

    def _is(self, relation: str, x: str, end: float) -> str:
        text = f"fcmp {relation} {types.text(self.source)} {x}, {self._float(end)}"
        return self._named("is", text)

    def _cast(self, opcode: str, source: Register, x: str, made: Register) -> str:
        return f"{opcode} {types.text(source)} {x} to {types.text(made)}"

    def _float(self, number: float) -> str:
        return uniform(self.source, f"{float(number)!r}")

    def _named(self, hint: str, right: str) -> str:
        return self.writer.temporary(hint, right)


def _range(dtype: DType) -> tuple[int, int]:
    """The least and the greatest number of a dtype."""
    info = np.iinfo(dtype.storage)
    return int(info.min), int(info.max)


def _towards_zero(number: int, dtype: DType) -> float:
    """The nearest float that is no further from zero."""
    found = dtype.storage.type(number)
    return float(
        found if abs(int(found)) <= abs(number) else np.nextafter(found, dtype.storage.type(0))
    )


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
