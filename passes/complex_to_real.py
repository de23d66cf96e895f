"""Complex numbers as pairs of real ones, before fusion, which knows no others.

Comes in: a func of the tensor floor, and later the step that was made of it. Goes out: the func on
real tensors, which takes both parts of a complex argument and returns a complex result with a last
axis of 2 more; and the step, which takes arguments apart, and shows such results as complex.
Never: a part of it: a func stays what it is where one op of complex numbers has no rule here.
"""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from ..ir import step, tensor
from ..ir.builder import Builder
from ..ir.dims import MAX_SIZE, Symbol
from ..ir.dtypes import COMPLEXES, DType
from ..ir.func import Func, Module, Return
from ..ir.payloads import Number, payload
from ..ir.tensor.base import rebuilt
from ..ir.types import Array, Tensor
from ..ir.values import AnyValue, Op, walk
from .copying import copy_ops, inline
from .touched import owner_of

Parts = tuple[AnyValue, AnyValue]
"""The real and the imaginary part of a value; a real value is both."""
Rule = Callable[[Any, Builder, Sequence[Parts]], Parts]


def complex_to_real(func: Func) -> Func:
    """The func on real tensors; the func itself if it has no complex ones, or must stay."""
    values = (*func.arguments, *[result for op in func.walk() for result in op.results])
    if not any(map(_is_complex, values)) or not all(map(_has_rule, func.body)):
        return func
    made = Func(func.name, (), func.symbols, func.attributes, func.location)
    builder = Builder(made.body, location=func.location)
    known: dict[AnyValue, Parts] = {}
    real: dict[AnyValue, AnyValue] = {}
    for value in func.arguments:
        part = value.type.with_dtype(value.dtype.real)
        real[value] = argument = made.body.add_argument(part, value.name)
        known[value] = _real(argument)
        if _is_complex(value):
            known[value] = argument, made.body.add_argument(part)
    for op in func.body:
        builder.location = op.location
        if any(map(_is_complex, (*op.operands, *op.results))) and not op.terminator:
            parts = _RULES[op.__class__](op, builder, [known[each] for each in op.operands])
            known[op.results[0]], real[op.results[0]] = parts, parts[0]
        elif not op.terminator:
            copy_ops([op], builder, real)
            known.update({result: _real(real[result]) for result in op.results})
    builder.location = func.location
    results = [
        _together(builder, *known[each]) if _is_complex(each) else real[each]
        for each in func.results
    ]
    builder.emit_all(Return, results)
    return made


def names_of_parts(func: Func, names: Sequence[str]) -> list[str]:
    """What people call the arguments of what `complex_to_real` makes of a func."""
    found: list[str] = []
    for value, name in zip(func.arguments, names, strict=True):
        parts = [f"real {name}", f"imaginary {name}"]
        found += parts if _is_complex(value) else [name]
    return found


def seen_as_complex(module: Module, func: Func) -> Module:
    """The step that was made of a func by way of real tensors, which takes and returns what the
    func does."""
    main, *kernels = module
    types = [Array(value.type.shape, value.dtype) for value in func.arguments]
    made = Func(main.name, types, main.symbols, main.attributes, main.location)
    builder = Builder(made.body, location=main.location)
    apart: dict[DType, Func] = {}
    taken: list[AnyValue] = []
    copies: list[AnyValue] = []
    for array in made.arguments:
        if _is_complex(array):
            part = array.dtype.real
            kernel = apart.setdefault(part, _taking_apart(part, module))
            copies += _taken_apart(builder, array, kernel.name)
            taken += copies[-2:]
        else:
            taken.append(array)
    shown = inline(main.body, taken, builder)
    kept = {owner_of(each) for each in shown}
    for each in copies:
        if each not in kept:
            builder.emit_all(step.Free, each)
    wanted = [Array(value.type.shape, value.dtype) for value in func.results]
    pairs = zip(shown, wanted, strict=True)
    builder.emit_all(Return, [_seen(builder, each, type_) for each, type_ in pairs])
    return Module([made, *kernels, *apart.values()])


def _taking_apart(dtype: DType, module: Module) -> Func:
    """The kernel that copies both parts out of what is in memory."""
    name = f"take_apart_{dtype}"
    while name in module.funcs:
        name += "_"
    size = Symbol("n", 0, MAX_SIZE)
    func = Func(name, (Tensor((size, 2), dtype),), (size,))
    builder = Builder(func.body)
    parts: list[AnyValue] = []
    for place in range(2):
        window = {"start": (0, place), "size": (size, 1), "step": (1, 1)}
        column = builder.emit(tensor.Slice, func.arguments[0], **window)
        parts.append(builder.emit(tensor.Reshape, column, shape=(size,)))
    builder.emit_all(Return, parts)
    return func


def _taken_apart(builder: Builder, array: AnyValue, kernel: str) -> list[AnyValue]:
    """Copies of both parts of an array."""
    type_, size = Array(array.type.shape, array.dtype.real), prod(array.type.shape)
    pairs = _seen(builder, array, Array((size, 2), type_.dtype))
    parts = [builder.emit(step.Allocate, type_) for _ in range(2)]
    rows = [_seen(builder, each, Array((size,), type_.dtype)) for each in parts]
    builder.emit_all(step.Launch, [pairs], rows, kernel=kernel, grid=())
    return parts


def _seen(builder: Builder, array: AnyValue, type_: Any) -> AnyValue:
    """The same memory as another type."""
    if array.type is type_:
        return array
    return builder.emit(step.View, array, offset=0, shape=type_.shape, dtype=type_.dtype)


def _real(value: AnyValue) -> Parts:
    return value, value


def _is_complex(value: AnyValue) -> bool:
    return value.dtype in COMPLEXES


def _has_rule(op: Op) -> bool:
    """Whether nothing in an op is complex, or there is a rule for it."""
    if op.terminator or op.__class__ in _RULES:
        return True
    return not any(
        _is_complex(value) for each in walk([op]) for value in (*each.operands, *each.results)
    )


def _together(builder: Builder, real: AnyValue, imaginary: AnyValue) -> AnyValue:
    """Both parts as they stand in memory."""
    shape = (*real.type.shape, 1)
    columns = [builder.emit(tensor.Reshape, each, shape=shape) for each in (real, imaginary)]
    return builder.emit(tensor.Concat, columns, axis=len(shape) - 1)


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
    if op.x.dtype in COMPLEXES:
        imaginary = builder.emit(tensor.Cast, imaginary, dtype=part)
    else:
        zero = builder.emit(tensor.Constant, Number(0.0, part))
        imaginary = builder.emit(tensor.Broadcast, zero, shape=op.x.type.shape)
    return builder.emit(tensor.Cast, real, dtype=part), imaginary


def _multiply(op: Op, builder: Builder, operands: Sequence[Parts]) -> Parts:
    """(a + bi) * (c + di) -> (a*c - b*d) + (a*d + b*c)i"""
    (a, b), (c, d) = operands

    def times(one: AnyValue, other: AnyValue) -> AnyValue:
        return builder.emit(tensor.Multiply, one, other)

    return _product(builder, times, (a, b), (c, d))


def _contract(op: tensor.Contract, builder: Builder, operands: Sequence[Parts]) -> Parts:
    """The same of contractions."""

    def times(one: AnyValue, other: AnyValue) -> AnyValue:
        return rebuilt(op, builder, (one, other), dtype=op.dtype.real)[0]

    return _product(builder, times, *operands)


def _product(
    builder: Builder, times: Callable[[AnyValue, AnyValue], AnyValue], left: Parts, right: Parts
) -> Parts:
    (a, b), (c, d) = left, right
    return (
        builder.emit(tensor.Subtract, times(a, c), times(b, d)),
        builder.emit(tensor.Add, times(a, d), times(b, c)),
    )


def _divide(op: Op, builder: Builder, operands: Sequence[Parts]) -> Parts:
    """(a + bi) / (c + di), by way of d/c or c/d, whichever is small; by zero, (a + bi) / |c|."""
    (a, b), (c, d) = operands

    def emit(cls: type[tensor.TensorOp], *values: AnyValue) -> AnyValue:
        return builder.emit(cls, *values)

    def number(value: float) -> AnyValue:
        stated = builder.emit(tensor.Constant, Number(value, op.results[0].dtype.real))
        return builder.emit(tensor.Broadcast, stated, shape=op.results[0].type.shape)

    by_real = emit(tensor.LessEqual, emit(tensor.Absolute, d), emit(tensor.Absolute, c))
    large, small = (emit(tensor.Select, by_real, *pair) for pair in ((c, d), (d, c)))
    first, second = (emit(tensor.Select, by_real, *pair) for pair in ((a, b), (b, a)))
    sign = emit(tensor.Select, by_real, number(1.0), number(-1.0))
    ratio = emit(tensor.Divide, small, large)
    scale = emit(tensor.Add, large, emit(tensor.Multiply, small, ratio))
    scale = emit(tensor.Divide, number(1.0), scale)
    real = emit(tensor.Add, first, emit(tensor.Multiply, second, ratio))
    imaginary = emit(tensor.Subtract, second, emit(tensor.Multiply, first, ratio))
    imaginary = emit(tensor.Multiply, imaginary, sign)
    is_zero = emit(tensor.BitAnd, by_real, emit(tensor.Equal, large, number(0.0)))
    length = emit(tensor.Absolute, large)
    quotient = tuple(
        emit(
            tensor.Select, is_zero, emit(tensor.Divide, x, length), emit(tensor.Multiply, y, scale)
        )
        for x, y in ((a, real), (b, imaginary))
    )
    return quotient[0], quotient[1]


def _conjugate(op: Op, builder: Builder, operands: Sequence[Parts]) -> Parts:
    ((real, imaginary),) = operands
    return real, builder.emit(tensor.Negate, imaginary)


def _absolute(op: Op, builder: Builder, operands: Sequence[Parts]) -> Parts:
    ((real, imaginary),) = operands
    return _real(builder.emit(tensor.Hypot, real, imaginary))


def _compared(op: Op, builder: Builder, operands: Sequence[Parts]) -> Parts:
    """Equal if both parts are."""
    real, imaginary = _each(op, builder, operands)
    both = tensor.BitAnd if isinstance(op, tensor.Equal) else tensor.BitOr
    return _real(builder.emit(both, real, imaginary))


_RULES: dict[type[Op], Rule] = {
    **dict.fromkeys(
        (
            tensor.Add, tensor.Broadcast, tensor.Concat, tensor.CumulativeSum, tensor.Flip,
            tensor.Gather, tensor.Negate, tensor.Permute, tensor.ReduceSum, tensor.Reshape,
            tensor.Select, tensor.Slice, tensor.StopGradient, tensor.Subtract,
        ),
        _each,
    ),
    tensor.Absolute: _absolute,
    tensor.Cast: _cast,
    tensor.Complex: lambda op, builder, operands: (operands[0][0], operands[1][0]),
    tensor.Conjugate: _conjugate,
    tensor.Constant: _constant,
    tensor.Contract: _contract,
    tensor.Divide: _divide,
    tensor.Equal: _compared,
    tensor.Imaginary: lambda op, builder, operands: _real(operands[0][1]),
    tensor.Multiply: _multiply,
    tensor.NotEqual: _compared,
    tensor.Pad: _pad,
    tensor.Real: lambda op, builder, operands: _real(operands[0][0]),
}  # fmt: skip
