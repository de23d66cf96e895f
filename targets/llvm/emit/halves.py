"""f16 from f32 and back, by instructions of the machine, or in integers where it has none.

Comes in: f16 as integers of 16 bits, or f32. Goes out: the right-hand side that makes the other.
Never: a call of the compiler's own library, which LLVM would make for machines that have none.
"""

from ....ir.dtypes import f32, i32
from ....ir.loop.base import with_dtype
from ....ir.types import Vec
from .. import types
from ..writer import Writer
from .forms import Register, select, uniform

EXPONENT_OF_HALF = 0x7C00
LEAST_BEYOND = 0x47800000  # 65536 as f32: the first number that is too large, rounded or not
LEAST_NORMAL = 0x38800000  # 2^-14 as f32
REBIAS = (15 - 127) * (1 << 23)


def widened(writer: Writer, source: Register, x: str) -> str:
    """f32 of f16."""
    single = types.text(with_dtype(source, f32))
    if not writer.machine.halves:
        return _widened_in_integers(writer, source, x)
    half = _half(source)
    read = writer.temporary("half", f"bitcast {types.text(source)} {x} to {half}")
    return f"fpext {half} {read} to {single}"


def narrowed(writer: Writer, made: Register, x: str) -> str:
    """f16 of f32, rounded once."""
    single, half = types.text(with_dtype(made, f32)), _half(made)
    if not writer.machine.halves:
        return _narrowed_in_integers(writer, made, x)
    rounded = writer.temporary("half", f"fptrunc {single} {x} to {half}")
    return f"bitcast {half} {rounded} to {types.text(made)}"


def _half(type_: Register) -> str:
    return f"<{type_.lanes} x half>" if isinstance(type_, Vec) else "half"


class _Integers:
    """Arithmetic on integers of 32 bits, each result under a name."""

    def __init__(self, writer: Writer, like: Register) -> None:
        self.writer = writer
        self.type, self.single = with_dtype(like, i32), with_dtype(like, f32)
        self.text, self.float = types.text(self.type), types.text(self.single)

    def number(self, value: int) -> str:
        return uniform(self.type, str(value))

    def binary(self, opcode: str, left: str, right: str | int) -> str:
        operand = right if isinstance(right, str) else self.number(right)
        return self.writer.temporary("bits", f"{opcode} {self.text} {left}, {operand}")

    def float_binary(self, opcode: str, left: str, right: str) -> str:
        number = uniform(self.single, right)
        return self.writer.temporary("scaled", f"{opcode} {self.float} {left}, {number}")

    def as_float(self, x: str) -> str:
        return self.writer.temporary("float", f"bitcast {self.text} {x} to {self.float}")

    def as_bits(self, x: str) -> str:
        return self.writer.temporary("bits", f"bitcast {self.float} {x} to {self.text}")

    def choose(self, relation: str, left: str, right: int, on_true: str, on_false: str) -> str:
        compared = f"icmp {relation} {self.text} {left}, {self.number(right)}"
        predicate = self.writer.temporary(relation, compared)
        return self.writer.temporary(
            "chosen", select(self.writer, self.type, predicate, on_true, on_false)
        )


def _widened_in_integers(writer: Writer, source: Register, x: str) -> str:
    """The fields moved to their places and scaled, which makes subnormal numbers normal."""
    to = _Integers(writer, source)
    bits = writer.temporary("bits", f"zext {types.text(source)} {x} to {to.text}")
    fields = to.binary("shl", to.binary("and", bits, 0x7FFF), 13)
    scaled = to.as_bits(to.float_binary("fmul", to.as_float(fields), f"{2.0**112:.1f}"))
    special = to.binary("or", fields, 0x7F800000)
    exponent = to.binary("and", bits, EXPONENT_OF_HALF)
    magnitude = to.choose("eq", exponent, EXPONENT_OF_HALF, special, scaled)
    sign = to.binary("shl", to.binary("and", bits, 0x8000), 16)
    return f"bitcast {to.text} {to.binary('or', magnitude, sign)} to {to.float}"


def _narrowed_in_integers(writer: Writer, made: Register, x: str) -> str:
    """Normal numbers round as integers do; adding 0.5 puts the bits of a subnormal in place."""
    to = _Integers(writer, made)
    bits = to.as_bits(x)
    magnitude = to.binary("and", bits, 0x7FFFFFFF)
    odd = to.binary("and", to.binary("lshr", magnitude, 13), 1)
    rounded = to.binary("add", to.binary("add", magnitude, REBIAS + 0xFFF), odd)
    normal = to.binary("lshr", rounded, 13)
    shifted = to.as_bits(to.float_binary("fadd", to.as_float(magnitude), "0.5"))
    subnormal = to.binary("sub", shifted, 0x3F000000)
    finite = to.choose("ult", magnitude, LEAST_NORMAL, subnormal, normal)
    infinite, nan = to.number(EXPONENT_OF_HALF), to.number(EXPONENT_OF_HALF | 0x200)
    special = to.choose("ugt", magnitude, 0x7F800000, nan, infinite)
    chosen = to.choose("uge", magnitude, LEAST_BEYOND, special, finite)
    sign = to.binary("lshr", to.binary("and", bits, -(1 << 31)), 16)
    return f"trunc {to.text} {to.binary('or', chosen, sign)} to {types.text(made)}"
