"""A kernel of tiles: what one program of the grid does.

Comes in: a `Kernel` whose axes are final, and a schedule. Goes out: a tile func, and its grid in
the symbols of the tensor func.
Never: a launch, or a size of a machine.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...ir import tile
from ...ir.attributes import Shape
from ...ir.func import Func, Yield
from ...ir.types import INDEX
from ...ir.values import AnyValue
from .emit import Emitter, Scope
from .kernel import Kernel, Node, Output
from .opening import close_func, open_func, place_name
from .outside import is_neutral, leaf_paddings
from .plan import Loop, plan_loops
from .reductions import carried_on, finished, first_carries, outside, place_dtype
from .schedule import Schedule, tiles_of
from .sizes import Names
from .space import Index

GRID_AXES = 3


def build_program(kernel: Kernel, schedule: Schedule) -> tuple[Func, Shape]:
    """The tile func of a kernel, and its grid."""
    tiles = tiles_of(kernel, schedule)
    grid_axes, looped = _shared_out(kernel.space.parallel)
    counts = [(kernel.space.sizes[axis], tiles[axis]) for axis in grid_axes]
    opening = open_func(kernel.func, kernel.params, counts, schedule)
    func, sizes = opening.func, opening.sizes
    steps = [*looped, *kernel.space.reduced]
    depths = dict.fromkeys(grid_axes, 0) | {axis: at for at, axis in enumerate(steps, 1)}
    views = dict(zip(kernel.params, func.arguments, strict=True))
    emitter = Emitter(kernel, tiles, sizes, views, depths, len(looped))
    starts = dict(zip(grid_axes, opening.starts, strict=True))
    _Program(kernel, emitter, opening.names).write(starts, looped)
    close_func(func, sizes.builder)
    return func, opening.grid


def _shared_out(parallel: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes of the grid, and those over which each program loops."""
    if len(parallel) <= GRID_AXES:
        return tuple(parallel), ()
    first, last = tuple(parallel[: GRID_AXES - 1]), parallel[-1]
    return (*first, last), tuple(parallel[GRID_AXES - 1 : -1])


@dataclass(slots=True)
class _Program:
    kernel: Kernel
    emitter: Emitter
    names: Names
    kept: dict[Node, AnyValue] = field(default_factory=dict[Any, Any])
    stored: dict[Node, Output] = field(default_factory=dict[Any, Any])

    def write(self, starts: dict[int, AnyValue], looped: Sequence[int]) -> None:
        """The whole body but for its return."""
        self.emitter.scopes.append(Scope(self.emitter.sizes.builder, starts))
        self._nest(looped, [], lambda _: self._rows(), None)

    def _rows(self) -> list[AnyValue]:
        """All that a program does at one place along the parallel axes."""
        loops = plan_loops(self.kernel)
        self._make_room(loops)
        for number, loop in enumerate(loops):
            self._loop(loop, f"level{number}")
        reduced = {*self.kernel.space.reduced}
        rest = [each for each in self.kernel.outputs if not reduced & {*each.node.axes}]
        self.emitter.emit(self._needed([output.node for output in rest]))
        for output in rest:
            self.emitter.store(output)
        return []

    def _needed(self, roots: Sequence[Node]) -> list[Node]:
        """The nodes that these need and that no loop has left, in program order."""
        needed, pending = set[Node](), [*roots]
        while pending:
            node = pending.pop()
            if node not in needed and not node.reduces:
                needed.add(node)
                pending += node.operands
        return [node for node in self.kernel.nodes if node in needed]

    def _loop(self, loop: Loop, label: str) -> None:
        """One run along the reduced axes, and what it has reduced."""
        emitter = self.emitter
        masked = [axis for axis in self.kernel.space.reduced if emitter.tiles[axis] != 1]
        emitter.paddings = leaf_paddings(loop, masked)
        carries: list[AnyValue] = []
        counts: list[int] = []
        for node in loop.reductions:
            made = self._first(node)
            counts.append(len(made))
            carries += made

        def body(inside: Sequence[AnyValue]) -> list[AnyValue]:
            return self._round(loop, masked, counts, inside)

        carried = iter(self._nest(self.kernel.space.reduced, carries, body, label))
        for node, count in zip(loop.reductions, counts, strict=True):
            mine = [next(carried) for _ in range(count)]
            builder = emitter.scopes[-1].builder
            builder.location = node.location
            axes = [
                place
                for place, axis in enumerate(node.operands[0].axes)
                if axis in self.kernel.space.reduced
            ]
            result = finished(builder, node.op, mine, axes, wide=self.kernel.chunk is not None)
            if not node.axes:
                result = builder.emit(tile.Extract, result)
            emitter.set(node, result)

    def _first(self, node: Node) -> list[AnyValue]:
        builder, axes = self.emitter.scopes[-1].builder, node.operands[0].axes
        builder.location = node.location
        innermost = axes.index(self.kernel.space.reduced[-1])
        return first_carries(builder, node.op, self.emitter.shape(axes), innermost)

    def _round(
        self, loop: Loop, masked: list[int], counts: list[int], inside: Sequence[AnyValue]
    ) -> list[AnyValue]:
        """What one round computes, keeps, stores and carries on."""
        emitter, carries = self.emitter, iter(inside)
        for node in loop.reread:
            self._reread(node)
        emitter.emit(loop.computed)
        for node in loop.kept:
            if node in self.kept:
                self._keep(node)
        on: list[AnyValue] = []
        for node, count in zip(loop.reductions, counts, strict=True):
            mine = [next(carries) for _ in range(count)]
            on += self._carried_on(loop, node, mine, masked)
        for output in loop.outputs:
            emitter.store(output)
        return on

    def _carried_on(
        self, loop: Loop, node: Node, carries: list[AnyValue], masked: list[int]
    ) -> list[AnyValue]:
        emitter, operand, op = self.emitter, node.operands[0], node.op
        builder = emitter.scopes[-1].builder
        builder.location = node.location
        x, neutral = emitter.tile(operand), outside(op)
        if masked and not is_neutral(loop, operand, node, emitter.paddings, masked):
            mask = emitter.mask(operand.axes, masked)
            number = builder.emit(tile.Constant, neutral)
            padding = builder.emit(tile.Full, number, shape=x.type.shape)
            x = builder.emit(tile.Select, mask, x, padding)
        places = None
        if len(carries) == 2:
            places = emitter.places(operand, place_dtype(op))  # pyright: ignore[reportArgumentType]
        return carried_on(builder, op, carries, x, places)

    def _nest(
        self,
        axes: Sequence[int],
        carries: Sequence[AnyValue],
        body: Callable[[Sequence[AnyValue]], list[AnyValue]],
        label: str | None,
    ) -> Sequence[AnyValue]:
        """Loops over axes in tiles, around `body`, with carried values."""
        if not axes:
            return body(carries)
        axis, *rest = axes
        emitter = self.emitter
        outer = emitter.scopes[-1].builder
        inner = outer.nest([INDEX, *[value.type for value in carries]])
        at, *inside = inner.block.arguments
        at.name = place_name(self.names, self.kernel.space.sizes[axis])
        emitter.scopes.append(Scope(inner, {axis: at}))
        on = self._nest(rest, inside, body, label)
        emitter.scopes.pop()
        inner.emit_all(Yield, on)
        lower, upper = self._bounds(axis)
        step = emitter.sizes.number(emitter.tiles[axis])
        named = label if not rest else None
        return outer.emit_all(tile.For, lower, upper, step, carries, body=inner.block, label=named)

    def _bounds(self, axis: int) -> tuple[AnyValue, AnyValue]:
        """Where a loop over an axis begins and ends."""
        sizes, chunk = self.emitter.sizes, self.kernel.chunk
        extent = sizes.scalar(self.kernel.space.sizes[axis])
        if chunk is None or axis != self.kernel.space.reduced[0]:
            return sizes.number(0), extent
        builder, number, binary = sizes.builder, sizes.number(chunk), tile.BinaryKind
        lower = builder.emit(tile.Binary, self.emitter.start(0), number, kind=binary.MULTIPLY)
        end = builder.emit(tile.Binary, lower, number, kind=binary.ADD)
        return lower, builder.emit(tile.Binary, end, extent, kind=binary.MINIMUM)

    def _make_room(self, loops: Sequence[Loop]) -> None:
        """Memory for what loops keep: that of a result, if it is one, or scratch."""
        for loop in loops:
            for node in loop.kept:
                output = self._stored(node, loop)
                if output is not None:
                    self.stored[node] = output
                    continue
                shape = [
                    self.names.of(self.kernel.space.sizes[axis])
                    if axis in self.kernel.space.reduced
                    else self.emitter.tiles[axis]
                    for axis in node.axes
                ]
                builder = self.emitter.sizes.builder
                dtype = node.value.dtype
                self.kept[node] = builder.emit(tile.Scratch, shape=shape, dtype=dtype)
                self.kept[node].name = "kept"

    def _stored(self, node: Node, loop: Loop) -> Output | None:
        """The output by which a loop stores the node itself."""
        axes = tuple(Index(axis) for axis in node.axes)
        mine = (each for each in loop.outputs if each.node is node and each.at == axes)
        return next(mine, None)

    def _kept_at(self, node: Node) -> list[AnyValue]:
        reduced, zero = self.kernel.space.reduced, self.emitter.sizes.number(0)
        return [self.emitter.start(axis) if axis in reduced else zero for axis in node.axes]

    def _keep(self, node: Node) -> None:
        builder = self.emitter.scopes[-1].builder
        builder.location = node.location
        builder.emit_all(tile.Store, self.kept[node], self.emitter.tile(node), self._kept_at(node))

    def _reread(self, node: Node) -> None:
        emitter = self.emitter
        builder = emitter.scopes[-1].builder
        builder.location = node.location
        if node in self.kept:
            view, offsets = self.kept[node], self._kept_at(node)
        else:
            view = emitter.views[self.stored[node].param]
            offsets = [emitter.start(axis) for axis in node.axes]
        padding = emitter.paddings[node]
        shape = emitter.shape(node.axes)
        loaded = builder.emit(tile.Load, view, offsets, shape=shape, padding=padding)
        emitter.set(node, loaded)
