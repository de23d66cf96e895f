"""What each op of complex numbers is on their parts.

Comes in: an op, and the parts of its operands. Goes out: the parts of its result.
Never: an op that keeps a complex number; one without a rule here is the interpreter's.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ir import tensor
from ...ir.builder import Builder
from ...ir.dtypes import COMPLEXES, boolean
from ...ir.payloads import Number, payload
from ...ir.tensor.base import rebuilt
from ...ir.values import AnyValue, Op
from .functions import FUNCTIONS, Parts, Rule, rule, rule_of_numbers
from .parts import product, quotient
from .powers import power


def of_real(value: AnyValue) -> Parts:
    """The parts of a value that is real."""
    return value, value


def is_complex(value: AnyValue) -> bool:
    """Whether the numbers of a value are complex."""
    return value.dtype in COMPLEXES


def _constant(op: tensor.Constant, builder: Builder, operands: Sequence[Parts]) -> Parts:
    part, numbers = op.value.dtype.real, op.value.array
    real, imaginary = (
        builder.emit(tensor.Constant, payload(each, part))
        for each in (np.real(numbers), np.imag(numbers))
    )
    return real, imaginary


def _each(op: Any, builder: Builder, operands: Sequence[Parts]) -> Parts:
    """The same op of real parts, and of imaginary parts."""
    real, imaginary = (
        rebuilt(op, builder, tuple([parts[place] for parts in operands]))[0] for place in range(2)
    )
    return real, imaginary


def _pad(op: tensor.Pad, builder: Builder, operands: Sequence[Parts]) -> Parts:
    (x,), number, part = operands, op.value.array, op.value.dtype.real
    values = [payload(each, part) for each in (np.real(number), np.imag(number))]
    real, imaginary = (
        rebuilt(op, builder, (each,), value=value)[0] for each, value in zip(x, values, strict=True)
    )
    return real, imaginary


def _cast(op: tensor.Cast, builder: Builder, operands: Sequence[Parts]) -> Parts:
    ((real, imaginary),), part = operands, op.dtype.real
    if op.x.dtype in COMPLEXES and op.dtype is boolean:
        truths = [builder.emit(tensor.Cast, each, dtype=boolean) for each in (real, imaginary)]
        return of_real(builder.emit(tensor.BitOr, *truths))
    if op.x.dtype in COMPLEXES:
        imaginary = builder.emit(tensor.Cast, imaginary, dtype=part)
    else:
        zero = builder.emit(tensor.Constant, Number(0.0, part))
        imaginary = builder.emit(tensor.Broadcast, zero, shape=op.x.type.shape)
    return builder.emit(tensor.Cast, real, dtype=part), imaginary


def _contract(op: Any, builder: Builder, operands: Sequence[Parts]) -> Parts:
    """(a + bi) @ (c + di) -> (a@c - b@d) + (a@d + b@c)i, and so of convolutions"""
    (a, b), (c, d) = operands

    def times(one: AnyValue, other: AnyValue) -> AnyValue:
        return rebuilt(op, builder, (one, other), dtype=op.dtype.real)[0]

    return (
        builder.emit(tensor.Subtract, times(a, c), times(b, d)),
        builder.emit(tensor.Add, times(a, d), times(b, c)),
    )


def _conjugate(op: Op, builder: Builder, operands: Sequence[Parts]) -> Parts:
    ((real, imaginary),) = operands
    return real, builder.emit(tensor.Negate, imaginary)


def _absolute(op: Op, builder: Builder, operands: Sequence[Parts]) -> Parts:
    ((real, imaginary),) = operands
    return of_real(builder.emit(tensor.Hypot, real, imaginary))


def _compared(op: Op, builder: Builder, operands: Sequence[Parts]) -> Parts:
    """Equal if both parts are."""
    real, imaginary = _each(op, builder, operands)
    both = tensor.BitAnd if isinstance(op, tensor.Equal) else tensor.BitOr
    return of_real(builder.emit(both, real, imaginary))


def is_known(op: Op) -> bool:
    """Whether there is a rule for an op."""
    return op.__class__ in RULES


RULES: dict[type[Op], Rule] = {
    **{cls: rule(function) for cls, function in FUNCTIONS.items()},
    **dict.fromkeys(
        (
            tensor.Add, tensor.Broadcast, tensor.Concat, tensor.CumulativeSum, tensor.Flip,
            tensor.Gather, tensor.Negate, tensor.Permute, tensor.ReduceSum, tensor.Reshape,
            tensor.Scatter, tensor.Select, tensor.Slice, tensor.StopGradient, tensor.Subtract,
        ),
        _each,
    ),
    tensor.Absolute: _absolute,
    tensor.Cast: _cast,
    tensor.Complex: lambda op, builder, operands: (operands[0][0], operands[1][0]),
    tensor.Conjugate: _conjugate,
    tensor.Constant: _constant,
    tensor.Contract: _contract,
    tensor.Convolve: _contract,
    tensor.Dim: lambda op, builder, operands: of_real(rebuilt(op, builder, operands[0][:1])[0]),
    tensor.Divide: rule_of_numbers(quotient),
    tensor.Equal: _compared,
    tensor.Imaginary: lambda op, builder, operands: of_real(operands[0][1]),
    tensor.Multiply: rule_of_numbers(product),
    tensor.NotEqual: _compared,
    tensor.Pad: _pad,
    tensor.Power: rule_of_numbers(power),
    tensor.Real: lambda op, builder, operands: of_real(operands[0][0]),
}  # fmt: skip
