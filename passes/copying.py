"""Copies of modules, equal op for op, or with other sizes; and of ops, where a builder stands.

Comes in: a module, or ops and what stands for the values they read. Goes out: another module, in
which equal ops stay apart, or ops in a block, in which they become one.
Never: a change to what is copied, or a check.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

from ..ir.attributes import SIZE, SIZES, Frozen, Shape
from ..ir.builder import Builder
from ..ir.declare import declared_class
from ..ir.dims import Dim, Size, symbols
from ..ir.func import Func, Module
from ..ir.locations import Location
from ..ir.payloads import Array, Payload, payload
from ..ir.types import Shaped, Type, View
from ..ir.values import AnyValue, Block, Op

Resize = Callable[[Size], Size]
Values = dict[AnyValue, AnyValue]


def copy_module(module: Module, resize: Resize | None = None) -> Module:
    """A copy of every func, in which each size `s` is `resize(s)`."""
    return Module(copy_func(func, resize) for func in module)


def copy_func(func: Func, resize: Resize | None = None) -> Func:
    """A copy of one func; symbols that no size needs any more are left out when it is resized."""
    copy = Func(func.name, (), func.symbols, func.attributes, func.location)
    if resize is not None:
        copy.attributes = resized_settings(func.attributes, resize)
        kept = {each for symbol in func.symbols for each in symbols(resize(symbol))}
        copy.symbols = tuple(symbol for symbol in func.symbols if symbol in kept)
    copier = _Copier(resize)
    copier.copy([(copier.fill(func.body, copy.body), copy.body, None)])
    return copy


def inline(region: Block, arguments: Sequence[AnyValue], builder: Builder) -> tuple[AnyValue, ...]:
    """Put copies of a region's ops where a builder stands; return what the region yields."""
    values: Values = dict(zip(region.arguments, arguments, strict=True))
    copy_ops((op for op in region if not op.terminator), builder, values)
    return tuple([values.get(value, value) for value in region.terminator.operands])


def inline_apart(
    region: Block, arguments: Sequence[AnyValue], builder: Builder
) -> tuple[AnyValue, ...]:
    """The same, with copies even of ops that the builder's block has already."""
    copier = _Copier(None)
    copier.values.update(zip(region.arguments, arguments, strict=True))
    ops = (op for op in region if not op.terminator)
    copier.copy([(ops, builder.block, builder.before)])
    return tuple([copier.values.get(value, value) for value in region.terminator.operands])


def copy_ops(ops: Iterable[Op], builder: Builder, values: Values) -> None:
    """Copy ops in order; `values` says what their operands become, and learns their results.

    What a builder's block has already is not made again. Regions wait until all around them stands.
    """
    pending: list[tuple[Iterable[Op], Builder]] = [(ops, builder)]
    while pending:
        ops, at = pending.pop()
        for op in ops:
            results, regions = copy_op(op, at, values)
            values.update(zip(op.results, results, strict=True))
            for region, made in zip(op.regions, regions, strict=False):  # none where it is reused
                pending.append((region, Builder(made, location=builder.location)))


def copy_op(
    op: Op, builder: Builder, values: Values
) -> tuple[tuple[AnyValue, ...], tuple[Block, ...]]:
    """The results of one copy, and its regions, still empty; `values` is asked, and not told."""
    operands = tuple([values.get(operand, operand) for operand in op.operands])
    if op.numbered:
        key = (op.__class__, operands, op.attributes)
        found = builder.find(key)
        if found is not None:
            return found, ()
    regions = tuple([Block() for _ in op.regions])
    types = [result.type for result in op.results]
    location = op.location.union(builder.location)
    copied = op.__class__(operands, op.attributes, types, regions, location)
    for result, original in zip(copied.results, op.results, strict=True):
        result.name = original.name
    builder.insert(copied)
    for region, made in zip(op.regions, regions, strict=True):
        arguments = made.add_arguments([(each.type, each.name) for each in region.arguments])
        values |= zip(region.arguments, arguments, strict=True)
    return copied.results, regions


def repeat(ops: Iterable[Op], builder: Builder, values: Values) -> None:
    """Put ops that are equal op for op, regions and all, where a builder stands; they come from its
    lines, and not from those of the ops that are copied."""
    copier = _Copier(None, builder.location)
    copier.values |= values
    copier.copy([(ops, builder.block, builder.before)])


class _Copier:
    """Copies blocks; `values` says what stands for each value, if not the value itself, and
    `location` where all ops come from, if not from where they do."""

    def __init__(self, resize: Resize | None, location: Location | None = None) -> None:
        self.resize, self.location = resize, location
        self.values: Values = {}

    def fill(self, source: Block, target: Block) -> Iterable[Op]:
        """Copy the arguments of a block into an empty one; return the ops still to be copied."""
        like = [(self.type_of(each), each.name) for each in source.arguments]
        self.values |= zip(source.arguments, target.add_arguments(like), strict=True)
        return source

    def copy(self, pending: list[tuple[Iterable[Op], Block, Op | None]]) -> None:
        """Copy ops into blocks, before an op; the regions inside wait until all around stands."""
        while pending:
            ops, target, before = pending.pop()
            for op in ops:
                regions = tuple([Block() for _ in op.regions])
                target.insert(self.op(op, regions), before)
                pairs = zip(op.regions, regions, strict=True)
                pending += [(self.fill(inner, made), made, None) for inner, made in pairs]

    def values_of(self, op: Op) -> tuple[AnyValue, ...]:
        """What stands for the operands of an op."""
        return tuple([self.values.get(operand, operand) for operand in op.operands])

    def op(self, op: Op, regions: tuple[Block, ...]) -> Op:
        """A copy of one op, with these regions."""
        made = op.__class__(
            self.values_of(op),
            op.attributes if self.resize is None else resized_attributes(op, self.resize),
            [self.type_of(result) for result in op.results],
            regions,
            op.location if self.location is None else self.location,
        )
        for result, copy in zip(op.results, made.results, strict=True):
            copy.name = result.name
            self.values[result] = copy
        return made

    def type_of(self, value: AnyValue) -> Type:
        """The type of a value in the copy."""
        return value.type if self.resize is None else resized_type(value.type, self.resize)


def resized_type(type_: Type, resize: Resize) -> Type:
    """The type with each size of its shape, or in its facts, replaced."""
    if isinstance(type_, View):
        return View(type_.rank, type_.dtype, resized_settings(type_.facts, resize))
    if not isinstance(type_, Shaped):
        return type_
    return type_.with_shape(resized_shape(type_.shape, resize))


def resized_shape(shape: Shape, resize: Resize) -> Shape:
    """The shape with each size replaced."""
    return tuple(resize(size) for size in shape)


def resized_settings(setting: Any, resize: Resize) -> Any:
    """A setting with each symbolic size in it replaced; plain integers may mean anything."""
    if isinstance(setting, Dim):
        return resize(setting)
    if isinstance(setting, tuple):
        return tuple([resized_settings(each, resize) for each in cast(tuple[Any, ...], setting)])
    if type(setting) is Frozen:
        return Frozen({name: resized_settings(each, resize) for name, each in setting.items()})
    return setting


def resized_attributes(op: Op, resize: Resize) -> tuple[Any, ...]:
    """The attributes with each size replaced, in those that are sizes; arrays are cut to fit."""
    changed = list(op.attributes)
    for place, field in enumerate(declared_class(op).attribute_fields):
        value = op.attributes[place]
        if field.kind is SIZE and value is not None:
            changed[place] = resize(value)
        elif field.kind is SIZES and value is not None:
            changed[place] = SIZES.normalise(resized_shape(value, resize))
        elif isinstance(value, Frozen):
            changed[place] = resized_settings(value, resize)
        elif isinstance(value, Payload):
            shape = cast(tuple[int, ...], resized_shape(value.shape, resize))
            array: Array = value.array[tuple(slice(size) for size in shape)]
            changed[place] = payload(array, value.dtype)
    return tuple(changed)
