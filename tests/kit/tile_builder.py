"""Kernels of the tile floor written as formulas.

Comes in: views described as "m k bf16", a grid, a schedule. Goes out: a func. Numbers become
constants, and scalars are repeated where a tile meets them.
Never: a test, or a word of any target.
"""

from collections.abc import Callable, Sequence
from typing import Any

from brimstone.ir import tile
from brimstone.ir.attributes import Frozen
from brimstone.ir.builder import Builder
from brimstone.ir.dims import Size, Symbol
from brimstone.ir.dtypes import BY_NAME, DType, Kind, i64
from brimstone.ir.func import Func, Return, Yield
from brimstone.ir.payloads import Number
from brimstone.ir.tile import BinaryKind, CompareKind, ReduceKind, UnaryKind
from brimstone.ir.types import Scalar, Tile, View
from brimstone.ir.values import AnyValue

Operand = Any
MOST = 1 << 24
"""How large sizes get, so that places fit 32 bits."""


class Term:
    """A scalar or a tile, in a formula."""

    def __init__(self, sketch: "Sketch", value: AnyValue) -> None:
        self.sketch, self.value = sketch, value

    @property
    def shape(self) -> Any:
        """The shape of a tile; None for a scalar."""
        return self.value.type.shape if isinstance(self.value.type, Tile) else None

    def emit(self, cls: type, *others: Operand, **attributes: Any) -> "Term":
        """An op of this term and others."""
        values = [each.value if isinstance(each, Term) else each for each in others]
        return Term(self.sketch, self.sketch.builder.emit(cls, self.value, *values, **attributes))

    def _with(self, other: Operand, cls: type, kind: Any) -> "Term":
        left, right = self.sketch.alike(self, other)
        return left.emit(cls, right, kind=kind)

    def __add__(self, other: Operand) -> "Term":
        return self._with(other, tile.Binary, BinaryKind.ADD)

    def __sub__(self, other: Operand) -> "Term":
        return self._with(other, tile.Binary, BinaryKind.SUBTRACT)

    def __mul__(self, other: Operand) -> "Term":
        return self._with(other, tile.Binary, BinaryKind.MULTIPLY)

    def __truediv__(self, other: Operand) -> "Term":
        return self._with(other, tile.Binary, BinaryKind.DIVIDE)

    def __mod__(self, other: Operand) -> "Term":
        return self._with(other, tile.Binary, BinaryKind.REMAINDER)

    def __and__(self, other: Operand) -> "Term":
        return self._with(other, tile.Binary, BinaryKind.BIT_AND)

    def __lt__(self, other: Operand) -> "Term":
        return self._with(other, tile.Compare, CompareKind.LESS)

    def __le__(self, other: Operand) -> "Term":
        return self._with(other, tile.Compare, CompareKind.LESS_EQUAL)

    __radd__, __rmul__ = __add__, __mul__

    def maximum(self, other: Operand) -> "Term":
        """The larger one."""
        return self._with(other, tile.Binary, BinaryKind.MAXIMUM)

    def minimum(self, other: Operand) -> "Term":
        """The smaller one."""
        return self._with(other, tile.Binary, BinaryKind.MINIMUM)

    def apply(self, kind: str) -> "Term":
        """A function of one number, by its name."""
        return self.emit(tile.Unary, kind=UnaryKind(kind))

    def reduce(self, kind: str, axis: int) -> "Term":
        """All along an axis."""
        return self.emit(tile.Reduce, axis=axis, kind=ReduceKind(kind))

    def along(self, shape: Sequence[int], *axes: int) -> "Term":
        """Repeated: this one's axes become these."""
        return self.emit(tile.Broadcast, shape=tuple(shape), axes=axes)

    def cast(self, dtype: DType) -> "Term":
        """As another dtype."""
        return self if dtype is self.value.dtype else self.emit(tile.Cast, dtype=dtype)

    def transposed(self) -> "Term":
        """A matrix, its last two axes exchanged."""
        rank = len(self.shape)
        return self.emit(tile.Permute, axes=(*range(rank - 2), rank - 1, rank - 2))

    def select(self, on_true: "Term", on_false: Operand) -> "Term":
        """One or the other."""
        return self.emit(tile.Select, *self.sketch.alike(on_true, on_false))

    def dot(self, other: "Term", total: "Term", precision: str = "ieee") -> "Term":
        """total + self @ other"""
        return self.emit(tile.Dot, other, total, precision=tile.Precision(precision))

    def assume_below(self, other: "Term") -> None:
        """Promise that it is less."""
        self.sketch.builder.emit_all(tile.Assume, (self < other).value)

    def named(self, name: str) -> "Term":
        """The same, with a name."""
        self.value.name = name
        return self


class Sketch:
    """A kernel that is being written; its views are attributes."""

    def __init__(
        self,
        name: str,
        views: dict[str, str],
        facts: bool = True,
        most: int = MOST,
        **settings: Any,
    ) -> None:
        self.symbols: dict[str, Symbol] = {}
        self.facts, self.most = facts, most
        types = [self._view(text) for text in views.values()]
        self.func = Func(name, types, tuple(self.symbols.values()), settings)
        self.builder = Builder(self.func.body)
        self.views = dict(zip(views, self.func.arguments, strict=True))
        for hint, value in self.views.items():
            value.name = hint

    def size(self, text: str) -> Size:
        """A number, or the symbol of a size; a name in capitals stands for multiples of 16."""
        if text.isdigit():
            return int(text)
        multiple = 16 if text.isupper() else 1
        return self.symbols.setdefault(text, Symbol(text, 0, self.most, multiple))

    def set_grid(self, *sizes: Size) -> None:
        """How many programs there are along each axis."""
        self.func.attributes = Frozen({**self.func.attributes, "grid": sizes})

    def _view(self, text: str) -> View:
        *names, dtype = text.split()
        sizes = [self.size(name) for name in names]
        facts: dict[str, Any] = {"size": sizes}
        if self.facts and sizes:
            regular = max(1, 16 // BY_NAME[dtype].itemsize)
            strides = [regular] * (len(sizes) - 1)
            facts |= {"unit_stride": len(sizes) - 1, "align": 16, "index_bits": 32}
            facts |= {"stride_multiple": [*strides, 1]}
        return View(len(sizes), BY_NAME[dtype], facts)

    def emit(self, cls: type, *operands: Operand, **attributes: Any) -> Term:
        """An op."""
        values = [each.value if isinstance(each, Term) else each for each in operands]
        return Term(self, self.builder.emit(cls, *values, **attributes))

    def number(self, value: Any, dtype: DType = i64) -> Term:
        """A constant."""
        value = float(value) if dtype.kind is Kind.FLOAT else value
        return self.emit(tile.Constant, Number(value, dtype))

    def alike(self, left: Operand, right: Operand) -> tuple[Term, Term]:
        """Two terms of one type: numbers get a dtype, and scalars a shape."""
        model = left if isinstance(left, Term) else right
        pair = [
            each if isinstance(each, Term) else self.number(each, model.value.dtype)
            for each in (left, right)
        ]
        shapes = [each.shape for each in pair if each.shape is not None]
        if shapes:
            pair = [
                each if each.shape is not None else each.emit(tile.Full, shape=shapes[0])
                for each in pair
            ]
        return pair[0], pair[1]

    def program(self, axis: int = 0) -> Term:
        """The place of this program."""
        return self.emit(tile.ProgramId, axis=axis)

    def extent(self, view: str, axis: int) -> Term:
        """The size of a view."""
        return self.emit(tile.Extent, self.views[view], axis=axis)

    def iota(self, shape: Sequence[int], axis: int, dtype: DType = i64) -> Term:
        """0, 1, …"""
        return self.emit(tile.Iota, shape=tuple(shape), axis=axis, dtype=dtype)

    def full(self, value: Any, shape: Sequence[int], dtype: DType) -> Term:
        """A tile of one number."""
        return self.number(value, dtype).emit(tile.Full, shape=tuple(shape))

    def offsets(self, offsets: Sequence[Operand]) -> list[AnyValue]:
        """Terms and numbers as scalars."""
        terms = [each if isinstance(each, Term) else self.number(each) for each in offsets]
        return [each.value for each in terms]

    def part(self, name: str, view: str, offsets: Sequence[Operand], *shown: int) -> None:
        """A view `name`: all along the axes that are shown, at one place along the others."""
        source = self.views[view]
        sizes = [self.builder.emit(tile.Extent, source, axis=axis) for axis in shown]
        at = self.offsets(offsets)
        self.views[name] = self.builder.emit(tile.View, source, at, sizes, axes=shown)
        self.views[name].name = name

    def load(
        self, view: str, offsets: Sequence[Operand], shape: Sequence[int], padding: float = 0.0
    ) -> Term:
        """A block of a view."""
        source = self.views[view]
        value = {Kind.FLOAT: float, Kind.BOOL: bool}.get(source.dtype.kind, int)(padding)
        made = self.builder.emit(
            tile.Load, source, self.offsets(offsets), shape=tuple(shape),
            padding=Number(value, source.dtype),
        )  # fmt: skip
        return Term(self, made)

    def store(self, view: str, offsets: Sequence[Operand], value: Term) -> None:
        """Put a block."""
        self.builder.emit_all(tile.Store, self.views[view], value.value, self.offsets(offsets))

    def loop(
        self,
        bounds: tuple[Operand, Operand, Operand],
        carries: Sequence[Term],
        body: Callable[..., Sequence[Term]],
        label: str | None = None,
    ) -> list[Term]:
        """What the last round yields."""
        outer = self.builder
        limits = self.offsets(bounds)
        inner = outer.nest([Scalar(i64), *[each.value.type for each in carries]])
        self.builder = inner
        index, *carried = [Term(self, argument) for argument in inner.block.arguments]
        if label:
            index.named(label)
        for before, now in zip(carries, carried, strict=True):
            now.value.name = before.value.name
        yielded = body(index, *carried)
        inner.emit_all(Yield, [each.value for each in yielded])
        self.builder = outer
        values = [each.value for each in carries]
        made = outer.emit_all(tile.For, *limits, values, inner.block, label=label)
        return [Term(self, each) for each in made]

    def finish(self) -> Func:
        """The func."""
        self.builder.emit_all(Return, [])
        return self.func
