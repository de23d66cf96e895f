"""The kinds of arithmetic: each is an elementwise op of the tensor floor, under the same name.

Comes in: nothing. Goes out: the enumerations, and for each member the dtypes it takes and the
function that it is, both as the tensor op has them, so that a meaning is written down once.
Never: complex numbers, which no tile holds.
"""

from collections.abc import Callable
from enum import Enum
from functools import cache
from typing import Any

from ..declare import REGISTRY, Op
from ..dtypes import ORDERED, DType
from ..errors import require
from ..interpreter.arrays import elementwise
from ..payloads import Array
from ..tensor.elementwise import Elementwise
from ..tensor.order import next_after
from ..types import Scalar, Tile


class _Kind(Enum):
    """Members are hashed as the single objects that they are: kinds are part of every key by which
    ops are found, and to hash their names, as others do, takes longer than the rest of it."""

    __hash__ = object.__hash__


class UnaryKind(_Kind):
    """Functions of one number, of which they keep the dtype."""

    NEGATE = "negate"
    ABSOLUTE = "absolute"
    SIGN = "sign"
    SQUARE_ROOT = "square_root"
    RECIPROCAL_SQUARE_ROOT = "reciprocal_square_root"
    CUBE_ROOT = "cube_root"
    EXP = "exp"
    EXP2 = "exp2"
    EXPM1 = "expm1"
    LOG = "log"
    LOG2 = "log2"
    LOG10 = "log10"
    LOG1P = "log1p"
    SIN = "sin"
    COS = "cos"
    TAN = "tan"
    ARCSIN = "arcsin"
    ARCCOS = "arccos"
    ARCTAN = "arctan"
    SINH = "sinh"
    COSH = "cosh"
    TANH = "tanh"
    ARCSINH = "arcsinh"
    ARCCOSH = "arccosh"
    ARCTANH = "arctanh"
    ERF = "erf"
    ERFC = "erfc"
    ERF_INVERSE = "erf_inverse"
    LOG_GAMMA = "log_gamma"
    DIGAMMA = "digamma"
    FLOOR = "floor"
    CEIL = "ceil"
    TRUNCATE = "truncate"
    ROUND_EVEN = "round_even"
    BIT_NOT = "bit_not"
    COUNT_ONES = "count_ones"
    COUNT_LEADING_ZEROS = "count_leading_zeros"


class BinaryKind(_Kind):
    """Functions of two numbers of one dtype, which they keep."""

    ADD = "add"
    SUBTRACT = "subtract"
    MULTIPLY = "multiply"
    DIVIDE = "divide"
    REMAINDER = "remainder"
    POWER = "power"
    MAXIMUM = "maximum"
    MINIMUM = "minimum"
    ARCTAN2 = "arctan2"
    COPY_SIGN = "copy_sign"
    NEXT_AFTER = "next_after"
    HYPOT = "hypot"
    BIT_AND = "bit_and"
    BIT_OR = "bit_or"
    BIT_XOR = "bit_xor"
    SHIFT_LEFT = "shift_left"
    SHIFT_RIGHT = "shift_right"


class CompareKind(_Kind):
    """Relations of two numbers of one dtype."""

    EQUAL = "equal"
    NOT_EQUAL = "not_equal"
    LESS = "less"
    LESS_EQUAL = "less_equal"


Kind = UnaryKind | BinaryKind | CompareKind


def check_kind(kind: Kind, type_: Scalar | Tile) -> None:
    """Refuse operands of a dtype for which there is no such function."""
    require(type_.dtype in dtypes_of(kind), f"there is no {kind.value} of this dtype", type_)


@cache
def dtypes_of(kind: Kind) -> frozenset[DType]:
    """The dtypes that the tensor op takes, but for the complex ones."""
    accepted = tensor_op(kind).operand_fields[0].rule.dtypes
    return ORDERED if accepted is None else ORDERED & accepted


def evaluate(kind: Kind, dtype: DType, result: DType, *arrays: Array) -> Array:
    """The function of arrays of `dtype`, computed wide and rounded once to `result`."""
    if kind is BinaryKind.NEXT_AFTER:
        return next_after(*arrays)  # among the numbers of the dtype itself
    return elementwise(meaning_of(kind), dtype, result, *arrays)


def meaning_of(kind: Kind) -> Callable[..., Any]:
    """The numpy function that the tensor op applies."""
    op = tensor_op(kind)
    assert issubclass(op, Elementwise)
    return op.meaning


@cache
def tensor_op(kind: Kind) -> type[Op]:
    """The op of the tensor floor that has this name."""
    return REGISTRY[f"tensor.{kind.value}"]
