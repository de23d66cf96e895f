"""What the rewrites of `simplify` ask of a value, and the uniform tensors they answer with.

Comes in: values. Goes out: the number that every element of a value is, where that is known;
tensors of one number.
Never: a rule.
"""

from typing import TypeVar

import numpy as np

from ...ir import tensor
from ...ir.dtypes import INTEGERS, DType, Kind
from ...ir.payloads import Number, Payload, PythonNumber, payload
from ...ir.rewriter import Rewriter
from ...ir.types import Tensor
from ...ir.values import AnyValue, Op

Made = TypeVar("Made", bound=Op)

# Ops that hand on elements of their operand, and no others.
MOVES = (tensor.Reshape, tensor.Permute, tensor.Broadcast, tensor.Slice, tensor.Flip)


def made_by(value: AnyValue, cls: type[Made]) -> Made | None:
    """The op that makes `value`, if it is of class `cls`."""
    owner = value.owner
    return owner if isinstance(owner, cls) else None


def uniform(value: AnyValue) -> Number | None:
    """The number that each element of `value` is, if it is one number that the program states."""
    while isinstance(value.owner, MOVES):
        value = value.owner.operands[0]
    if not isinstance(value.owner, tensor.Constant):
        return None
    stated = value.owner.value
    return stated if isinstance(stated, Number) else _repeated(stated)


def _repeated(dense: Payload) -> Number | None:
    flat = dense.array.reshape(-1)
    if flat.size == 0:
        return None
    first = flat[:1].tobytes()
    same = flat.tobytes() == first * flat.size
    return payload(flat[:1].reshape(()), dense.dtype) if same else None


def is_number(value: AnyValue, number: PythonNumber) -> bool:
    """Whether every element of `value` is `number`: as a float bit for bit, -0.0 is not 0.0."""
    found = uniform(value)
    if found is None or found.dtype.kind is Kind.COMPLEX:
        return False
    if found.dtype.kind is Kind.BOOL or isinstance(number, bool):
        return found.value is number
    if found.dtype.kind is not Kind.FLOAT:
        return found.value == number
    return found is Number(float(number.real), found.dtype)


def is_zero(value: AnyValue) -> bool:
    """Whether every element is the integer 0, or false."""
    return is_number(value, False if value.dtype.kind is Kind.BOOL else 0)


def is_all_ones(value: AnyValue) -> bool:
    """Whether every element has all of its bits set: -1, the largest unsigned, true."""
    found = uniform(value)
    return found is not None and found.value == all_ones(value.dtype)


def all_ones(dtype: DType) -> bool | int:
    """The value of an integer or bool dtype all of whose bits are set."""
    if dtype.kind is Kind.BOOL:
        return True
    return -1 if dtype.kind is Kind.SIGNED else int(np.iinfo(dtype.storage).max)


def is_least(value: AnyValue) -> bool:
    """Whether every element is the least of its dtype: minus infinity, or the least integer."""
    return _is_limit(value, -np.inf, "min")


def is_greatest(value: AnyValue) -> bool:
    """Whether every element is the greatest of its dtype: infinity, or the greatest integer."""
    return _is_limit(value, np.inf, "max")


def _is_limit(value: AnyValue, infinity: float, integer: str) -> bool:
    found = uniform(value)
    if found is None or found.dtype.kind is Kind.COMPLEX:
        return False
    if found.dtype in INTEGERS:
        return found.value == getattr(np.iinfo(found.dtype.storage), integer)
    return found.dtype.kind is Kind.FLOAT and found.value == infinity


def full(rewriter: Rewriter, number: PythonNumber | Number, type_: Tensor) -> AnyValue:
    """A tensor of `type_`, each element `number`."""
    stated = number if isinstance(number, Number) else Number(number, type_.dtype)
    value = rewriter.emit(tensor.Constant, stated)
    return value if not type_.shape else rewriter.emit(tensor.Broadcast, value, type_.shape, ())
