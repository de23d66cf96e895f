"""Which function an op of a family is. Those of one and of two numbers are shared.

Comes in: nothing. Goes out: the enumerations, and the checks that a kind has a meaning for a dtype.
Never: a meaning of its own; each is an elementwise op of the tensor floor, under the same name.
"""

from enum import Enum

from ..errors import Unmet
from ..shared.kinds import BinaryKind, CompareKind, UnaryKind, dtypes_of, evaluate, meaning_of
from .base import Register


class ReduceKind(Enum):
    """Functions of two numbers in which the order of many matters at most to rounding."""

    ADD = "add"
    MULTIPLY = "multiply"
    MINIMUM = "minimum"
    MAXIMUM = "maximum"
    BIT_AND = "bit_and"
    BIT_OR = "bit_or"
    BIT_XOR = "bit_xor"


class AtomicKind(Enum):
    """What a number does to the one in memory."""

    ADD = "add"
    MINIMUM = "minimum"
    MAXIMUM = "maximum"
    BIT_AND = "bit_and"
    BIT_OR = "bit_or"
    BIT_XOR = "bit_xor"
    EXCHANGE = "exchange"


Kind = UnaryKind | BinaryKind | CompareKind


def binary_of(kind: ReduceKind | AtomicKind) -> BinaryKind:
    """The function of two numbers that a reduction or an atomic op applies."""
    return BinaryKind(kind.value)


def check_kind(kind: Kind, type_: Register) -> None:
    """Refuse operands of a dtype for which there is no such function."""
    if type_.dtype not in dtypes_of(kind):  # the text costs more than the question
        raise Unmet(f"there is no {kind.value} of this dtype: {type_}")


__all__ = [
    "AtomicKind", "BinaryKind", "CompareKind", "ReduceKind", "UnaryKind",
    "binary_of", "check_kind", "dtypes_of", "evaluate", "meaning_of",
]  # fmt: skip
