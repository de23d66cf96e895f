"""Copies of modules, equal op for op, or with other sizes; and of a region's ops in a block.

Comes in: a module or a region. Goes out: another module, or ops, in the same order.
Never: a merge of equal ops, a check, or recursion.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

from ..ir.attributes import SIZE, SIZES, Shape
from ..ir.builder import make
from ..ir.declare import declared_class
from ..ir.dims import Size, symbols
from ..ir.func import Func, Module
from ..ir.payloads import Array, Dense
from ..ir.types import Shaped, Type
from ..ir.values import AnyValue, Block, Op

Resize = Callable[[Size], Size]


def copy_module(module: Module, resize: Resize | None = None) -> Module:
    """A copy of every func, in which each size `s` is `resize(s)`."""
    return Module(copy_func(func, resize) for func in module)


def copy_func(func: Func, resize: Resize | None = None) -> Func:
    """A copy of one func; symbols that no size needs any more are left out when it is resized."""
    copy = Func(func.name, (), func.symbols, func.attributes, func.location)
    if resize is not None:
        kept = {each for symbol in func.symbols for each in symbols(resize(symbol))}
        copy.symbols = tuple(symbol for symbol in func.symbols if symbol in kept)
    copier = _Copier(resize)
    copier.copy([(copier.fill(func.body, copy.body), copy.body, None)])
    return copy


def inline(region: Block, before: Op, arguments: Sequence[AnyValue]) -> tuple[AnyValue, ...]:
    """Put copies of a region's ops before an op; return the values that the region yields."""
    assert before.block is not None
    copier = _Copier(None)
    copier.values.update(zip(region.arguments, arguments, strict=True))
    ops = [op for op in region if not op.terminator]
    copier.copy([(ops, before.block, before)])
    return copier.values_of(region.terminator)


class _Copier:
    """Copies blocks; `values` says what stands for each value, if not the value itself."""

    def __init__(self, resize: Resize | None) -> None:
        self.resize = resize
        self.values: dict[AnyValue, AnyValue] = {}

    def fill(self, source: Block, target: Block) -> Iterable[Op]:
        """Copy the arguments of a block into an empty one; return the ops still to be copied."""
        for argument in source.arguments:
            type_ = self.type_of(argument)
            self.values[argument] = target.add_argument(type_, argument.name)
        return source

    def copy(self, pending: list[tuple[Iterable[Op], Block, Op | None]]) -> None:
        """Copy ops into blocks, before an op; the regions inside wait until all around stands."""
        while pending:
            ops, target, before = pending.pop()
            for op in ops:
                regions = tuple(Block() for _ in op.regions)
                target.insert(self.op(op, regions), before)
                pairs = zip(op.regions, regions, strict=True)
                pending += [(self.fill(inner, made), made, None) for inner, made in pairs]

    def values_of(self, op: Op) -> tuple[AnyValue, ...]:
        """What stands for the operands of an op."""
        return tuple([self.values.get(operand, operand) for operand in op.operands])

    def op(self, op: Op, regions: tuple[Block, ...]) -> Op:
        """A copy of one op, with these regions."""
        made = make(
            declared_class(op),
            self.values_of(op),
            op.attributes if self.resize is None else resized_attributes(op, self.resize),
            [self.type_of(result) for result in op.results],
            regions,
            op.location,
        )
        for result, copy in zip(op.results, made.results, strict=True):
            copy.name = result.name
            self.values[result] = copy
        return made

    def type_of(self, value: AnyValue) -> Type:
        """The type of a value in the copy."""
        return value.type if self.resize is None else resized_type(value.type, self.resize)


def resized_type(type_: Type, resize: Resize) -> Type:
    """The type with each size of its shape replaced."""
    if not isinstance(type_, Shaped):
        return type_
    return type_.with_shape(resized_shape(type_.shape, resize))


def resized_shape(shape: Shape, resize: Resize) -> Shape:
    """The shape with each size replaced."""
    return tuple(resize(size) for size in shape)


def resized_attributes(op: Op, resize: Resize) -> tuple[Any, ...]:
    """The attributes with each size replaced, in those that are sizes; arrays are cut to fit."""
    changed = list(op.attributes)
    for place, field in enumerate(declared_class(op).attribute_fields):
        value = op.attributes[place]
        if field.kind is SIZE and value is not None:
            changed[place] = resize(value)
        elif field.kind is SIZES and value is not None:
            changed[place] = SIZES.normalise(resized_shape(value, resize))
        elif isinstance(value, Dense):
            shape = cast(tuple[int, ...], resized_shape(value.shape, resize))
            array: Array = value.array[tuple(slice(size) for size in shape)]
            changed[place] = Dense(array, value.dtype)
    return tuple(changed)
