"""A tile func written by hand: what the authors of kernels of one op write with.

Comes in: the tensor func that it stands for, its params, its grid. Goes out: the `Stage` that
launches it.
Never: a decision.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...ir import tile
from ...ir.dims import Size
from ...ir.dtypes import DType
from ...ir.func import Func, Yield
from ...ir.payloads import Number
from ...ir.types import INDEX
from ...ir.values import AnyValue, Block, Value
from .emit import nothing
from .kernel import Param
from .opening import close_func, open_func, place_name
from .parts import Part, Stage

Body = Callable[[AnyValue, Sequence[AnyValue]], Sequence[AnyValue]]


class Draft:
    """The func, a builder where it is being written, and its arguments as views."""

    def __init__(
        self,
        source: Func,
        params: list[Param],
        counts: Sequence[tuple[Size, int]],
        schedule: Mapping[str, int],
    ) -> None:
        self.params = params
        self.opening = open_func(source, params, counts, schedule)
        self.func, self.starts = self.opening.func, self.opening.starts
        self.sizes = self.opening.sizes
        self.builder = self.sizes.builder
        if source.results and source.results[0].op is not None:
            self.builder.location = source.results[0].op.location
        self.views = self.func.arguments

    def emit(self, cls: Any, *operands: Any, **attributes: Any) -> AnyValue:
        """The result of an op, where the draft is."""
        return self.builder.emit(cls, *operands, **attributes)

    def number(self, value: Any, dtype: DType) -> AnyValue:
        """A constant."""
        return self.emit(tile.Constant, Number(value, dtype))

    def binary(self, kind: tile.BinaryKind, left: AnyValue, right: AnyValue) -> AnyValue:
        """kind(left, right)"""
        return self.emit(tile.Binary, left, right, kind=kind)

    def compare(self, kind: tile.CompareKind, left: AnyValue, right: AnyValue) -> AnyValue:
        """Whether kind(left, right)"""
        return self.emit(tile.Compare, left, right, kind=kind)

    def cast(self, x: AnyValue, dtype: DType) -> AnyValue:
        """x as `dtype`."""
        return x if x.dtype is dtype else self.emit(tile.Cast, x, dtype=dtype)

    def reshape(self, x: AnyValue, *shape: int) -> AnyValue:
        """x in another shape."""
        return x if x.type.shape == shape else self.emit(tile.Reshape, x, shape=shape)

    def load(self, view: AnyValue, offsets: Sequence[AnyValue], *shape: int) -> AnyValue:
        """A block, with zeros outside."""
        return self.emit(tile.Load, view, offsets, shape=shape, padding=nothing(view.dtype))

    def store(self, view: AnyValue, value: AnyValue, offsets: Sequence[AnyValue]) -> None:
        """Store a block."""
        self.builder.emit_all(tile.Store, view, value, offsets)

    def counted(self, start: AnyValue, shape: tuple[int, ...], axis: int) -> AnyValue:
        """start, start + 1, … along an axis."""
        first = self.emit(tile.Full, start, shape=shape)
        lanes = self.emit(tile.Iota, shape=shape, axis=axis, dtype=start.dtype)
        return self.binary(tile.BinaryKind.ADD, first, lanes)

    def branch(
        self, predicate: AnyValue, given: Sequence[AnyValue], body: Callable[[], Sequence[AnyValue]]
    ) -> Sequence[AnyValue]:
        """What `body()` makes of the given values where the predicate holds, else those."""
        outer, regions = self.builder, list[Block]()
        for make in (body, lambda: given):
            self.builder = outer.nest([])
            self.builder.emit_all(Yield, make())
            regions.append(self.builder.block)
        self.builder = outer
        return outer.emit_all(tile.If, predicate, [], on_true=regions[0], on_false=regions[1])

    def loop(
        self, size: Size | AnyValue, step: int, carries: Sequence[AnyValue], body: Body, label: str
    ) -> Sequence[AnyValue]:
        """`body(at, carries)` for each tile of so many elements along an axis."""
        lower, by = self.sizes.number(0), self.sizes.number(step)
        upper = size if isinstance(size, Value) else self.sizes.scalar(size)
        outer = self.builder
        self.builder = outer.nest([INDEX, *(value.type for value in carries)])
        at, *inside = self.builder.block.arguments
        if not isinstance(size, Value):
            at.name = place_name(self.opening.names, size)
        self.builder.emit_all(Yield, body(at, inside))
        block, self.builder = self.builder.block, outer
        return outer.emit_all(tile.For, lower, upper, by, carries, body=block, label=label)

    def stage(self, arrays: Sequence[int]) -> Stage:
        """The finished func, which is handed these arrays, one a param."""
        close_func(self.func, self.builder)
        pairs = list(zip(arrays, self.params, strict=True))
        return Stage(
            self.func,
            tuple(Part(array, param.shape) for array, param in pairs if not param.written),
            tuple(Part(array, param.shape) for array, param in pairs if param.written),
            self.opening.grid,
        )
