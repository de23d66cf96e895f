"""A tile func, while it is being written: the ops that authors of kernels write with.

Comes in: an opening, whose body is empty. Goes out: the func with its body, and its grid. Ops go to
the innermost loop that is open; what is asked for often has a name here.
Never: a decision.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ...ir import tile
from ...ir.builder import Builder
from ...ir.declare import Op
from ...ir.dims import Size
from ...ir.dtypes import DType
from ...ir.func import Yield
from ...ir.payloads import Number
from ...ir.tile import BinaryKind, CompareKind, ReduceKind, UnaryKind
from ...ir.types import INDEX
from ...ir.values import AnyValue, Value
from .emit import nothing
from .late import Begun, Made
from .opening import Opening, close_func

Round = Callable[..., Sequence[AnyValue] | None]
"""A round of a loop: from its index and what is carried to what is carried on, if anything is."""
Bounds = tuple[AnyValue, AnyValue, AnyValue | int]
"""Where a loop begins and ends, and how far it steps."""


class Writer:
    """The func, its arguments as views, and where in it ops are put."""

    def __init__(self, opening: Opening) -> None:
        self.func, self.grid, self.schedule = opening.func, opening.grid, opening.schedule
        self.names, self.sizes = opening.names, opening.sizes
        self.views = list(self.sizes.views)
        self.builders = [self.sizes.builder]
        self._rooms: dict[str, AnyValue] = {}

    def emit(self, op: type[Op], *operands: Any, **attributes: Any) -> AnyValue:
        """The result of an op in the innermost open loop."""
        return self.builders[-1].emit(op, *operands, **attributes)

    def size(self, size: Size) -> AnyValue:
        """The number that a size is."""
        return self.sizes.scalar(size)

    def program(self, axis: int) -> AnyValue:
        """The place of the program along an axis of the grid."""
        return self.builders[0].emit(tile.ProgramId, axis=axis)

    def number(self, value: Any, dtype: DType) -> AnyValue:
        """A constant."""
        return self.emit(tile.Constant, Number(value, dtype))

    def unary(self, kind: UnaryKind, x: AnyValue) -> AnyValue:
        """kind(x)"""
        return self.emit(tile.Unary, x, kind=kind)

    def binary(self, kind: BinaryKind, left: AnyValue, right: AnyValue | Size) -> AnyValue:
        """kind(left, right)"""
        other = right if isinstance(right, Value) else self.size(right)
        return self.emit(tile.Binary, left, other, kind=kind)

    def add(self, left: AnyValue, right: AnyValue | Size) -> AnyValue:
        """left + right"""
        return self.binary(BinaryKind.ADD, left, right)

    def subtract(self, left: AnyValue, right: AnyValue | Size) -> AnyValue:
        """left - right"""
        return self.binary(BinaryKind.SUBTRACT, left, right)

    def multiply(self, left: AnyValue, right: AnyValue | Size) -> AnyValue:
        """left * right"""
        return self.binary(BinaryKind.MULTIPLY, left, right)

    def divide(self, left: AnyValue, right: AnyValue | Size) -> AnyValue:
        """left / right, of integers rounded toward zero"""
        return self.binary(BinaryKind.DIVIDE, left, right)

    def least(self, left: AnyValue, right: AnyValue | Size) -> AnyValue:
        """The smaller"""
        return self.binary(BinaryKind.MINIMUM, left, right)

    def greatest(self, left: AnyValue, right: AnyValue | Size) -> AnyValue:
        """The larger"""
        return self.binary(BinaryKind.MAXIMUM, left, right)

    def compare(self, kind: CompareKind, left: AnyValue, right: AnyValue) -> AnyValue:
        """Whether kind(left, right)"""
        return self.emit(tile.Compare, left, right, kind=kind)

    def select(self, predicate: AnyValue, on_true: AnyValue, on_false: AnyValue) -> AnyValue:
        """on_true where the predicate holds, else on_false"""
        return self.emit(tile.Select, predicate, on_true, on_false)

    def cast(self, x: AnyValue, dtype: DType) -> AnyValue:
        """x as `dtype`"""
        return x if x.dtype is dtype else self.emit(tile.Cast, x, dtype=dtype)

    def full(self, number: AnyValue, *shape: int) -> AnyValue:
        """A tile that is a number everywhere."""
        return self.emit(tile.Full, number, shape=shape)

    def zeros(self, dtype: DType, *shape: int) -> AnyValue:
        """A tile of zeros."""
        return self.full(self.emit(tile.Constant, nothing(dtype)), *shape)

    def iota(self, dtype: DType, axis: int, *shape: int) -> AnyValue:
        """0, 1, … along an axis"""
        return self.emit(tile.Iota, shape=shape, axis=axis, dtype=dtype)

    def spread(self, x: AnyValue, axis: int, *shape: int) -> AnyValue:
        """A tile of rank 1 along an axis of a larger one, repeated along the others."""
        return self.emit(tile.Broadcast, x, shape=shape, axes=(axis,))

    def reshape(self, x: AnyValue, *shape: int) -> AnyValue:
        """x in another shape"""
        return x if x.type.shape == shape else self.emit(tile.Reshape, x, shape=shape)

    def permute(self, x: AnyValue, *axes: int) -> AnyValue:
        """x with its axes in another order"""
        same = axes == tuple(range(len(axes)))
        return x if same else self.emit(tile.Permute, x, axes=axes)

    def reduce(self, kind: ReduceKind, x: AnyValue, axis: int = 0) -> AnyValue:
        """What an axis comes to."""
        return self.emit(tile.Reduce, x, axis=axis, kind=kind)

    def load(self, view: AnyValue, offsets: Sequence[AnyValue], *shape: int) -> AnyValue:
        """A block of a view, with zeros outside."""
        return self.emit(tile.Load, view, offsets, shape=shape, padding=nothing(view.dtype))

    def store(self, view: AnyValue, value: AnyValue, offsets: Sequence[AnyValue]) -> None:
        """Store a block; what lies outside of the view is dropped."""
        self.builders[-1].emit_all(tile.Store, view, value, offsets)

    def extent(self, view: AnyValue, axis: int) -> AnyValue:
        """The size of a view along an axis."""
        return self.emit(tile.Extent, view, axis=axis)

    def part(
        self, view: AnyValue, offsets: Sequence[AnyValue], sizes: Sequence[AnyValue]
    ) -> AnyValue:
        """The last axes of a view, as many as there are sizes, at these offsets."""
        rank = len(offsets)
        axes = tuple(range(rank - len(sizes), rank))
        return self.emit(tile.View, view, offsets, sizes, axes=axes)

    def scratch(self, dtype: DType, *shape: Size, name: str | None = None) -> AnyValue:
        """Memory of the program; of a name, there is one."""
        if name is None:
            return self.emit(tile.Scratch, shape=shape, dtype=dtype)
        if name not in self._rooms:
            made = self.builders[0].emit(tile.Scratch, shape=shape, dtype=dtype)
            made.name = name
            self._rooms[name] = made
        return self._rooms[name]

    def loop(
        self, label: str, bounds: Bounds, body: Round, carries: Sequence[AnyValue] = ()
    ) -> tuple[AnyValue, ...]:
        """A loop whose index goes by its label; what it has carried at the end."""
        return self.named_loop(label, label, bounds, body, carries)

    def named_loop(
        self, name: str | None, label: str, bounds: Bounds, body: Round, carries: Sequence[AnyValue]
    ) -> tuple[AnyValue, ...]:
        """A loop whose index has a name of its own."""
        lower, upper, step = bounds
        outer = self.builders[-1]
        inner = outer.nest([INDEX, *[value.type for value in carries]])
        index, *carried = inner.block.arguments
        index.name = name
        self._write(inner, lambda: body(index, *carried))
        by = step if isinstance(step, Value) else self.size(step)
        return outer.emit_all(tile.For, lower, upper, by, carries, body=inner.block, label=label)

    def branch(
        self, predicate: AnyValue, given: Sequence[AnyValue], body: Callable[[], Sequence[AnyValue]]
    ) -> tuple[AnyValue, ...]:
        """What `body()` makes of the given values where the predicate holds, else those."""
        outer = self.builders[-1]
        on_true, on_false = outer.nest([]), outer.nest([])
        self._write(on_true, body)
        self._write(on_false, lambda: given)
        regions = {"on_true": on_true.block, "on_false": on_false.block}
        return outer.emit_all(tile.If, predicate, [], **regions)

    def _write(self, inner: Builder, body: Callable[[], Sequence[AnyValue] | None]) -> None:
        """Write a region, and what it yields."""
        self.builders.append(inner)
        inner.emit_all(Yield, list(body() or ()))
        self.builders.pop()

    def later(self, write: Callable[[], None], asked: Iterable[Size]) -> Begun:
        """The func, of which `write` makes the body, where sizes are known that it asks for."""

        def whole() -> None:
            write()
            self.done()

        return Begun(self.func, self.grid, whole, all(map(self.sizes.knows, asked)))

    def done(self) -> Made:
        """The func with its return, and its grid."""
        close_func(self.func, self.builders[0])
        return self.func, self.grid
