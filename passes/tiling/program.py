"""What one program of the grid does at its tile of the parallel axes: loops along the others.

Comes in: a `Kernel` whose axes are final, and an `Emitter` at the beginning of its tile func. Goes
out: the body of the func.
Never: a launch, or a size of a machine.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...ir import tile
from ...ir.func import Yield
from ...ir.types import INDEX
from ...ir.values import AnyValue
from ..labels import level_name
from .emit import Emitter, Scope
from .kernel import Kernel, Node, Output
from .opening import place_name
from .outside import is_neutral, leaf_paddings
from .plan import Loop, homes, needed, plan_loops, stored_by
from .reductions import carried_on, finished, first_carries, outside, place_dtype
from .sizes import Names


@dataclass(slots=True)
class Program:
    """So many `parts` of a chunk pass at once. `kept` has the memory of what loops leave for later
    ones: their own, or that of a result; what is `stored` there as a result needs not be kept
    beside."""

    kernel: Kernel
    emitter: Emitter
    names: Names
    parts: int = 1
    kept: dict[Node, AnyValue] = field(default_factory=lambda: {})
    stored: set[Node] = field(default_factory=set[Any])

    def write(self, starts: dict[int, AnyValue], looped: Sequence[int]) -> None:
        """The whole body but for its return."""
        self.emitter.scopes.append(Scope(self.emitter.sizes.builder, starts))
        self._nest(looped, [], lambda _: self._rows(), None)

    def _rows(self) -> list[AnyValue]:
        """All that a program does at one place along the parallel axes."""
        loops = plan_loops(self.kernel)
        self._make_room(loops)
        for number, loop in enumerate(loops):
            self._loop(loop, level_name(number))
        reduced = {*self.kernel.space.reduced}
        rest = [each for each in self.kernel.outputs if not reduced & {*each.node.axes}]
        self.emitter.emit(needed(self.kernel, [output.node for output in rest]))
        for output in rest:
            self.emitter.store(output)
        return []

    def _loop(self, loop: Loop, label: str) -> None:
        """One run along the reduced axes, and what it has reduced."""
        masked = self._masked(loop)
        each = len(loop.reductions)
        firsts = [self._first(node) for node in loop.reductions] * self.parts
        counts = [len(each) for each in firsts]

        def body(inside: Sequence[AnyValue]) -> list[AnyValue]:
            carries, on = _grouped(inside, counts), list[list[AnyValue]]()
            for part in range(self.parts):
                if part > 0:
                    self._next_part()
                on += self._round(loop, masked, carries[part * each : (part + 1) * each])
            return _flat(on)

        carried = self._nest(self.kernel.space.reduced, _flat(firsts), body, label)
        groups = _grouped(carried, counts)
        for number, node in enumerate(loop.reductions):
            self._finish(node, self._together(node, groups[number::each]))

    def _next_part(self) -> None:
        """Go on where the next part of the chunk is as far as this one."""
        scope, axis = self.emitter.scopes[-1], self.kernel.space.reduced[-1]
        assert self.kernel.chunk is not None
        further = self.emitter.sizes.number(self.kernel.chunk // self.parts)
        at = scope.builder.emit(tile.Binary, scope.starts[axis], further, kind=tile.BinaryKind.ADD)
        self.emitter.scopes[-1] = Scope(scope.builder, {axis: at})

    def _together(self, node: Node, parts: Sequence[list[AnyValue]]) -> list[AnyValue]:
        """What the parts of a chunk have carried, as one."""
        builder, (first, *others) = self.emitter.scopes[-1].builder, parts
        for other in others:
            first = carried_on(builder, node.op, first, other[0], None)
        return first

    def _masked(self, loop: Loop) -> list[int]:
        """The reduced axes that tiles may stick out of; loads are padded accordingly."""
        masked = [axis for axis in self.kernel.space.reduced if self.emitter.tiles[axis] != 1]
        self.emitter.paddings = leaf_paddings(loop, masked)
        return masked

    def _first(self, node: Node) -> list[AnyValue]:
        builder, axes = self.emitter.scopes[-1].builder, node.operands[0].axes
        builder.location = node.location
        innermost = axes.index(self.kernel.space.reduced[-1])
        return first_carries(builder, node.op, self._carried_shape(node), innermost)

    def _carried_shape(self, node: Node) -> tuple[int, ...]:
        return self.emitter.shape(node.operands[0].axes)

    def _finish(self, node: Node, carries: list[AnyValue]) -> None:
        """Make the result of a reduction of what its last round has carried."""
        builder = self.emitter.scopes[-1].builder
        builder.location = node.location
        axes = self._reduced_places(node)
        result = finished(builder, node.op, carries, axes, wide=self.kernel.chunk is not None)
        if not node.axes:
            result = builder.emit(tile.Extract, result)
        self.emitter.set(node, result)

    def _reduced_places(self, node: Node) -> list[int]:
        """Which axes of a reduction's operand are reduced."""
        axes, reduced = node.operands[0].axes, self.kernel.space.reduced
        return [place for place, axis in enumerate(axes) if axis in reduced]

    def _round(
        self, loop: Loop, masked: list[int], carries: Sequence[list[AnyValue]]
    ) -> list[list[AnyValue]]:
        """What one round computes, keeps, stores and, for each reduction, carries on."""
        emitter = self.emitter
        for node in loop.reread:
            self._reread(node)
        emitter.emit(loop.computed)
        for node in loop.kept:
            if node not in self.stored:
                self._keep(node)
        pairs = zip(loop.reductions, carries, strict=True)
        on = [self._carried_on(loop, node, mine, masked) for node, mine in pairs]
        for output in loop.outputs:
            self._store(output)
        return on

    def _store(self, output: Output) -> None:
        """Store what a round has of a result."""
        self.emitter.store(output)

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
        return carried_on(builder, op, carries, self._folded(node, x), places)

    def _folded(self, node: Node, x: AnyValue) -> AnyValue:
        """What of a tile is combined with what is carried."""
        return x

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
        return self._chunk(self.emitter.start(0), chunk, extent)

    def _chunk(self, program: AnyValue, length: int, extent: AnyValue) -> tuple[AnyValue, AnyValue]:
        """Where the chunk of a program begins, and ends or its first part does."""
        builder, number = self.emitter.sizes.builder, self.emitter.sizes.number
        kinds = tile.BinaryKind
        lower = builder.emit(tile.Binary, program, number(length), kind=kinds.MULTIPLY)
        end = builder.emit(tile.Binary, lower, number(length // self.parts), kind=kinds.ADD)
        return lower, builder.emit(tile.Binary, end, extent, kind=kinds.MINIMUM)

    def _make_room(self, loops: Sequence[Loop]) -> None:
        """Memory for what loops keep: that of a result, if there is one, or scratch."""
        for loop in loops:
            self.stored.update(node for node in loop.kept if stored_by(loop, node) is not None)
        for node, output in homes(loops).items():
            home = None if output is None else self.emitter.views[output.param]
            self.kept[node] = self._scratch(node) if home is None else home

    def _scratch(self, node: Node) -> AnyValue:
        """Memory for the tiles of a node along the reduced axes."""
        space, tiles = self.kernel.space, self.emitter.tiles
        shape = [
            self.names.of(space.sizes[axis]) if axis in space.reduced else tiles[axis]
            for axis in node.axes
        ]
        scratch = self.emitter.sizes.builder.emit(tile.Scratch, shape=shape, dtype=node.value.dtype)
        scratch.name = "kept"
        return scratch

    def _kept_at(self, node: Node) -> tuple[AnyValue, list[AnyValue]]:
        """The view in which a node's tile is kept, and where."""
        emitter, view = self.emitter, self.kept[node]
        if not isinstance(view.op, tile.Scratch):
            return view, [emitter.start(axis) for axis in node.axes]
        reduced, zero = self.kernel.space.reduced, emitter.sizes.number(0)
        return view, [emitter.start(axis) if axis in reduced else zero for axis in node.axes]

    def _keep(self, node: Node) -> None:
        builder = self.emitter.scopes[self.emitter.reach(node)].builder
        builder.location = node.location
        view, offsets = self._kept_at(node)
        builder.emit_all(tile.Store, view, self.emitter.tile(node), offsets)

    def _reread(self, node: Node) -> None:
        emitter = self.emitter
        builder = emitter.scopes[emitter.reach(node)].builder
        builder.location = node.location
        view, offsets = self._kept_at(node)
        padding, shape = emitter.paddings[node], emitter.shape(node.axes)
        emitter.recall(node, builder.emit(tile.Load, view, offsets, shape=shape, padding=padding))


def _flat(groups: Sequence[list[AnyValue]]) -> list[AnyValue]:
    return [value for group in groups for value in group]


def _grouped(values: Sequence[AnyValue], counts: Sequence[int]) -> list[list[AnyValue]]:
    rest = iter(values)
    return [[next(rest) for _ in range(count)] for count in counts]
