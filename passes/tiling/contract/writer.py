"""A tile func of several loops, while it is being written.

Comes in: the arrays that it takes, and its grid in their sizes. Goes out: a `Writer`: the func, its
views, and builders for the loops that are open.
Never: what is computed.
"""

from collections.abc import Callable, Sequence
from typing import Any

from ....ir import tile
from ....ir.attributes import Frozen, Shape
from ....ir.builder import Builder
from ....ir.declare import Op
from ....ir.dims import Size
from ....ir.dtypes import DType
from ....ir.func import Func, Yield
from ....ir.locations import Location
from ....ir.types import INDEX, View
from ....ir.values import AnyValue
from ..kernel import Param
from ..opening import close_func
from ..schedule import Schedule
from ..sizes import Names, Sizes

Resize = Callable[[Size], Size]
Grid = Callable[[Resize], Shape]
"""The grid, where each size of an array goes by another name."""
Round = Callable[..., Sequence[AnyValue]]
"""A round of a loop: from its index and what is carried to what is carried on."""


class Writer:
    """The func, and where in it ops are put."""

    def __init__(
        self, name: str, location: Location, params: Sequence[Param], grid: Grid, schedule: Schedule
    ) -> None:
        self.names, self.schedule = Names([param.shape for param in params]), schedule
        attributes = Frozen({"grid": list(grid(self.names.of)), "tile": Frozen(schedule)})
        types = [_view(self.names, param) for param in params]
        self.func = Func(name, types, tuple(self.names.used), attributes, location)
        self.grid = grid(lambda size: size)
        self.views = list(self.func.arguments)
        for view, param in zip(self.views, params, strict=True):
            view.name = param.name
        self.builders = [Builder(self.func.body, location=location)]
        self.sizes = Sizes(self.builders[0], list(params), self.views)
        self.rooms: dict[str, AnyValue] = {}

    def emit(self, op: type[Op], *operands: Any, **attributes: Any) -> AnyValue:
        """The result of an op in the innermost open loop."""
        return self.builders[-1].emit(op, *operands, **attributes)

    def size(self, size: Size) -> AnyValue:
        """The number that a size is."""
        return self.sizes.scalar(size)

    def program(self, axis: int) -> AnyValue:
        """The place of the program along an axis of the grid."""
        return self.builders[0].emit(tile.ProgramId, axis=axis)

    def add(self, left: AnyValue, right: AnyValue) -> AnyValue:
        """left + right"""
        return self.emit(tile.Binary, left, right, kind=tile.BinaryKind.ADD)

    def subtract(self, left: AnyValue, right: AnyValue) -> AnyValue:
        """left - right"""
        return self.emit(tile.Binary, left, right, kind=tile.BinaryKind.SUBTRACT)

    def multiply(self, left: AnyValue, by: int | AnyValue) -> AnyValue:
        """left * by"""
        factor = self.size(by) if isinstance(by, int) else by
        return self.emit(tile.Binary, left, factor, kind=tile.BinaryKind.MULTIPLY)

    def divide(self, left: AnyValue, by: int | AnyValue) -> AnyValue:
        """left / by, rounded toward zero"""
        divisor = self.size(by) if isinstance(by, int) else by
        return self.emit(tile.Binary, left, divisor, kind=tile.BinaryKind.DIVIDE)

    def least(self, left: AnyValue, right: AnyValue) -> AnyValue:
        """The smaller"""
        return self.emit(tile.Binary, left, right, kind=tile.BinaryKind.MINIMUM)

    def scratch(self, name: str, shape: Shape, dtype: DType) -> AnyValue:
        """Memory of the program, of which there is one for each name."""
        if name not in self.rooms:
            made = self.builders[0].emit(tile.Scratch, shape=shape, dtype=dtype)
            made.name = name
            self.rooms[name] = made
        return self.rooms[name]

    def part(
        self, view: AnyValue, offsets: Sequence[AnyValue], sizes: Sequence[AnyValue]
    ) -> AnyValue:
        """The last axes of a view, as many as there are sizes, at these offsets."""
        rank = len(offsets)
        axes = tuple(range(rank - len(sizes), rank))
        return self.emit(tile.View, view, offsets, sizes, axes=axes)

    def loop(
        self,
        name: str,
        bounds: tuple[AnyValue, AnyValue, int],
        body: Round,
        carries: Sequence[AnyValue] = (),
    ) -> tuple[AnyValue, ...]:
        """A loop from a lower to an upper bound by a step; what it has carried at the end."""
        lower, upper, step = bounds
        outer = self.builders[-1]
        inner = outer.nest([INDEX, *[value.type for value in carries]])
        index, *carried = inner.block.arguments
        index.name = name
        self.builders.append(inner)
        inner.emit_all(Yield, list(body(index, *carried)))
        self.builders.pop()
        by = self.size(step)
        return outer.emit_all(tile.For, lower, upper, by, carries, body=inner.block, label=name)

    def done(self) -> Func:
        """The func with its return."""
        close_func(self.func, self.builders[0])
        return self.func


def _view(names: Names, param: Param) -> View:
    facts: dict[str, Any] = {"size": [names.of(size) for size in param.shape]}
    if param.shape:
        facts["unit_stride"] = len(param.shape) - 1
        facts["dense"] = len(param.shape)
    return View(len(param.shape), param.dtype, Frozen(facts))
