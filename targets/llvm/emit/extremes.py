"""The larger and the smaller of two floats, where NaN wins and the zeros are told apart.

Comes in: two operands. Goes out: LLVM's own function, or half as many instructions where the
machine has one that knows the order of the zeros: then only NaN is left to see to.
Never: another result.
"""

from ....ir.dtypes import f32
from ....ir.types import Vec
from .. import types
from ..writer import Writer
from .forms import Form, Register, intrinsic, select

WIDTHS = (128, 256, 512)
SIGN_OF_COMPARED = 4
"""The part of the instruction's setting that keeps the sign of the number that is chosen."""
SETTINGS = {"minimum": SIGN_OF_COMPARED, "maximum": SIGN_OF_COMPARED | 1}
ROUND_AS_USUAL = 4


def extreme(name: str) -> Form:
    """`maximum` or `minimum`."""
    simple, setting = intrinsic(name), SETTINGS[name]

    def form(writer: Writer, type_: Register, left: str, right: str) -> str:
        # LLVM knows better what a constant allows.
        constant = not (left.startswith("%") and right.startswith("%"))
        if constant or not isinstance(type_, Vec) or not _has_range(writer, type_):
            return simple(writer, type_, left, right)
        held = types.text(type_)
        chosen = writer.temporary("range", _range(type_, setting, left, right))
        unordered = writer.temporary("unordered", f"fcmp uno {held} {left}, {right}")
        nan = writer.temporary("nan", f"fadd {held} {left}, {right}")
        return select(writer, type_, unordered, nan, chosen)

    return form


def _has_range(writer: Writer, type_: Vec) -> bool:
    return writer.machine.ranges and type_.lanes * type_.dtype.bits in WIDTHS


def _range(type_: Vec, setting: int, left: str, right: str) -> str:
    """VRANGEPS or VRANGEPD: of a number and NaN it is the number."""
    held, width = types.text(type_), type_.lanes * type_.dtype.bits
    name = f"@llvm.x86.avx512.mask.range.{'ps' if type_.dtype is f32 else 'pd'}.{width}"
    mask = f"i{max(type_.lanes, 8)} -1"
    rounding = f", i32 {ROUND_AS_USUAL}" if width == WIDTHS[-1] else ""
    operands = f"{held} {left}, {held} {right}, i32 {setting}, {held} {left}, {mask}"
    return f"call {held} {name}({operands}{rounding})"
