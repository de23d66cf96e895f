"""Arithmetic, element by element.

Comes in: unary and binary ops, comparisons, choices, casts. Goes out: one statement each, in the
words of `tl`, of libdevice, or of a helper where neither means the same.
Never: a narrow float computed as such: it is widened, and rounded once.
"""

from ....ir import tile
from ....ir.dtypes import FLOATS, UNSIGNED, DType, Kind, boolean, f32, f64, i64, u64
from ....ir.tile import BinaryKind, CompareKind, UnaryKind
from ....ir.values import AnyValue
from ..types import dtype_text, is_narrow
from ..writer import Printers, Writer, is_bool, refuse

FUNCTIONS = {
    UnaryKind.RECIPROCAL_SQUARE_ROOT: "tl.rsqrt",
    UnaryKind.EXP: "tl.exp",
    UnaryKind.EXP2: "tl.exp2",
    UnaryKind.LOG: "tl.log",
    UnaryKind.LOG2: "tl.log2",
    UnaryKind.SIN: "tl.sin",
    UnaryKind.COS: "tl.cos",
    UnaryKind.ERF: "tl.erf",
    UnaryKind.FLOOR: "tl.floor",
    UnaryKind.CEIL: "tl.ceil",
    UnaryKind.ABSOLUTE: "tl.abs",
    UnaryKind.CUBE_ROOT: "libdevice.cbrt",
    UnaryKind.EXPM1: "libdevice.expm1",
    UnaryKind.LOG10: "libdevice.log10",
    UnaryKind.LOG1P: "libdevice.log1p",
    UnaryKind.TAN: "libdevice.tan",
    UnaryKind.ARCSIN: "libdevice.asin",
    UnaryKind.ARCCOS: "libdevice.acos",
    UnaryKind.ARCTAN: "libdevice.atan",
    UnaryKind.SINH: "libdevice.sinh",
    UnaryKind.COSH: "libdevice.cosh",
    UnaryKind.TANH: "libdevice.tanh",
    UnaryKind.ARCSINH: "libdevice.asinh",
    UnaryKind.ARCCOSH: "libdevice.acosh",
    UnaryKind.ARCTANH: "libdevice.atanh",
    UnaryKind.ERFC: "libdevice.erfc",
    UnaryKind.ERF_INVERSE: "libdevice.erfinv",
    UnaryKind.LOG_GAMMA: "libdevice.lgamma",
    UnaryKind.TRUNCATE: "libdevice.trunc",
    UnaryKind.ROUND_EVEN: "libdevice.rint",
}
FUNCTIONS_OF_TWO = {
    BinaryKind.REMAINDER: "libdevice.fmod",
    BinaryKind.POWER: "libdevice.pow",
    BinaryKind.ARCTAN2: "libdevice.atan2",
    BinaryKind.COPY_SIGN: "libdevice.copysign",
    BinaryKind.NEXT_AFTER: "libdevice.nextafter",
    BinaryKind.HYPOT: "libdevice.hypot",
}
OPERATORS = {
    BinaryKind.ADD: "+",
    BinaryKind.SUBTRACT: "-",
    BinaryKind.MULTIPLY: "*",
    BinaryKind.BIT_AND: "&",
    BinaryKind.BIT_OR: "|",
    BinaryKind.BIT_XOR: "^",
}
RELATIONS = {
    CompareKind.EQUAL: "==",
    CompareKind.NOT_EQUAL: "!=",
    CompareKind.LESS: "<",
    CompareKind.LESS_EQUAL: "<=",
}
HELPED = {BinaryKind.DIVIDE: "quotient", BinaryKind.REMAINDER: "remainder"}
SHIFTS = {BinaryKind.SHIFT_LEFT: "shift_left", BinaryKind.SHIFT_RIGHT: "shift_right"}
EXTREMES = {BinaryKind.MAXIMUM: "maximum", BinaryKind.MINIMUM: "minimum"}


def write_unary(writer: Writer, op: tile.Unary) -> None:
    """A function of one number."""
    x, dtype, shape = writer.typed(op.x), op.x.dtype, writer.printed(op.x).shape
    if dtype.kind is Kind.FLOAT:
        made = writer.rounded(_unary_of_float(writer, op, writer.wide(op.x, x)), dtype)
    else:
        made = _unary_of_integer(op, x, dtype)
    writer.define(op.result, made, shape)


def _unary_of_float(writer: Writer, op: tile.Unary, x: str) -> str:
    match op.kind:
        case UnaryKind.NEGATE:
            return f"{x} * -1.0"  # `-x` is 0.0 - x before Triton 3.8, which has no -0.0
        case UnaryKind.SIGN:
            return f"tl.where({x} > 0, 1.0, tl.where({x} < 0, -1.0, {x}))"
        case UnaryKind.SQUARE_ROOT:
            return f"tl.sqrt({x})" if op.x.dtype is f64 else f"tl.sqrt_rn({x})"
        case _ if op.kind in FUNCTIONS:
            return f"{FUNCTIONS[op.kind]}({x})"
        case _:
            raise refuse(op, "neither Triton nor libdevice has this function")


def _unary_of_integer(op: tile.Unary, x: str, dtype: DType) -> str:
    match op.kind:
        case UnaryKind.NEGATE:
            return f"0 - {x}"
        case UnaryKind.ABSOLUTE:
            return x if dtype in UNSIGNED else f"tl.abs({x})"
        case UnaryKind.SIGN if dtype in UNSIGNED:
            return f"({x} > 0).to({dtype_text(dtype)})"
        case UnaryKind.SIGN:
            return f"({x} > 0).to({dtype_text(dtype)}) - ({x} < 0).to({dtype_text(dtype)})"
        case UnaryKind.BIT_NOT:
            return f"~{x}"
        case UnaryKind.COUNT_ONES | UnaryKind.COUNT_LEADING_ZEROS:
            return _count(op, x, dtype)
        case _:
            raise refuse(op, f"Triton has no such function of {dtype}")


def _count(op: tile.Unary, x: str, dtype: DType) -> str:
    """Bits are counted in words of 32 or 64, which shorter numbers enter with zeros in front."""
    word = max(dtype.bits, 32)
    bits = f"{x}.to(tl.uint{dtype.bits}, bitcast=True).to(tl.int{word})"
    if op.kind is UnaryKind.COUNT_ONES:
        return f"libdevice.popc({bits}).to({dtype_text(dtype)})"
    return f"(libdevice.clz({bits}) - {word - dtype.bits}).to({dtype_text(dtype)})"


def write_binary(writer: Writer, op: tile.Binary) -> None:
    """A function of two numbers."""
    dtype = op.left.dtype
    if dtype.kind is Kind.FLOAT:
        left, right = pair(writer, op.left, op.right)
        made = writer.rounded(_binary_of_floats(op, left, right), dtype)
    elif dtype is boolean:
        made = _binary_of_bools(writer, op)
    else:
        made = _binary_of_integers(writer, op)
    writer.define(op.result, made, writer.common(op.left, op.right))


def pair(writer: Writer, left: AnyValue, right: AnyValue) -> tuple[str, str]:
    """Two numbers to be computed with; one at least has a type."""
    both = writer.printed(left).literal and writer.printed(right).literal
    first = writer.typed(left) if both else writer.text(left)
    return writer.wide(left, first), writer.wide(right)


def _binary_of_floats(op: tile.Binary, left: str, right: str) -> str:
    if op.kind in OPERATORS:
        return f"{left} {OPERATORS[op.kind]} {right}"
    if op.kind in EXTREMES:
        return _extreme(op.kind, left, right)
    if op.kind is BinaryKind.DIVIDE:
        return f"{left} / {right}" if op.left.dtype is f64 else f"tl.div_rn({left}, {right})"
    if op.kind is BinaryKind.NEXT_AFTER and is_narrow(op.left.dtype):
        raise refuse(op, "libdevice knows the neighbours of float32 and float64 alone")
    if op.kind not in FUNCTIONS_OF_TWO:
        raise refuse(op, "neither Triton nor libdevice has this function")
    return f"{FUNCTIONS_OF_TWO[op.kind]}({left}, {right})"


def _extreme(kind: BinaryKind, left: str, right: str) -> str:
    return f"tl.{EXTREMES[kind]}({left}, {right}, propagate_nan=tl.PropagateNan.ALL)"


def _binary_of_bools(writer: Writer, op: tile.Binary) -> str:
    left, right = writer.typed(op.left), writer.typed(op.right)
    match op.kind:
        case BinaryKind.MAXIMUM | BinaryKind.BIT_OR:
            return f"{left} | {right}"
        case BinaryKind.MINIMUM | BinaryKind.BIT_AND:
            return f"{left} & {right}"
        case BinaryKind.BIT_XOR:
            return f"{left} ^ {right}"
        case _:
            raise refuse(op, "there is no such function of bools")


def _binary_of_integers(writer: Writer, op: tile.Binary) -> str:
    left, right = _integers(writer, op)
    if op.kind in OPERATORS:
        return _narrowed(writer, op, f"{left} {OPERATORS[op.kind]} {right}")
    if op.kind in EXTREMES:
        return _narrowed(writer, op, f"tl.{EXTREMES[op.kind]}({left}, {right})")
    unsigned = "unsigned_" if op.left.dtype in UNSIGNED else ""
    if op.kind in HELPED:
        if _is_plain_divisor(writer, op.right):
            sign = "//" if op.kind is BinaryKind.DIVIDE else "%"
            return _narrowed(writer, op, f"{left} {sign} {right}")
        made = f"{writer.helper(unsigned + HELPED[op.kind])}({left}, {right})"
        return _narrowed(writer, op, made)
    left, right = writer.typed(op.left), writer.typed(op.right)
    bits = op.left.dtype.bits
    if op.kind in SHIFTS:
        prefix = unsigned if op.kind is BinaryKind.SHIFT_RIGHT else ""
        return f"{writer.helper(prefix + SHIFTS[op.kind])}({left}, {right}, {bits})"
    if op.kind is BinaryKind.POWER:
        helper = writer.helper("power" if unsigned else "signed_power")
        return f"{helper}({left}, {right}, {bits})"
    raise refuse(op, f"Triton has no such function of {op.left.dtype}")


def _integers(writer: Writer, op: tile.Binary) -> tuple[str, str]:
    """Both operands; where the result needs 64 bits, one of them has them."""
    if op.left.dtype is i64 and not writer.widths.narrow(op.result):
        if writer.printed(op.left).literal and not writer.printed(op.right).literal:
            return writer.text(op.left), writer.typed(op.right)
        return writer.typed(op.left), writer.text(op.right)
    return pair(writer, op.left, op.right)


def _narrowed(writer: Writer, op: tile.Binary, made: str) -> str:
    """In 32 bits, if the result fits them and an operand does not."""
    if not writer.widths.narrow(op.result):
        return made
    fit = all(writer.widths.narrow(each) for each in (op.left, op.right))
    if fit:
        return made
    return f"{made}.to(tl.int32)" if made.endswith(")") else f"({made}).to(tl.int32)"


def _is_plain_divisor(writer: Writer, value: AnyValue) -> bool:
    """Whether a divisor is neither 0 nor -1."""
    if value.dtype is i64 and writer.widths.interval(value)[0] > 0:
        return True
    return writer.printed(value).literal and writer.text(value) not in ("0", "-1")


def write_compare(writer: Writer, op: tile.Compare) -> None:
    """Whether two numbers stand in a relation; of bools, false is less than true."""
    left, right = pair(writer, op.left, op.right)
    made = f"{left} {RELATIONS[op.kind]} {right}"
    if is_bool(op.left):
        left, right = writer.typed(op.left), writer.typed(op.right)
        if op.kind is CompareKind.LESS:
            made = f"~{left} & {right}"
        elif op.kind is CompareKind.LESS_EQUAL:
            made = f"~{left} | {right}"
    writer.define(op.result, made, writer.common(op.left, op.right))


def write_select(writer: Writer, op: tile.Select) -> None:
    """One of two numbers."""
    both = writer.printed(op.on_true).literal and writer.printed(op.on_false).literal
    exact = both or op.on_true.dtype is i64 or is_narrow(op.on_true.dtype)
    spell = writer.typed if exact else writer.text
    predicate = writer.typed(op.predicate)
    made = f"tl.where({predicate}, {spell(op.on_true)}, {spell(op.on_false)})"
    writer.define(op.result, made, writer.common(op.predicate, op.on_true, op.on_false))


def write_cast(writer: Writer, op: tile.Cast) -> None:
    """A number as another dtype."""
    x, source, dtype = writer.typed(op.x), op.x.dtype, op.dtype
    if dtype is boolean:
        made = f"{writer.wide(op.x, x)} != 0" if source is not boolean else x
    elif source in FLOATS:
        made = _cast_of_float(writer, op, x)
    elif is_narrow(dtype):
        made = _integer_to_narrow(writer, op, x)
    else:
        made = f"{x}.to({dtype_text(dtype)})"
    writer.define(op.result, made, writer.printed(op.x).shape)


def _cast_of_float(writer: Writer, op: tile.Cast, x: str) -> str:
    source, dtype = op.x.dtype, op.dtype
    if dtype in FLOATS:
        wide = f"{x}.to(tl.float32)" if is_narrow(source) else x
        if is_narrow(dtype):
            return writer.cast(wide, f64 if source is f64 else f32, dtype)
        return f"{wide if source.bits == 8 else x}.to({dtype_text(dtype)})"
    signed = dtype.kind is Kind.SIGNED
    low = -(1 << (dtype.bits - 1)) if signed else 0
    high = (1 << (dtype.bits - signed)) - 1
    helper = writer.helper("saturated")
    return f"{helper}({writer.wide(op.x, x)}, {low}, {high}, {dtype_text(dtype)})"


def _integer_to_narrow(writer: Writer, op: tile.Cast, x: str) -> str:
    """Through a float that holds the integer, so that it is rounded once."""
    if op.x.dtype in (i64, u64):
        raise refuse(op, "no float holds all 64-bit integers, so one would be rounded twice")
    wide = f64 if op.x.dtype.bits == 32 else f32
    return writer.cast(f"{x}.to({dtype_text(wide)})", wide, op.dtype)


def write_bitcast(writer: Writer, op: tile.Bitcast) -> None:
    """The same bits."""
    made = f"{writer.typed(op.x)}.to({dtype_text(op.dtype)}, bitcast=True)"
    writer.define(op.result, made, writer.printed(op.x).shape)


MATH: Printers = {
    tile.Unary: write_unary,
    tile.Binary: write_binary,
    tile.Compare: write_compare,
    tile.Select: write_select,
    tile.Cast: write_cast,
    tile.Bitcast: write_bitcast,
}
