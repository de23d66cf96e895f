"""The change of the scores: the region of an attention, written on a block of them at a time.

Comes in: a region, the tiles that stand for what it is handed, and where the block begins. Goes
out: the tiles that it yields. Captures are read by index, counters begin where the block does.
Never: a region that looks at another score than its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ....ir import tensor, tile
from ....ir.builder import Builder
from ....ir.func import Func, Return
from ....ir.values import AnyValue, Block
from ...copying import copy_ops
from ...reads import captured
from ..emit import Emitter, Scope
from ..kernel import Kernel, Param
from ..merge import renumber
from ..read import read_kernel
from ..space import Refused, Space
from ..writer import Writer
from .diagonal import Offset, chosen_by


@dataclass(frozen=True, slots=True)
class Spot:
    """A block of scores: for each of the four axes where it begins, and its size."""

    starts: Sequence[AnyValue]
    sizes: tuple[int, int, int, int]


class Change:
    """A region of the op that `func` consists of, handed some tiles, and the func's arguments.

    `numbers` says for each argument of the region which of the func's it is; None for a tile.
    `turned`: the rows of a block are keys. `apart`: beyond this diagonal nobody looks.
    """

    def __init__(
        self,
        func: Func,
        region: Block,
        numbers: Sequence[int | None],
        turned: bool = False,
        apart: Offset | None = None,
    ) -> None:
        source, self.numbers = _func_of(func, region, numbers, apart)
        self.kernel = read_kernel(source)
        self.given = [place for place, number in enumerate(self.numbers) if number is None]
        shape = source.arguments[self.given[0]].type.shape
        self.axes = [axis for axis, size in enumerate(shape) if size != 1]
        if turned and {2, 3} <= {*self.axes}:
            self.axes[-2:] = [3, 2]
            _swap_last(self.kernel)
        _check(self.kernel, self.given)
        self.params = [
            param
            for param in self.kernel.params
            if not param.written and self.numbers[param.number] is not None and self._reads(param)
        ]

    def arrays(self) -> list[int]:
        """Which arguments of the func the params are."""
        found = [self.numbers[param.number] for param in self.params]
        return [number for number in found if number is not None]

    def emit(
        self, writer: Writer, views: Sequence[AnyValue], spot: Spot, tiles: Sequence[AnyValue]
    ) -> list[AnyValue]:
        """What the region yields of these tiles, each in the shape of the first."""
        builder = writer.builders[-1]
        sizes = tuple([spot.sizes[axis] for axis in self.axes])
        scope = Scope(builder, {place: spot.starts[axis] for place, axis in enumerate(self.axes)})
        handed = dict(zip(self.params, views, strict=True))
        depths = dict.fromkeys(range(len(sizes)), 0)
        emitter = Emitter(self.kernel, sizes, writer.sizes, handed, depths, 0, [scope])
        known = dict(zip(self.given, tiles, strict=True))
        for node in self.kernel.nodes:
            if node.access is not None and node.access.param.number in known:
                given = builder.emit(tile.Reshape, known[node.access.param.number], shape=sizes)
                scope.tiles[node] = given if sizes else builder.emit(tile.Extract, given)
        emitter.emit(self.kernel.nodes)
        return [
            _spread(builder, emitter.tile(output.node), output.node.axes, sizes, tiles[0])
            for output in self.kernel.outputs
        ]

    def _reads(self, param: Param) -> bool:
        accesses = (node.access for node in self.kernel.nodes)
        return any(access is not None and access.param is param for access in accesses)


@dataclass(frozen=True, slots=True)
class Changing:
    """A change in one kernel, which has `views` of the arrays that it reads."""

    change: Change
    views: Sequence[AnyValue]

    def emit(self, writer: Writer, spot: Spot, tiles: Sequence[AnyValue]) -> list[AnyValue]:
        """What the region yields of these tiles, each in the shape of the first."""
        return self.change.emit(writer, self.views, spot, tiles)


def _func_of(
    func: Func, region: Block, numbers: Sequence[int | None], apart: Offset | None
) -> tuple[Func, list[int | None]]:
    """The region as a func, which also takes the arguments of `func` that it reads."""
    outside = captured([region])
    read = [value for value in outside if value.op is None]
    types = [value.type for value in (*region.arguments, *read)]
    made = Func("score", types, func.symbols, location=func.location)
    count, builder = len(region.arguments), Builder(made.body)
    values = dict(zip(read, made.body.arguments[count:], strict=True))
    copy_ops([value.op for value in outside if value.op is not None], builder, values)
    values.update(zip(region.arguments, made.body.arguments, strict=False))
    for op in region:
        if apart is not None and _is(chosen_by(func, region, numbers, op), apart):
            values[op.results[0]] = values[op.operands[1]]
        elif isinstance(op, tensor.Iota):
            values[op.result] = _counter(builder, op)
        elif not op.terminator:
            copy_ops((op,), builder, values)
    yielded = region.terminator.operands
    builder.emit_all(Return, [values.get(value, value) for value in yielded])
    return made, [*numbers, *[value.index for value in read]]


def _is(found: Offset | None, offset: Offset) -> bool:
    """Whether two offsets are the same: one value, or equal numbers."""
    return found is offset or (isinstance(found, int) and found == offset)


def _counter(builder: Builder, op: tensor.Iota) -> AnyValue:
    """A counter along its own axis, and then along all of them."""
    row = builder.emit(tensor.Iota, shape=(op.shape[op.axis],), axis=0, dtype=op.dtype)
    return builder.emit(tensor.Broadcast, row, shape=op.shape, axes=(op.axis,))


def _swap_last(kernel: Kernel) -> None:
    """Let the last two axes of the space change places."""
    *lead, rows, columns = kernel.space.sizes
    count = len(lead)
    mapping = {axis: axis for axis in range(count)} | {count: count + 1, count + 1: count}
    renumber(kernel, mapping, Space((*lead, columns, rows)))


def _check(kernel: Kernel, given: Sequence[int]) -> None:
    """Refuse what is no change of each score on its own."""
    if kernel.levels:
        raise Refused("the scores are reduced before the softmax")
    count = len(kernel.space.sizes)
    for node in kernel.nodes:
        access = node.access
        if access is None or access.param.number not in given:
            continue
        if len(node.axes) != count or not access.plain:
            raise Refused("a score is changed by other scores")


def _spread(
    builder: Builder, value: AnyValue, axes: tuple[int, ...], sizes: tuple[int, ...], like: AnyValue
) -> AnyValue:
    """A tile along some axes of a block, along all of them and in the shape of another tile."""
    if not axes:
        return builder.emit(tile.Full, value, shape=like.type.shape)
    if len(axes) != len(sizes):
        value = builder.emit(tile.Broadcast, value, shape=sizes, axes=axes)
    return builder.emit(tile.Reshape, value, shape=like.type.shape)
