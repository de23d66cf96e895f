"""A program past which whole rows stream: its sums wait in memory, one for each column.

Comes in: a `Kernel` that reduces along other axes than that of its vectors, and how `wide` a block
of columns one program takes. Goes out: the body of its tile func, as of any `Program`.
Never: a narrow column that is run down: to read memory across touches a page for each row.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import prod

from ...ir import tile
from ...ir.dtypes import DType
from ...ir.func import Yield
from ...ir.tensor.arg_reduce import ArgReduction
from ...ir.types import INDEX
from ...ir.values import AnyValue
from ..labels import level_name
from .columns import Stretch, plan_columns
from .emit import Scope, nothing
from .kernel import Node
from .opening import place_name
from .plan import Loop, plan_at_home
from .program import Program
from .reductions import folded


@dataclass(slots=True)
class Streamed(Program):
    """`lines` has the memory of what is known of each column, `sums` that of what is carried."""

    wide: int = 0
    lines: dict[Node, AnyValue] = field(default_factory=lambda: {})
    sums: dict[Node, list[AnyValue]] = field(default_factory=lambda: {})
    bounds: list[AnyValue] = field(default_factory=lambda: [])

    @property
    def column(self) -> int:
        """The axis of the vectors."""
        return len(self.kernel.space.sizes) - 1

    def _rows(self) -> list[AnyValue]:
        """In turn, what is done once for each column, and a loop over rows."""
        loops = plan_at_home(self.kernel)
        stretches, read = plan_columns(self.kernel, loops)
        self._make_room(loops)
        self._open_block()
        for number, stretch in enumerate(stretches):
            carried = loops[number].reductions if number < len(loops) else []
            if carried or stretch.finished or stretch.kept or stretch.outputs:
                self._columns(partial(self._stretch, stretch, carried))
            if number < len(loops):
                self._pass(loops[number], read[number], level_name(number))
        return []

    def _open_block(self) -> None:
        """Where the block of columns begins and ends, and memory for sums."""
        sizes, start = self.emitter.sizes, self.emitter.start(self.column)
        extent = sizes.scalar(self.kernel.space.sizes[self.column])
        kinds, builder = tile.BinaryKind, sizes.builder
        end = builder.emit(tile.Binary, start, sizes.number(self.wide), kind=kinds.ADD)
        end = builder.emit(tile.Binary, end, extent, kind=kinds.MINIMUM)
        self.bounds = [start, end, sizes.number(self.emitter.tiles[self.column])]

    def _columns(self, body: Callable[[], None]) -> list[AnyValue]:
        """A loop over the block, in tiles."""
        emitter, outer = self.emitter, self.emitter.scopes[-1].builder
        inner = outer.nest([INDEX])
        (at,) = inner.block.arguments
        at.name = place_name(self.names, self.kernel.space.sizes[self.column])
        emitter.rows = emitter.depths[self.column] = len(emitter.scopes)
        emitter.found.clear()
        emitter.scopes.append(Scope(inner, {self.column: at}))
        body()
        emitter.scopes.pop()
        inner.emit_all(Yield, [])
        outer.emit_all(tile.For, *self.bounds, [], body=inner.block, label="columns")
        return []

    def _stretch(self, stretch: Stretch, carried: Sequence[Node]) -> None:
        """What is done once for a tile of columns."""
        for node in stretch.finished:
            self._finish(node, self._load_sums(node))
        self._recall(stretch.reread)
        self.emitter.emit(stretch.computed)
        for node in stretch.kept:
            self.lines[node] = self._line(node.value.name, 1, self.emitter.tile(node).dtype)
            self._put(self.lines[node], self.emitter.tile(node))
        for output in stretch.outputs:
            self.emitter.store(output)
        for node in carried:
            first, rows = self._first(node), prod(self._carried_shape(node)[:-1])
            self.sums[node] = [self._line("sums", rows, each.dtype) for each in first]
            self._store_sums(node, first)

    def _pass(self, loop: Loop, read: Sequence[Node], label: str) -> None:
        """All rows, one tile of them after the other, each along the whole block."""
        masked = self._masked(loop)

        def body() -> None:
            self._recall(read)
            before = [self._load_sums(node) for node in loop.reductions]
            after = self._round(loop, masked, before)
            for node, carries in zip(loop.reductions, after, strict=True):
                self._store_sums(node, carries)

        reduced = self.kernel.space.reduced
        goes_back = not loop.reductions and self.kernel.chunk is None

        def rows(_: Sequence[AnyValue]) -> list[AnyValue]:
            if goes_back:
                self._turn_round(reduced[0])
            return self._columns(body)

        self._nest(reduced, [], rows, label)

    def _turn_round(self, axis: int) -> None:
        """Begin with the last tile of an axis. What the pass before read last is still in a cache,
        and nothing is summed up here, so that the order does not matter."""
        scope = next(each for each in self.emitter.scopes if axis in each.starts)
        done, rows, sizes = scope.starts[axis], self.emitter.tiles[axis], self.emitter.sizes
        emit, number, kinds = sizes.builder.emit, sizes.number, tile.BinaryKind
        extent = sizes.scalar(self.kernel.space.sizes[axis])
        last = emit(tile.Binary, extent, number(1), kind=kinds.SUBTRACT)
        if rows > 1:
            beyond = emit(tile.Binary, last, number(rows), kind=kinds.REMAINDER)
            last = emit(tile.Binary, last, beyond, kind=kinds.SUBTRACT)
        at = scope.builder.emit(tile.Binary, last, done, kind=kinds.SUBTRACT)
        at.name, done.name = done.name, "done"
        scope.starts[axis] = at

    def _recall(self, nodes: Sequence[Node]) -> None:
        """What is known of a tile of columns."""
        for node in nodes:
            self.emitter.recall(node, self._get(self.lines[node], self.emitter.shape(node.axes)))

    def _load_sums(self, node: Node) -> list[AnyValue]:
        return [self._get(line, self._carried_shape(node)) for line in self.sums[node]]

    def _store_sums(self, node: Node, carries: Sequence[AnyValue]) -> None:
        for line, value in zip(self.sums[node], carries, strict=True):
            self._put(line, value)

    def _carried_shape(self, node: Node) -> tuple[int, ...]:
        """As the operand's tile, but of one row, if rows are combined with each other at once."""
        shape = [*self.emitter.shape(node.operands[0].axes)]
        if not isinstance(node.op, ArgReduction):
            for place in self._reduced_places(node):
                shape[place] = 1
        return tuple(shape)

    def _folded(self, node: Node, x: AnyValue) -> AnyValue:
        """One row of what a tile has of each column; those of a search stay apart."""
        if isinstance(node.op, ArgReduction):
            return x
        builder = self.emitter.scopes[-1].builder
        return folded(builder, node.op, x, self._reduced_places(node))

    def _line(self, name: str | None, rows: int, dtype: DType) -> AnyValue:
        """Memory of some rows along the block."""
        shape = (rows, self.wide)
        scratch = self.emitter.sizes.builder.emit(tile.Scratch, shape=shape, dtype=dtype)
        scratch.name = name
        return scratch

    def _part(self, view: AnyValue, sizes: Sequence[AnyValue]) -> AnyValue:
        """The columns of scratch at which the program is."""
        builder, zero = self.emitter.scopes[-1].builder, self.emitter.sizes.number(0)
        at, start = self.emitter.start(self.column), self.bounds[0]
        beside = builder.emit(tile.Binary, at, start, kind=tile.BinaryKind.SUBTRACT)
        offsets = [zero] * (len(sizes) - 1) + [beside]
        return builder.emit(tile.View, view, offsets, sizes, axes=tuple(range(len(sizes))))

    def _at(self, line: AnyValue) -> tuple[AnyValue, tuple[int, ...]]:
        """What a line has of the columns at which the program is."""
        shape = line.type.facts["size"][0], self.emitter.tiles[self.column]
        return self._part(line, [self.emitter.sizes.number(size) for size in shape]), shape

    def _get(self, line: AnyValue, shape: tuple[int, ...]) -> AnyValue:
        builder, zero = self.emitter.scopes[-1].builder, self.emitter.sizes.number(0)
        view, extents = self._at(line)
        padding = nothing(line.dtype)
        loaded = builder.emit(tile.Load, view, [zero, zero], shape=extents, padding=padding)
        return loaded if shape == extents else builder.emit(tile.Reshape, loaded, shape=shape)

    def _put(self, line: AnyValue, value: AnyValue) -> None:
        builder, zero = self.emitter.scopes[-1].builder, self.emitter.sizes.number(0)
        view, extents = self._at(line)
        if value.type.shape != extents:
            value = builder.emit(tile.Reshape, value, shape=extents)
        builder.emit_all(tile.Store, view, value, [zero, zero])
