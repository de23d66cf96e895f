"""The ops of one program, each written in the outermost loop in which all that it reads is known.

Comes in: a `Kernel`, the size of its tiles, the views of its params. Goes out: ops, where the
builders of the open scopes stand.
Never: which loop computes what (`plan`), or the loops themselves (`program`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...ir import tensor, tile
from ...ir.builder import Builder
from ...ir.dims import interval
from ...ir.dtypes import DType, Kind, boolean, i32, i64
from ...ir.payloads import Number, Payload
from ...ir.values import AnyValue
from .elementwise import emit_elementwise, filled_like
from .kernel import Access, Kernel, Node, Output, Param
from .sizes import Sizes
from .space import Index

ADD, MULTIPLY = tile.BinaryKind.ADD, tile.BinaryKind.MULTIPLY


@dataclass(slots=True)
class Scope:
    """A block that is being written: where the program is along the axes that it steps through,
    and what it has of each node."""

    builder: Builder
    starts: dict[int, AnyValue]
    tiles: dict[Node, AnyValue] = field(default_factory=lambda: {})
    masks: dict[tuple[int, ...], AnyValue] = field(default_factory=lambda: {})


@dataclass(slots=True)
class Emitter:
    """`depths` says in which scope each axis is stepped through; what reductions make is known in
    the scope `rows`."""

    kernel: Kernel
    tiles: tuple[int, ...]
    sizes: Sizes
    views: dict[Param, AnyValue]
    depths: dict[int, int]
    rows: int
    scopes: list[Scope] = field(default_factory=lambda: [])
    paddings: dict[Node, Number] = field(default_factory=lambda: {})
    windows: dict[Access, AnyValue] = field(default_factory=lambda: {})
    found: dict[Node, int] = field(default_factory=lambda: {})

    def depth(self, node: Node) -> int:
        """The scope that a node is written in."""
        if node not in self.found:
            depth = max([self.depths[axis] for axis in node.varies], default=0)
            inner = [self.rows] if node.reduces else [self.depth(each) for each in node.operands]
            self.found[node] = max([depth, *inner])
        return self.found[node]

    def emit(self, nodes: Iterable[Node]) -> None:
        """Write nodes, those before their readers, that are not written yet."""
        for node in nodes:
            scope = self.scopes[self.depth(node)]
            if node not in scope.tiles:
                scope.builder.location = node.location
                made = self._made(scope.builder, node)
                self.set(node, made)

    def set(self, node: Node, made: AnyValue) -> None:
        """Say which tile or scalar a node is, under the name that the user has given it."""
        self.scopes[self.depth(node)].tiles[node] = made
        name = node.value.name if node.access is None else None
        if made.name is None and all(param.name != name for param in self.views):
            made.name = name

    def reach(self, node: Node) -> int:
        """The scope in which the place of a node's tile is known, which may be one inside of that
        in which the tile is."""
        return max([self.depths[axis] for axis in node.axes], default=0)

    def recall(self, node: Node, made: AnyValue) -> None:
        """Say as what a node was read back, at the place of its tile; its readers follow it."""
        self.found[node] = self.reach(node)
        self.set(node, made)

    def tile(self, node: Node) -> AnyValue:
        """The tile of a node, or for one without axes the scalar."""
        return self.scopes[self.depth(node)].tiles[node]

    def shape(self, axes: Iterable[int | None]) -> tuple[int, ...]:
        """The shape of a tile along these axes of the space."""
        return tuple([1 if axis is None else self.tiles[axis] for axis in axes])

    def start(self, axis: int) -> AnyValue:
        """Where along an axis the tiles of the innermost open scope begin."""
        return self.scopes[self.depths[axis]].starts[axis]

    def store(self, output: Output) -> None:
        """Store a node where it belongs, in the innermost open scope."""
        builder, view = self.scopes[-1].builder, self.views[output.param]
        builder.location = output.node.location
        value = self.tile(output.node)
        shape = self.shape(index.axis for index in output.at)
        if not output.node.axes:
            value = builder.emit(tile.Full, value, shape=shape)
        else:
            value = _arranged(builder, value, output.node.axes, output.at, shape)
        offsets = [self._offset(builder, index) for index in output.at]
        builder.emit_all(tile.Store, view, value, offsets)

    def places(self, node: Node, dtype: DType) -> AnyValue:
        """How far each element of a node's tile is along the innermost reduced axis."""
        axis = self.kernel.space.reduced[-1]
        return self._counted(self.scopes[-1].builder, Index(axis), node.axes, dtype)

    def mask(self, axes: tuple[int, ...], masked: Sequence[int]) -> AnyValue:
        """Where a tile along `axes` lies inside of the space along the `masked` ones."""
        scope = self.scopes[-1]
        if axes not in scope.masks:
            parts = [self._inside(scope.builder, axes, axis) for axis in masked if axis in axes]
            first, *others = parts
            for other in others:
                first = scope.builder.emit(tile.Binary, first, other, kind=tile.BinaryKind.BIT_AND)
            scope.masks[axes] = first
        return scope.masks[axes]

    def _inside(self, builder: Builder, axes: tuple[int, ...], axis: int) -> AnyValue:
        extent = self.sizes.scalar(self.kernel.space.sizes[axis])
        counted = self._counted(builder, Index(axis), axes, i64)
        limit = builder.emit(tile.Full, extent, shape=counted.type.shape)
        return builder.emit(tile.Compare, counted, limit, kind=tile.CompareKind.LESS)

    def _made(self, builder: Builder, node: Node) -> AnyValue:
        if node.access is not None:
            return self._loaded(builder, node, node.access)
        op: Any = node.op
        if isinstance(op, tensor.Constant):
            return self._constant(builder, op.value, node)
        if isinstance(op, tensor.Dim):
            return self.sizes.scalar(op.x.type.shape[op.axis])
        if isinstance(op, tensor.Iota):
            return self._iota(builder, op, node)
        operands = [self.tile(each) for each in node.operands]
        if isinstance(op, tensor.Broadcast):
            return self._broadcast(builder, operands[0], node)
        return emit_elementwise(builder, op, operands)

    def _constant(self, builder: Builder, value: Payload, node: Node) -> AnyValue:
        number = builder.emit(tile.Constant, Number(value.array.reshape(-1)[0].item(), value.dtype))
        return builder.emit(tile.Full, number, shape=self.shape(node.axes)) if node.axes else number

    def _broadcast(self, builder: Builder, x: AnyValue, node: Node) -> AnyValue:
        (operand,) = node.operands
        shape = self.shape(node.axes)
        if not operand.axes:
            return builder.emit(tile.Full, x, shape=shape)
        axes = tuple(node.axes.index(axis) for axis in operand.axes)
        return builder.emit(tile.Broadcast, x, shape=shape, axes=axes)

    def _iota(self, builder: Builder, op: tensor.Iota, node: Node) -> AnyValue:
        index = node.place[op.axis]
        short = op.dtype.bits < 64 or op.dtype.kind is Kind.FLOAT
        few = interval(op.shape[op.axis])[1] <= 1 << 31
        counted = self._counted(builder, index, node.axes, i32 if short and few else i64)
        same = counted.dtype is op.dtype
        return counted if same else builder.emit(tile.Cast, counted, dtype=op.dtype)

    def _counted(
        self, builder: Builder, index: Index, axes: tuple[int, ...], dtype: DType
    ) -> AnyValue:
        """An index at each place of a tile along `axes`."""
        start = self._offset(builder, index)
        if dtype is not i64:
            start = builder.emit(tile.Cast, start, dtype=dtype)
        if not axes:
            return start
        shape = self.shape(axes)
        first = builder.emit(tile.Full, start, shape=shape)
        if index.axis is None:
            return first
        lanes = builder.emit(tile.Iota, shape=shape, axis=axes.index(index.axis), dtype=dtype)
        if index.step != 1:
            step = builder.emit(tile.Constant, Number(index.step, dtype))
            lanes = builder.emit(
                tile.Binary, lanes, filled_like(builder, step, lanes), kind=MULTIPLY
            )
        return builder.emit(tile.Binary, first, lanes, kind=ADD)

    def _offset(self, builder: Builder, index: Index) -> AnyValue:
        """The scalar that an index is where a tile begins."""
        if index.axis is None:
            return self.sizes.scalar(index.start)
        start = self.start(index.axis)
        if index.step != 1:
            start = builder.emit(tile.Binary, start, self.sizes.number(index.step), kind=MULTIPLY)
        if index.start == 0:
            return start
        return builder.emit(tile.Binary, start, self.sizes.scalar(index.start), kind=ADD)

    def _loaded(self, builder: Builder, node: Node, access: Access) -> AnyValue:
        view = self._window(access)
        padding = access.padding or self.paddings.get(node) or nothing(node.value.dtype)
        offsets = [self._offset(builder, index) for index in access.at]
        shape = self.shape(index.axis for index in access.at)
        loaded = builder.emit(tile.Load, view, offsets, shape=shape, padding=padding)
        if not node.axes:
            return builder.emit(tile.Extract, loaded)
        order = [index.axis for index in access.at if index.axis is not None]
        if len(order) != len(access.at):
            loaded = builder.emit(tile.Reshape, loaded, shape=self.shape(order))
        if order == sorted(order):
            return loaded
        axes = tuple(order.index(axis) for axis in node.axes)
        return builder.emit(tile.Permute, loaded, axes=axes)

    def _window(self, access: Access) -> AnyValue:
        """The view that is read: the param's, or a part of it, made once at the beginning."""
        view = self.views[access.param]
        if access.window is None:
            return view
        if access not in self.windows:
            axes = [0] * len(access.sizes)
            for axis, index in enumerate(access.window):
                if index.axis is not None:
                    axes[index.axis] = axis
            steps = tuple(access.window[axis].step for axis in axes)
            self.windows[access] = self.sizes.builder.emit(
                tile.View,
                view,
                [self.sizes.scalar(index.start) for index in access.window],
                [self.sizes.scalar(size) for size in access.sizes],
                axes=tuple(axes),
                steps=None if set(steps) <= {1} else steps,
            )
        return self.windows[access]


def nothing(dtype: DType) -> Number:
    """Zero, or false."""
    return Number(False if dtype is boolean else 0, dtype)


def _arranged(
    builder: Builder,
    value: AnyValue,
    axes: tuple[int, ...],
    at: Sequence[Index],
    shape: tuple[int, ...],
) -> AnyValue:
    """A tile along `axes` in the order of a view, with its axes of size 1."""
    order = [axes.index(index.axis) for index in at if index.axis in axes]
    if order != sorted(order):
        value = builder.emit(tile.Permute, value, axes=tuple(order))
    while isinstance(value.op, tile.Reshape):
        value = value.op.x
    same = value.type.shape == shape
    return value if same else builder.emit(tile.Reshape, value, shape=shape)
