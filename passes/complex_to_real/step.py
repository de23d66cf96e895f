"""The step around kernels of real tensors, which takes and returns complex ones.

Comes in: the step that was made of a func on real tensors. Goes out: the same, which first copies
both parts out of each complex argument, and at last sees pairs in memory as complex numbers.
Never: a copy of a result; pairs lie as complex numbers do.
"""

from math import prod
from typing import Any

from ...ir import step, tensor
from ...ir.builder import Builder
from ...ir.dims import MAX_SIZE, Symbol
from ...ir.dtypes import DType
from ...ir.func import Func, Module, Return
from ...ir.types import Array, Tensor
from ...ir.values import AnyValue
from ..copying import inline
from ..touched import owner_of
from .rules import is_complex


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
        if is_complex(array):
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
