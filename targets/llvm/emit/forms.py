"""What the families of instructions share: the simplest right-hand sides.

Comes in: types and operands as text. Goes out: text.
Never: an op.
"""

from collections.abc import Callable

from ....ir.types import Scalar, Vec
from .. import types
from ..writer import Writer

Register = Scalar | Vec
Form = Callable[..., str]
"""Writer, type and operands, to the right-hand side of the last instruction."""


def uniform(type_: Register, number: str) -> str:
    """A constant with the same number in all lanes."""
    if not isinstance(type_, Vec):
        return number
    return types.vector_of(types.element(type_.dtype), [number])


def mask_of(type_: Register) -> str:
    """The type of the predicates of a type's lanes."""
    return f"<{type_.lanes} x i1>" if isinstance(type_, Vec) else "i1"


def plain(opcode: str) -> Form:
    """An instruction of two operands."""

    def form(writer: Writer, type_: Register, left: str, right: str) -> str:
        return f"{opcode} {types.text(type_)} {left}, {right}"

    return form


def intrinsic(name: str, last: str = "") -> Form:
    """A call of a function that LLVM has instructions for."""

    def form(writer: Writer, type_: Register, *operands: str) -> str:
        held = types.text(type_)
        listed = ", ".join([f"{held} {operand}" for operand in operands])
        return f"call {held} @llvm.{name}.{types.suffix(type_)}({listed}{last})"

    return form


def select(writer: Writer, type_: Register, predicate: str, on_true: str, on_false: str) -> str:
    """Lane by lane, one or the other."""
    held = types.text(type_)
    return f"select {mask_of(type_)} {predicate}, {held} {on_true}, {held} {on_false}"
