"""Unary and binary arithmetic, comparisons, selection: by kind and dtype, what LLVM calls it.

Comes in: ops on scalars or vectors. Goes out: instructions.
Never: a fast-math flag, or an instruction whose result LLVM leaves open: what the hardware does for
a shift past the width is chosen away.
"""

from typing import Any

from ....ir.dtypes import Kind, f64
from ....ir.loop import Binary, BinaryKind, Compare, CompareKind, FusedMultiplyAdd, Select, Unary
from ....ir.loop import UnaryKind as U
from ....ir.types import INDEX
from .. import types
from ..writer import Printers, Writer, refuse
from .addresses import is_part_of_address
from .division import divide, number_in, remainder
from .extremes import extreme
from .forms import Form, Register, intrinsic, plain, select, uniform

B = BinaryKind
BOOL, SIGNED, UNSIGNED, FLOAT = Kind.BOOL, Kind.SIGNED, Kind.UNSIGNED, Kind.FLOAT
INTEGERS = (SIGNED, UNSIGNED)


def shift(opcode: str) -> Form:
    """A shift that is 0 past the width."""

    def form(writer: Writer, type_: Register, left: str, right: str) -> str:
        held, width = types.text(type_), uniform(type_, str(type_.dtype.bits))
        if number_in(right) in range(type_.dtype.bits):
            return f"{opcode} {held} {left}, {right}"
        inside = writer.temporary("inside", f"icmp ult {held} {right}, {width}")
        shifted = writer.temporary("shifted", f"{opcode} {held} {left}, {right}")
        return select(writer, type_, inside, shifted, uniform(type_, "0"))

    return form


def shift_signed(writer: Writer, type_: Register, left: str, right: str) -> str:
    """All sign bits past the width, as one place before it."""
    if number_in(right) in range(type_.dtype.bits):
        return f"ashr {types.text(type_)} {left}, {right}"
    most = uniform(type_, str(type_.dtype.bits - 1))
    amount = writer.temporary("amount", intrinsic("umin")(writer, type_, right, most))
    return f"ashr {types.text(type_)} {left}, {amount}"


def sign(writer: Writer, type_: Register, x: str) -> str:
    """-1, 0 or 1."""
    held = types.text(type_)
    name = "scmp" if type_.dtype.kind is SIGNED else "ucmp"
    suffix = types.suffix(type_)
    nothing = uniform(type_, "0")
    return f"call {held} @llvm.{name}.{suffix}.{suffix}({held} {x}, {held} {nothing})"


def _negate(writer: Writer, type_: Register, x: str) -> str:
    return f"sub {types.text(type_)} {uniform(type_, '0')}, {x}"


def _negate_float(writer: Writer, type_: Register, x: str) -> str:
    return f"fneg {types.text(type_)} {x}"


def _not(writer: Writer, type_: Register, x: str) -> str:
    return f"xor {types.text(type_)} {x}, {uniform(type_, '-1')}"


def _not_bool(writer: Writer, type_: Register, x: str) -> str:
    return f"xor {types.text(type_)} {x}, {uniform(type_, 'true')}"


def _same(writer: Writer, type_: Register, x: str) -> str:
    return plain("or")(writer, type_, x, uniform(type_, "0"))


def _copy_sign(writer: Writer, type_: Register, x: str, sign: str) -> str:
    """Behind a fence, where it is f64: of one that is narrowed LLVM would narrow the sign, too, at
    once to f16, for which it calls the compiler's own library."""
    copied = intrinsic("copysign")(writer, type_, x, sign)
    if type_.dtype is not f64:
        return copied
    return intrinsic("arithmetic.fence")(writer, type_, writer.temporary("signed", copied))


UNARY: dict[tuple[U, Kind], Form] = {
    (U.NEGATE, FLOAT): _negate_float,
    (U.ABSOLUTE, FLOAT): intrinsic("fabs"),
    (U.ABSOLUTE, SIGNED): intrinsic("abs", ", i1 false"),
    (U.ABSOLUTE, UNSIGNED): _same,
    (U.SQUARE_ROOT, FLOAT): intrinsic("sqrt"),
    (U.FLOOR, FLOAT): intrinsic("floor"),
    (U.CEIL, FLOAT): intrinsic("ceil"),
    (U.TRUNCATE, FLOAT): intrinsic("trunc"),
    (U.ROUND_EVEN, FLOAT): intrinsic("roundeven"),
    (U.BIT_NOT, BOOL): _not_bool,
    **{(U.NEGATE, kind): _negate for kind in INTEGERS},
    **{(U.SIGN, kind): sign for kind in INTEGERS},
    **{(U.BIT_NOT, kind): _not for kind in INTEGERS},
    **{(U.COUNT_ONES, kind): intrinsic("ctpop") for kind in INTEGERS},
    **{(U.COUNT_LEADING_ZEROS, kind): intrinsic("ctlz", ", i1 false") for kind in INTEGERS},
}

BINARY: dict[tuple[B, Kind], Form] = {
    (B.ADD, FLOAT): plain("fadd"),
    (B.SUBTRACT, FLOAT): plain("fsub"),
    (B.MULTIPLY, FLOAT): plain("fmul"),
    (B.DIVIDE, FLOAT): plain("fdiv"),
    (B.MAXIMUM, FLOAT): extreme("maximum"),
    (B.MINIMUM, FLOAT): extreme("minimum"),
    (B.COPY_SIGN, FLOAT): _copy_sign,
    (B.MAXIMUM, SIGNED): intrinsic("smax"),
    (B.MINIMUM, SIGNED): intrinsic("smin"),
    (B.MAXIMUM, UNSIGNED): intrinsic("umax"),
    (B.MINIMUM, UNSIGNED): intrinsic("umin"),
    (B.MAXIMUM, BOOL): plain("or"),
    (B.MINIMUM, BOOL): plain("and"),
    (B.SHIFT_RIGHT, SIGNED): shift_signed,
    (B.SHIFT_RIGHT, UNSIGNED): shift("lshr"),
    **{(B.ADD, kind): plain("add") for kind in INTEGERS},
    **{(B.SUBTRACT, kind): plain("sub") for kind in INTEGERS},
    **{(B.MULTIPLY, kind): plain("mul") for kind in INTEGERS},
    **{(B.DIVIDE, kind): divide for kind in INTEGERS},
    **{(B.REMAINDER, kind): remainder for kind in INTEGERS},
    **{(B.SHIFT_LEFT, kind): shift("shl") for kind in INTEGERS},
    **{(B.BIT_AND, kind): plain("and") for kind in (BOOL, *INTEGERS)},
    **{(B.BIT_OR, kind): plain("or") for kind in (BOOL, *INTEGERS)},
    **{(B.BIT_XOR, kind): plain("xor") for kind in (BOOL, *INTEGERS)},
}

RELATIONS: dict[CompareKind, dict[Kind, str]] = {
    CompareKind.EQUAL: {FLOAT: "fcmp oeq", **dict.fromkeys((BOOL, *INTEGERS), "icmp eq")},
    CompareKind.NOT_EQUAL: {FLOAT: "fcmp une", **dict.fromkeys((BOOL, *INTEGERS), "icmp ne")},
    CompareKind.LESS: {
        FLOAT: "fcmp olt", SIGNED: "icmp slt", UNSIGNED: "icmp ult", BOOL: "icmp ult"
    },
    CompareKind.LESS_EQUAL: {
        FLOAT: "fcmp ole", SIGNED: "icmp sle", UNSIGNED: "icmp ule", BOOL: "icmp ule"
    },
}  # fmt: skip


def form_of(op: Any, table: dict[Any, Form], kind: Any, type_: Register) -> Form:
    """The form of a kind for a dtype, or the error that says who should have replaced it."""
    require_arithmetic(op, type_)
    form = table.get((kind, type_.dtype.kind))
    if form is None:
        raise refuse(op, f"the pass expand replaces it for {type_.dtype}")
    return form


def require_arithmetic(op: Any, type_: Register) -> None:
    """Refuse to compute with narrow floats."""
    if type_.dtype.kind is FLOAT and type_.dtype not in types.NATIVE_FLOATS:
        raise refuse(op, f"the pass expand computes {type_.dtype} in f32")


def print_unary(writer: Writer, op: Unary) -> None:
    form = form_of(op, UNARY, op.kind, op.x.type)
    writer.define(op.result, form(writer, op.x.type, writer.operand(op.x)))


def print_binary(writer: Writer, op: Binary) -> None:
    type_ = op.left.type
    if type_ is INDEX and is_part_of_address(op):
        return
    form = form_of(op, BINARY, op.kind, type_)
    left, right = writer.operand(op.left), writer.operand(op.right)
    writer.define(op.result, form(writer, type_, left, right))


def print_compare(writer: Writer, op: Compare) -> None:
    type_ = op.left.type
    require_arithmetic(op, type_)
    relation = RELATIONS[op.kind][type_.dtype.kind]
    left, right = writer.operand(op.left), writer.operand(op.right)
    writer.define(op.result, f"{relation} {types.text(type_)} {left}, {right}")


def print_select(writer: Writer, op: Select) -> None:
    operands = [writer.operand(value) for value in op.operands]
    writer.define(op.result, select(writer, op.on_true.type, *operands))


def print_fma(writer: Writer, op: FusedMultiplyAdd) -> None:
    require_arithmetic(op, op.left.type)
    if not writer.machine.fused:
        raise refuse(op, f"{writer.machine.name} has no fused multiply-add")
    operands = [writer.operand(value) for value in op.operands]
    writer.define(op.result, intrinsic("fma")(writer, op.left.type, *operands))


TABLE: Printers = {
    Unary: print_unary,
    Binary: print_binary,
    Compare: print_compare,
    Select: print_select,
    FusedMultiplyAdd: print_fma,
}
