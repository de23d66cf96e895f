"""Tiles and numbers in a kernel, with Python's operators.

Comes in: what loads and functions of tiles give. Goes out: values of the tile floor; those of one
operation are stretched to one shape, and must be of one dtype, which Python numbers and sizes take.
Never: a value that Python could look at; who tries is told what to do instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from ...ir import dtypes as ir
from ...ir import tile as ops
from ...ir.dims import Dim
from ...ir.tile import BinaryKind, CompareKind, UnaryKind
from ...ir.types import Tile as TileType
from ...ir.values import AnyValue
from ..caller import user_line
from ..dtypes import DEFAULTS, OF_IR, DType, as_dtype
from ..errors import ArgumentError, DTypeError, TracedValueError, fail
from ..functions.common import NUMBER_TYPES, as_axis, broadcast_shape, number
from .draft import Draft, current

Shape = tuple[int, ...]


def _refused(asked: str, hint: str) -> Callable[..., NoReturn]:
    """A method by which Python asks for what is not known while the kernel is traced."""

    def refuse(self: Value, *_: Any, **__: Any) -> NoReturn:
        problem = "a kernel is traced once for all its programs, and no value is known then"
        fail(TracedValueError, asked, problem, self, hint=hint)

    return refuse


_CHOOSE = (
    "choose with `tiles.where(condition, x, y)` or `tiles.cond(condition, on_true, on_false)`, "
    "combine conditions with `&`, `|` and `~`, repeat with `tiles.fori_loop`"
)
_COUNT = "count rounds with `tiles.fori_loop`; tiles and sizes known to Python are settings"
NO_TENSOR_HINT = "in a kernel, call functions of `bs.tiles`; they take tiles and numbers"
"""What functions of tensors say to someone who calls them with a tile."""


class Value:
    """What an operation in a kernel gives: `ir` is the value on the tile floor."""

    __slots__ = ("draft", "ir")
    __hash__ = object.__hash__
    __array_ufunc__ = None
    no_tensor_hint = NO_TENSOR_HINT

    def __init__(self, draft: Draft, value: AnyValue) -> None:
        self.draft, self.ir = draft, value

    @property
    def dtype(self) -> DType:
        """The element type."""
        return OF_IR[self.ir.dtype]

    @property
    def shape(self) -> Shape:
        """The sizes, which are plain integers; of a number, ()."""
        type_ = self.ir.type
        return type_.shape if isinstance(type_, TileType) else ()  # pyright: ignore[reportReturnType]

    def __repr__(self) -> str:
        return f"<{type(self).__name__.lower()} of {self.dtype}{list(self.shape)}>"

    def astype(self, dtype: Any) -> Any:
        """The same numbers as another dtype: floats round, integers wrap, NaN becomes 0."""
        wanted = as_dtype(dtype).ir
        if wanted is self.ir.dtype:
            return self
        return emitted("astype", ops.Cast, self, dtype=wanted)

    def bitcast(self, dtype: Any) -> Any:
        """The bits, read as a dtype of the same width."""
        return emitted("bitcast", ops.Bitcast, self, dtype=as_dtype(dtype).ir)

    def __add__(self, other: Any) -> Any:
        return binary("add", BinaryKind.ADD, self, other)

    def __radd__(self, other: Any) -> Any:
        return binary("add", BinaryKind.ADD, other, self)

    def __sub__(self, other: Any) -> Any:
        return binary("subtract", BinaryKind.SUBTRACT, self, other)

    def __rsub__(self, other: Any) -> Any:
        return binary("subtract", BinaryKind.SUBTRACT, other, self)

    def __mul__(self, other: Any) -> Any:
        return binary("multiply", BinaryKind.MULTIPLY, self, other)

    def __rmul__(self, other: Any) -> Any:
        return binary("multiply", BinaryKind.MULTIPLY, other, self)

    def __truediv__(self, other: Any) -> Any:
        return divide(self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return divide(other, self)

    def __pow__(self, other: Any) -> Any:
        return binary("pow", BinaryKind.POWER, self, other)

    def __rpow__(self, other: Any) -> Any:
        return binary("pow", BinaryKind.POWER, other, self)

    def __and__(self, other: Any) -> Any:
        return binary("bitwise_and", BinaryKind.BIT_AND, self, other)

    def __or__(self, other: Any) -> Any:
        return binary("bitwise_or", BinaryKind.BIT_OR, self, other)

    def __xor__(self, other: Any) -> Any:
        return binary("bitwise_xor", BinaryKind.BIT_XOR, self, other)

    def __lshift__(self, other: Any) -> Any:
        return binary("bitwise_left_shift", BinaryKind.SHIFT_LEFT, self, other)

    def __rshift__(self, other: Any) -> Any:
        return binary("bitwise_right_shift", BinaryKind.SHIFT_RIGHT, self, other)

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __neg__(self) -> Any:
        return unary("negative", UnaryKind.NEGATE, self)

    def __abs__(self) -> Any:
        return unary("abs", UnaryKind.ABSOLUTE, self)

    def __invert__(self) -> Any:
        return unary("bitwise_invert", UnaryKind.BIT_NOT, self)

    def __lt__(self, other: Any) -> Any:
        return compare("less", CompareKind.LESS, self, other)

    def __le__(self, other: Any) -> Any:
        return compare("less_equal", CompareKind.LESS_EQUAL, self, other)

    def __gt__(self, other: Any) -> Any:
        return compare("greater", CompareKind.LESS, other, self)

    def __ge__(self, other: Any) -> Any:
        return compare("greater_equal", CompareKind.LESS_EQUAL, other, self)

    def __eq__(self, other: object) -> Any:
        return compare("equal", CompareKind.EQUAL, self, other)

    def __ne__(self, other: object) -> Any:
        return compare("not_equal", CompareKind.NOT_EQUAL, self, other)

    __bool__ = _refused("bool", _CHOOSE)
    __index__ = __int__ = _refused("int", _COUNT)
    __float__ = _refused("float", _COUNT)
    __iter__ = __len__ = _refused("iteration", _COUNT)
    __array__ = _refused("array", NO_TENSOR_HINT)
    __floordiv__ = __rfloordiv__ = _refused(
        "floor_divide", "`tiles.quotient` and `tiles.remainder` round toward zero"
    )
    __mod__ = __rmod__ = __floordiv__


class Scalar(Value):
    """One number: a place, an argument of rank 0, or what is left of a tile."""

    __slots__ = ()


class Tile(Value):
    """A small array of plain sizes."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Tile:
        """`tile[:, None]`: the same elements with further axes of size 1."""
        sizes, shape = iter(self.shape), list[int]()
        keys = key if isinstance(key, tuple) else (key,)
        for each in keys:
            if each is not None and each != slice(None):
                fail(
                    ArgumentError, "index", "a tile is indexed by `:` and `None` only", self,
                    hint="load the part that you want, or reduce the tile",
                )  # fmt: skip
            shape.append(1 if each is None else next(sizes, 0))
        shape += sizes
        return emitted("index", ops.Reshape, self, shape=tuple(shape))

    def reshape(self, *shape: int) -> Tile:
        """The same elements in row-major order, in another shape."""
        return emitted("reshape", ops.Reshape, self, shape=shape)

    def permute(self, *axes: int) -> Tile:
        """Axis i of the result is axis `axes[i]`."""
        own = tuple(as_axis(axis, len(self.shape), "permute") for axis in axes)
        return emitted("permute", ops.Permute, self, axes=own)


def made(value: AnyValue) -> Any:
    """A value as users see it; a tile of rank 0 is a number."""
    draft = current("kernel")
    if not isinstance(value.type, TileType):
        return Scalar(draft, value)
    if not value.type.shape:
        return Scalar(draft, draft.emit(ops.Extract, value))
    return Tile(draft, value)


def emitted(name: str, cls: Any, *operands: Any, **attributes: Any) -> Any:
    """The result of an op of tiles, which are taken as they are."""
    values = [lifted(name, each) for each in operands]
    return made(current(name).emit(cls, *values, **attributes))


def lifted(name: str, value: Any, dtype: ir.DType | None = None) -> AnyValue:
    """A tile, a number or a size as a value of the tile floor; Python's own take `dtype`."""
    draft = current(name)
    if isinstance(value, Value):
        draft.check_own(value.draft, name)
        draft.check_visible(value.ir, name)
        return value.ir
    if isinstance(value, Dim):
        size = size_of(draft, value)
        wanted = dtype or ir.i64
        return size if wanted is ir.i64 else draft.emit(ops.Cast, size, dtype=wanted)
    if value.__class__ in NUMBER_TYPES:
        wanted = dtype or DEFAULTS[value.__class__].ir
        (payload,) = number(value, wanted, name).attributes
        return draft.emit(ops.Constant, payload)
    fail(
        DTypeError, name, f"expected a tile or a number, got {type(value).__name__}", value,
        hint="a kernel gets tensors as its arguments, and loads tiles from them",
    )  # fmt: skip


def size_of(draft: Draft, size: Dim) -> AnyValue:
    """A size as a number that the kernel computes."""
    from ...passes.tiling.kernel import Param
    from ...passes.tiling.sizes import Sizes, Unnamed

    views = [view.ir for view in draft.inputs]
    shapes = [tuple(map(draft.size, view.shape)) for view in draft.inputs]
    params = [
        Param(place, shape, view.dtype)
        for place, (view, shape) in enumerate(zip(views, shapes, strict=True))
    ]
    draft.builder.location = user_line()
    try:
        return Sizes(draft.builder, params, views).scalar(draft.size(size))
    except Unnamed as problem:
        hint = "a kernel knows the sizes of its arguments; others come in as numbers"
        fail(ArgumentError, "size", str(problem), hint=hint)


def together(name: str, *operands: Any) -> list[AnyValue]:
    """Operands as values of one dtype and one shape."""
    dtypes = {each.ir.dtype for each in operands if isinstance(each, Value)}
    if len(dtypes) > 1:
        hint = "bring them together with `.astype(...)`"
        fail(DTypeError, name, "the dtypes differ", *operands, hint=hint)
    kinds = [each.__class__ for each in operands if each.__class__ in DEFAULTS]
    default = DEFAULTS[float if float in kinds else int].ir
    dtype = dtypes.pop() if dtypes else default
    return stretched(name, [lifted(name, each, dtype) for each in operands])


def stretched(name: str, values: list[AnyValue]) -> list[AnyValue]:
    """Values of one shape; they are all numbers if none is a tile."""
    shapes = [value.type.shape for value in values if isinstance(value.type, TileType)]
    if not shapes:
        return values
    shape = broadcast_shape(name, *shapes)
    return [broadcast(value, shape) for value in values]


def broadcast(value: AnyValue, shape: Any) -> AnyValue:
    """A value, repeated as numpy does."""
    draft = current("broadcast")
    if not isinstance(value.type, TileType):
        return draft.emit(ops.Full, value, shape=shape)
    own = value.type.shape
    if own == shape:
        return value
    axes = tuple(range(len(shape) - len(own), len(shape)))
    return draft.emit(ops.Broadcast, value, shape=shape, axes=axes)


def unary(name: str, kind: UnaryKind, x: Any) -> Any:
    """kind(x)"""
    return made(current(name).emit(ops.Unary, lifted(name, x), kind=kind))


def binary(name: str, kind: BinaryKind, left: Any, right: Any) -> Any:
    """kind(left, right)"""
    if kind is BinaryKind.ADD and isinstance(left, Tile) and not isinstance(right, Tile):
        left, right = right, left  # a place and then a tile: binders know masks by this order
    values = together(name, left, right)
    return made(current(name).emit(ops.Binary, *values, kind=kind))


def compare(name: str, kind: CompareKind, left: Any, right: Any) -> Any:
    """Whether kind(left, right)."""
    return made(current(name).emit(ops.Compare, *together(name, left, right), kind=kind))


def divide(left: Any, right: Any) -> Any:
    """left / right, of floats."""
    values = together("divide", left, right)
    if values[0].dtype not in ir.FLOATS:
        hint = "divide integers with `tiles.quotient`, or cast them with `.astype(...)`"
        fail(DTypeError, "divide", "only floats are divided by `/`", left, right, hint=hint)
    return made(current("divide").emit(ops.Binary, *values, kind=BinaryKind.DIVIDE))
