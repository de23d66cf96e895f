"""Writing at places that indices name.

Comes in: a kernel of one `tensor.scatter`. Goes out: two stages: a copy of x, and then programs
that own a tile of the last axis each and take all updates in turn, so that no two of them meet, and
the last one stays where the op says so. Sums and products of narrow floats are made in a room that
is wider, which a third stage rounds; but where no two updates meet, each is rounded at once.
Never: an atomic op, or an order of updates that depends on programs.
"""

from math import prod

from ...ir import tensor, tile
from ...ir.dtypes import DType
from ...ir.func import Func
from ...ir.tensor.indexing import Combiner
from ...ir.values import AnyValue
from .draft import Draft
from .indices import batch_of, before_of, check_indices, index_tile, indexed_of
from .kernel import Param
from .parts import Stage, Stages
from .schedule import Chooser, KernelShape, Schedule

EXACT = Combiner.SET, Combiner.MINIMUM, Combiner.MAXIMUM
"""Ways of combining that never round."""
X, INDICES, UPDATES, RESULT, ROOM = range(5)
Place = tuple[int, DType]
"""The number of an array, and its dtype."""


def scatter_rows(func: Func, op: tensor.Scatter, choose: Chooser) -> Stages:
    """Two stages, or three, for a scatter whose `axes` are neighbours."""
    dtype = op.x.dtype
    check_indices(op)
    wide = dtype if op.combiner is Combiner.SET else dtype.accumulator
    schedule = choose(KernelShape("map", dtype, wide, live=2))
    if wide is dtype or op.combiner in EXACT or op.has_one_place:
        copied = _copied(func, "copy", (X, dtype), (RESULT, dtype), schedule)
        return Stages(func, (copied, _update(func, op, (RESULT, dtype), schedule)))
    stages = (
        _copied(func, "copy", (X, dtype), (ROOM, wide), schedule),
        _update(func, op, (ROOM, wide), schedule),
        _copied(func, "rounded", (ROOM, wide), (RESULT, dtype), schedule),
    )
    return Stages(func, stages, (op.x.type.with_dtype(wide),))


def _copied(func: Func, name: str, source: Place, target: Place, schedule: Schedule) -> Stage:
    """One array as another one, which may have another dtype."""
    count, width = prod(func.results[0].type.shape), schedule.get("n", 1)
    params = [
        Param(0, (count,), source[1], func.arguments[0].name),
        Param(0, (count,), target[1], func.results[0].name, written=True),
    ]
    draft = Draft(func, params, [(count, width)], schedule)
    old, new = draft.views
    draft.store(new, draft.cast(draft.load(old, draft.starts, width), target[1]), draft.starts)
    draft.func.name = f"{func.name}_{name}"
    return draft.stage([source[0], target[0]])


def _update(func: Func, op: tensor.Scatter, into: Place, schedule: Schedule) -> Stage:
    """All updates of a tile of the last axis, combined in the accumulator's dtype."""
    array, kept = into
    wide = kept if op.combiner is Combiner.SET else kept.accumulator
    shape, dtype, batch, count = op.x.type.shape, op.x.dtype, batch_of(op), len(op.axes)
    before, gathered = before_of(op), indexed_of(op)
    length = prod(shape[op.axes[-1] + 1 :])
    places = prod(op.indices.type.shape[op.batch : -1])
    width = 1 if length == 1 else schedule.get("n", 1)
    params = [
        Param(0, (*batch, places, count), op.indices.dtype, func.arguments[1].name),
        Param(1, (*batch, places, *before, length), dtype, func.arguments[2].name),
        Param(0, (*batch, *before, *gathered, length), kept, func.results[0].name, written=True),
    ]
    sides = [(size, 1) for size in (*batch, *before)]
    draft = Draft(func, params, [*sides, (length, width)], schedule)
    named, updates, target = draft.views
    lane, (*line, column) = draft.starts[: len(batch)], draft.starts[len(batch) :]
    block = (1,) * (len(sides) + count) + (width,)

    def body(at: AnyValue) -> None:
        indices = [index_tile(draft, op, named, [*lane, at], axis, 1) for axis in range(count)]
        named_places = [draft.emit(tile.Extract, each) for each in indices]
        offsets = [*lane, *line, *named_places, column]
        ones = (1,) * (len(sides) + 1)
        update = draft.load(updates, [*lane, at, *line, column], *ones, width)
        update = draft.cast(draft.reshape(update, *block), wide)
        if op.combiner is not Combiner.SET:
            old = draft.cast(draft.load(target, offsets, *block), wide)
            update = draft.binary(tile.BinaryKind(op.combiner.value), old, update)
        draft.store(target, draft.cast(update, kept), offsets)

    draft.tiles("updates", places, 1, body)
    return draft.stage([INDICES, UPDATES, array])
