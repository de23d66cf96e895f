"""Division of integers: quotients towards zero, and what is left.

Comes in: ops on scalars or vectors. Goes out: instructions. Processors divide no vectors of
integers, which LLVM would take apart; but they divide vectors of floats, which hold those of 32
bits and less whole, and whose quotients, rounded, lie on the same side of each integer.
Never: an instruction whose result LLVM leaves open: what the hardware does for a division by zero
is chosen away.
"""

import re

from ....ir.dtypes import DType, Kind, f32, f64
from ....ir.loop.base import with_dtype
from ....ir.types import Vec
from .. import types
from ..writer import Writer
from .forms import Register, intrinsic, mask_of, select, uniform

HOLDING: dict[int, DType] = {8: f32, 16: f32, 32: f64}
"""The floats that hold integers of so many bits, and tell their quotients apart."""

_NUMBER = re.compile(r"(?:splat \(i\d+ (-?\d+)\))|(-?\d+)")


def number_in(operand: str) -> int | None:
    """The number that an operand is in all lanes, if it is a constant."""
    found = _NUMBER.fullmatch(operand)
    return int(found[1] or found[2]) if found else None


def divide(writer: Writer, type_: Register, left: str, right: str) -> str:
    """By 0 it is 0, and the least by -1 wraps; LLVM leaves both open."""
    held, nothing = types.text(type_), uniform(type_, "0")
    if number_in(right) not in (None, 0, -1):
        return f"{_signed(type_, 'div')} {held} {left}, {right}"
    zero, opposite, divisor = _safe_divisor(writer, type_, right)
    if _is_held(type_):
        *_, ratio = _divided(writer, type_, left, divisor)
        whole = _to_integers(writer, type_, ratio)
        quotient = writer.temporary("quotient", whole)
    else:
        made = f"{_signed(type_, 'div')} {held} {left}, {divisor}"
        quotient = writer.temporary("quotient", made)
    if opposite:
        negated = writer.temporary("negated", f"sub {held} {nothing}, {left}")
        quotient = writer.temporary("quotient", select(writer, type_, opposite, negated, quotient))
    return select(writer, type_, zero, nothing, quotient)


def remainder(writer: Writer, type_: Register, left: str, right: str) -> str:
    """By 0 and by -1 it is 0, as it is by 1."""
    divisor = right
    if number_in(right) in (None, 0, -1):
        *_, divisor = _safe_divisor(writer, type_, right)
        if _is_held(type_):
            return _to_integers(writer, type_, _rest(writer, type_, left, divisor))
    return f"{_signed(type_, 'rem')} {types.text(type_)} {left}, {divisor}"


def _safe_divisor(writer: Writer, type_: Register, right: str) -> tuple[str, str, str]:
    """Where the divisor is 0, where it is -1 (nowhere, if there is no sign), and 1 for those."""
    one = uniform(type_, "1")
    equal = f"icmp eq {types.text(type_)} {right}, "
    zero = writer.temporary("by_zero", equal + uniform(type_, "0"))
    if type_.dtype.kind is Kind.UNSIGNED:
        return zero, "", writer.temporary("divisor", select(writer, type_, zero, one, right))
    opposite = writer.temporary("by_minus_one", equal + uniform(type_, "-1"))
    either = writer.temporary("trivial", f"or {mask_of(type_)} {zero}, {opposite}")
    return zero, opposite, writer.temporary("divisor", select(writer, type_, either, one, right))


def _is_held(type_: Register) -> bool:
    """Whether these are vectors of integers that floats hold."""
    return isinstance(type_, Vec) and type_.dtype.bits in HOLDING


def _floats(type_: Register) -> Register:
    return with_dtype(type_, HOLDING[type_.dtype.bits])


def _divided(writer: Writer, type_: Register, left: str, right: str) -> tuple[str, str, str]:
    """Two integers as floats, and the one divided by the other."""
    held = types.text(_floats(type_))
    dividend, divisor = [_to_floats(writer, type_, each) for each in (left, right)]
    ratio = writer.temporary("ratio", f"fdiv {held} {dividend}, {divisor}")
    return dividend, divisor, ratio


def _rest(writer: Writer, type_: Register, left: str, right: str) -> str:
    """What is left of a dividend, as floats: no step of it rounds, but the quotient."""
    floats = _floats(type_)
    held = types.text(floats)
    dividend, divisor, ratio = _divided(writer, type_, left, right)
    whole = writer.temporary("whole", intrinsic("trunc")(writer, floats, ratio))
    taken = writer.temporary("taken", f"fmul {held} {whole}, {divisor}")
    return writer.temporary("rest", f"fsub {held} {dividend}, {taken}")


def _to_floats(writer: Writer, type_: Register, x: str) -> str:
    opcode = "uitofp" if type_.dtype.kind is Kind.UNSIGNED else "sitofp"
    made = f"{opcode} {types.text(type_)} {x} to {types.text(_floats(type_))}"
    return writer.temporary("float", made)


def _to_integers(writer: Writer, type_: Register, x: str) -> str:
    """Floats, which are whole or are cut off, as the integers that they certainly are."""
    opcode = "fptoui" if type_.dtype.kind is Kind.UNSIGNED else "fptosi"
    return f"{opcode} {types.text(_floats(type_))} {x} to {types.text(type_)}"


def _signed(type_: Register, operation: str) -> str:
    """The operation of a dtype with a sign, or of one without."""
    return ("u" if type_.dtype.kind is Kind.UNSIGNED else "s") + operation
