"""Tiles of any static size become tiles whose sizes are powers of two, as Triton wants them.

Comes in: a func of the tile floor. Goes out: another one, with the same effects. What stands beyond
a tile's own elements is arbitrary, and counts nowhere: before a reduction it becomes the neutral
element, before a product 0, before a sort what comes last; a store goes to the part of the view
that ends where the tile does; an index that counts beyond the tile points outside of the view.
Never: a reshape that would move elements between lines of odd sizes, a concatenation of such, or a
tile without elements; they are refused, with the reason.
"""

from collections.abc import Callable, Iterable
from math import prod
from typing import Any

from ...ir import tile
from ...ir.builder import Builder
from ...ir.declare import declared_class
from ...ir.dtypes import i32, i64
from ...ir.func import Func
from ...ir.payloads import Number
from ...ir.tile import BinaryKind, CompareKind
from ...ir.types import Tile, Type
from ...ir.values import AnyValue, Block, Op, walk
from .padding import lowest, neutral, sorts_last
from .writer import Refused, Shape, refuse, shape_of

MAX_ELEMENTS = 1 << 20
"""As many as Triton allows in a tile."""


def legalise(func: Func) -> Func:
    """A func whose tiles Triton can hold; the same one, if it holds them already."""
    shapes = {shape_of(value): value for op in walk(func.body) for value in _values(op)}
    for shape, value in shapes.items():
        _check(shape, value, func)
    if all(rounded_up(shape) == shape for shape in shapes):
        return func
    legal = Func(func.name, (), func.symbols, func.attributes, func.location)
    maker = _Maker(legal)
    maker.block(func.body, legal.body)
    return legal


def rounded_up(shape: Shape) -> Shape:
    """The least powers of two that are no smaller."""
    return tuple([1 << (size - 1).bit_length() for size in shape])


def _values(op: Op) -> list[AnyValue]:
    made = [*op.results, *[each for region in op.regions for each in region.arguments]]
    return [value for value in made if isinstance(value.type, Tile)]


def _check(shape: Shape, value: AnyValue, func: Func) -> None:
    location = value.op.location if value.op is not None else func.location
    if 0 in shape:
        raise Refused(f"{value.type} has no elements, and Triton has no such tile", location)
    if prod(rounded_up(shape)) > MAX_ELEMENTS:
        raise Refused(f"{value.type} has more than {MAX_ELEMENTS} elements", location)


def _type_of(value: AnyValue) -> Type:
    """The type that a value has in the legal func."""
    if not isinstance(value.type, Tile):
        return value.type
    return value.type.with_shape(rounded_up(shape_of(value)))


class _Maker:
    """Makes the legal func, op for op."""

    def __init__(self, func: Func) -> None:
        self.builder = Builder(func.body)
        self.values: dict[AnyValue, AnyValue] = {}

    def block(self, source: Block, target: Block) -> None:
        """A copy of a block."""
        for argument in source.arguments:
            self.values[argument] = target.add_argument(_type_of(argument), argument.name)
        outer, self.builder = self.builder, Builder(target, outer=self.builder)
        for op in source:
            self.builder.location = op.location
            self.op(op)
        self.builder = outer

    def op(self, op: Op) -> None:
        """A copy of one op, with what its elements beyond the tile ask for."""
        special = SPECIAL.get(op.__class__)
        operands = [self.values[operand] for operand in op.operands]
        if special is not None and any(_is_odd(value) for value in [*op.operands, *op.results]):
            operands = special(self, op, operands)
        self.copy(op, operands)

    def copy(self, op: Op, operands: list[AnyValue]) -> None:
        """The op, of these operands, with rounded shapes."""
        regions = tuple(Block() for _ in op.regions)
        made = op.__class__(
            tuple(operands),
            _attributes(op),
            [_type_of(result) for result in op.results],
            regions,
            op.location,
        )
        self.builder.insert(made)
        for result, copied in zip(op.results, made.results, strict=True):
            copied.name, self.values[result] = result.name, copied
        for region, target in zip(op.regions, regions, strict=True):
            self.block(region, target)

    def emit(self, cls: type[Any], *operands: Any, **attributes: Any) -> AnyValue:
        """An op more."""
        return self.builder.emit(cls, *operands, **attributes)

    def number(self, value: Any, dtype: Any = i64) -> AnyValue:
        """A constant."""
        return self.emit(tile.Constant, Number(value, dtype))

    def filled(self, number: AnyValue, like: AnyValue) -> AnyValue:
        """A tile of one number."""
        return self.emit(tile.Full, number, shape=shape_of(like))

    def kept(self, x: AnyValue, shape: Shape, axes: Iterable[int], beyond: Number) -> AnyValue:
        """The tile, with another number for what lies beyond `shape` along some axes."""
        for axis in axes:
            if shape_of(x)[axis] != shape[axis]:
                inside = self.inside(shape_of(x), axis, shape[axis])
                rest = self.filled(self.emit(tile.Constant, beyond), x)
                x = self.emit(tile.Select, inside, x, rest)
        return x

    def inside(self, shape: Shape, axis: int, count: int) -> AnyValue:
        """Whether an element is one of the first `count` along an axis."""
        places = self.emit(tile.Iota, shape=shape, axis=axis, dtype=i32)
        counted = self.emit(tile.Full, self.number(count, i32), shape=shape)
        return self.emit(tile.Compare, places, counted, kind=CompareKind.LESS)


def _is_odd(value: AnyValue) -> bool:
    return rounded_up(shape_of(value)) != shape_of(value)


def _attributes(op: Op) -> tuple[Any, ...]:
    """The attributes of a copy: the shape of a tile is rounded."""
    made = [value for value in op.results if isinstance(value.type, Tile)]
    changed = list(op.attributes)
    for place, field in enumerate(declared_class(op).attribute_fields):
        if field.name == "shape" and made and field.kind is not None:
            changed[place] = field.kind.normalise(rounded_up(shape_of(made[0])))
    return tuple(changed)


def _reduced(maker: _Maker, op: Any, operands: list[AnyValue]) -> list[AnyValue]:
    beyond = neutral(op.kind, op.x.dtype)
    return [maker.kept(operands[0], shape_of(op.x), [op.axis], beyond)]


def _searched(maker: _Maker, op: Any, operands: list[AnyValue]) -> list[AnyValue]:
    beyond = lowest(op.kind.value, op.x.dtype)
    return [maker.kept(operands[0], shape_of(op.x), [op.axis], beyond)]


def _scanned(maker: _Maker, op: Any, operands: list[AnyValue]) -> list[AnyValue]:
    """From the front, what lies beyond comes last and counts nowhere."""
    return _reduced(maker, op, operands) if op.reverse else operands


def _multiplied(maker: _Maker, op: Any, operands: list[AnyValue]) -> list[AnyValue]:
    """Beyond the inner axis both are 0: what stands there may be NaN, which is not 0 times 0."""
    zero = Number(0 if op.a.dtype.storage.kind in "iu" else 0.0, op.a.dtype)
    a, b, *rest = operands
    a = maker.kept(a, shape_of(op.a), [op.a.type.rank - 1], zero)
    b = maker.kept(b, shape_of(op.b), [op.b.type.rank - 2], zero)
    return [a, b, *rest]


def _scaled(maker: _Maker, op: Any, operands: list[AnyValue]) -> list[AnyValue]:
    if rounded_up(shape_of(op.a)[-1:]) != shape_of(op.a)[-1:]:
        raise refuse(op, "the inner size is no power of two, and scales cannot be padded")
    return operands


def _sorted(maker: _Maker, op: Any, operands: list[AnyValue]) -> list[AnyValue]:
    shape = shape_of(op.values[0])
    keys = [
        maker.kept(key, shape, [op.axis], sorts_last(key.dtype, op.descending))
        for key in operands[: op.keys]
    ]
    return [*keys, *operands[op.keys :]]


def _stored(maker: _Maker, op: Any, operands: list[AnyValue]) -> list[AnyValue]:
    """The part of the view that ends where the tile does, so that the rest is dropped."""
    view, value, *offsets = operands
    shape, sizes = shape_of(op.value), list[AnyValue]()
    for axis, (offset, count) in enumerate(zip(offsets, shape, strict=True)):
        size = maker.emit(tile.Extent, view, axis=axis)
        if rounded_up((count,)) != (count,):
            end = maker.emit(tile.Binary, offset, maker.number(count), kind=BinaryKind.ADD)
            end = maker.emit(tile.Binary, end, maker.number(0), kind=BinaryKind.MAXIMUM)
            size = maker.emit(tile.Binary, size, end, kind=BinaryKind.MINIMUM)
        sizes.append(size)
    axes = tuple(range(len(shape)))
    zeros = [maker.number(0)] * len(shape)
    part = maker.emit(tile.View, view, zeros, sizes, axes=axes)
    return [part, value, *offsets]


def _scattered(maker: _Maker, op: Any, operands: list[AnyValue]) -> list[AnyValue]:
    """Elements beyond the tile go to place -1, which is nowhere."""
    view, value, first, *indices = operands
    shape = shape_of(op.value)
    first = maker.emit(tile.Cast, first, i64)
    first = maker.kept(first, shape, range(len(shape)), Number(-1, i64))
    return [view, value, first, *indices]


def _reshaped(maker: _Maker, op: Any, operands: list[AnyValue]) -> list[AnyValue]:
    """Lines of odd sizes stay lines: only axes of 1 may come and go."""
    before, after = ([size for size in shape if size != 1] for shape in (shape_of(op.x), op.shape))
    if before != list(after):
        raise refuse(op, f"{list(shape_of(op.x))} to {list(op.shape)} cuts lines of odd sizes")
    return operands


def _joined(maker: _Maker, op: Any, operands: list[AnyValue]) -> list[AnyValue]:
    lengths: list[int] = [shape_of(part)[op.axis] for part in op.parts]
    total = sum(lengths)
    if any(rounded_up((each,)) != (each,) for each in (*lengths, total)):
        raise refuse(op, f"lines of {lengths} behind each other are no power of two")
    return operands


Special = Callable[[_Maker, Any, list[AnyValue]], list[AnyValue]]
SPECIAL: dict[type[Any], Special] = {
    tile.Reduce: _reduced,
    tile.ArgReduce: _searched,
    tile.Scan: _scanned,
    tile.Dot: _multiplied,
    tile.ScaledDot: _scaled,
    tile.Sort: _sorted,
    tile.Store: _stored,
    tile.Atomic: _stored,
    tile.Scatter: _scattered,
    tile.Reshape: _reshaped,
    tile.Concat: _joined,
}
