"""Vectors: constants, splats, lanes, shuffles and reductions.

Comes in: ops on vectors. Goes out: instructions; constants are operands and need none.
Never: another order of a reduction's floats than that of `ir/loop/tree.py`.
"""

from collections.abc import Sequence

import numpy as np

from ....ir.dtypes import DType, Kind
from ....ir.interpreter.arrays import stored
from ....ir.loop import (
    BinaryKind,
    Concat,
    Constant,
    Extract,
    Insert,
    Iota,
    Reduce,
    ReduceKind,
    Shuffle,
    Splat,
)
from ....ir.payloads import payload
from ....ir.types import Vec
from .. import types
from ..writer import Printers, Writer
from .arithmetic import BINARY, form_of
from .constants import as_operand
from .forms import Form

R = ReduceKind
NARROWEST = 128
"""The bits of the narrowest register for vectors."""
UNORDERED = {
    R.ADD: "add", R.MULTIPLY: "mul", R.BIT_AND: "and", R.BIT_OR: "or", R.BIT_XOR: "xor",
    R.MINIMUM: "min", R.MAXIMUM: "max",
}  # fmt: skip
"""Of integers the order does not matter."""


def print_constant(writer: Writer, op: Constant) -> None:
    text, type_ = types.constant(op.value), op.result.type
    if isinstance(type_, Vec):
        text = as_operand(writer, type_, text)
    writer.equate(op.result, text)


def print_iota(writer: Writer, op: Iota) -> None:
    counted = payload(stored(np.arange(op.lanes), op.dtype), op.dtype)
    writer.equate(op.result, types.constant(counted))


def print_splat(writer: Writer, op: Splat) -> None:
    type_, x = op.result.type, writer.operand(op.x)
    if not x.startswith("%"):
        constant = types.vector_of(types.element(type_.dtype), [x])
        writer.equate(op.result, as_operand(writer, type_, constant))
        return
    held = types.text(type_)
    first = writer.temporary("first", f"insertelement {held} poison, {writer.typed(op.x)}, i64 0")
    lanes = f"<{type_.lanes} x i32> zeroinitializer"
    writer.define(op.result, f"shufflevector {held} {first}, {held} poison, {lanes}")


def print_extract(writer: Writer, op: Extract) -> None:
    writer.define(op.result, f"extractelement {writer.typed(op.x)}, i64 {op.lane}")


def print_insert(writer: Writer, op: Insert) -> None:
    value = writer.typed(op.value)
    writer.define(op.result, f"insertelement {writer.typed(op.x)}, {value}, i64 {op.lane}")


def print_shuffle(writer: Writer, op: Shuffle) -> None:
    """Lanes of one vector, or of two that stand beside each other for this alone."""
    both = op.x.owner
    if isinstance(both, Concat) and _is_pair(both):
        left, right = [writer.operand(part) for part in both.parts]
        writer.define(op.result, shuffled(both.parts[0].type, left, right, op.lanes))
        return
    writer.define(op.result, shuffled(op.x.type, writer.operand(op.x), "poison", op.lanes))


def _is_pair(op: Concat) -> bool:
    """Whether an instruction that picks lanes takes the two parts as they are."""
    types = [part.type for part in op.parts]
    return len(types) == 2 and types[0] is types[1]


def print_concat(writer: Writer, op: Concat) -> None:
    if _is_pair(op) and all(isinstance(use, Shuffle) for use in op.result.uses):
        return
    pieces = [(part.type.lanes, writer.operand(part)) for part in op.parts]
    dtype = op.parts[0].dtype
    while len(pieces) > 1:
        pairs = zip(pieces[::2], pieces[1::2], strict=False)
        odd = pieces[len(pieces) & ~1 :]
        pieces = [_joined(writer, dtype, left, right) for left, right in pairs] + odd
    writer.equate(op.result, pieces[0][1])


def shuffled(type_: Vec, left: str, right: str, lanes: Sequence[int]) -> str:
    """The right-hand side that picks lanes of two vectors of a type; -1 is any."""
    held = types.text(type_)
    picked = ", ".join([f"i32 {lane}" if lane >= 0 else "i32 poison" for lane in lanes])
    return f"shufflevector {held} {left}, {held} {right}, <{len(lanes)} x i32> <{picked}>"


def _joined(
    writer: Writer, dtype: DType, left: tuple[int, str], right: tuple[int, str]
) -> tuple[int, str]:
    """Two vectors, one behind the other; the shorter one is first made as long as the other."""
    longest = max(left[0], right[0])
    type_ = Vec(longest, dtype)
    lower = _lengthened(writer, dtype, left, longest)
    upper = _lengthened(writer, dtype, right, longest)
    lanes = [*range(left[0]), *range(longest, longest + right[0])]
    return len(lanes), writer.temporary("joined", shuffled(type_, lower, upper, lanes))


def _lengthened(writer: Writer, dtype: DType, part: tuple[int, str], wanted: int) -> str:
    length, x = part
    if length == wanted:
        return x
    lanes = [*range(length), *[-1] * (wanted - length)]
    return writer.temporary("padded", shuffled(Vec(length, dtype), x, "poison", lanes))


def print_reduce(writer: Writer, op: Reduce) -> None:
    type_, x, kind = op.x.type, writer.operand(op.x), op.kind
    form = form_of(op, BINARY, BinaryKind(kind.value), type_)
    if type_.dtype.kind is not Kind.FLOAT:
        writer.define(op.result, _reduced(type_, kind, x))
        return
    while type_.lanes > 1:
        if type_.lanes * type_.dtype.bits == NARROWEST:
            x = _among_few(writer, form, type_, x)
            break
        half = 1 << ((type_.lanes - 1).bit_length() - 1)
        lower = writer.temporary("lower", shuffled(type_, x, "poison", range(half)))
        # Where there is no lane above, the lane below stays as it is.
        above = type_.lanes - half
        lanes = [*range(half, type_.lanes), *[-1] * (half - above)]
        upper = writer.temporary("upper", shuffled(type_, x, "poison", lanes))
        type_ = Vec(half, type_.dtype)
        x = writer.temporary("halved", form(writer, type_, lower, upper))
        if above < half:
            kept = [*range(above), *range(half + above, 2 * half)]
            x = writer.temporary("halved", shuffled(type_, x, lower, kept))
    writer.define(op.result, f"extractelement {types.text(type_)} {x}, i64 0")


def _among_few(writer: Writer, form: Form, type_: Vec, x: str) -> str:
    """The lanes of the narrowest register combined, in the first; it is no faster on a part."""
    half = type_.lanes // 2
    while half:
        lanes = [*range(half, 2 * half), *[-1] * (type_.lanes - half)]
        upper = writer.temporary("upper", shuffled(type_, x, "poison", lanes))
        x = writer.temporary("halved", form(writer, type_, x, upper))
        half //= 2
    return x


def _reduced(type_: Vec, kind: ReduceKind, x: str) -> str:
    """All lanes of integers or bools combined."""
    name, dtype = UNORDERED[kind], type_.dtype
    if kind in (R.MINIMUM, R.MAXIMUM):
        name = ("s" if dtype.kind is Kind.SIGNED else "u") + name
    function = f"@llvm.vector.reduce.{name}.{types.suffix(type_)}"
    return f"call {types.element(dtype)} {function}({types.text(type_)} {x})"


TABLE: Printers = {
    Constant: print_constant,
    Iota: print_iota,
    Splat: print_splat,
    Extract: print_extract,
    Insert: print_insert,
    Shuffle: print_shuffle,
    Concat: print_concat,
    Reduce: print_reduce,
}
