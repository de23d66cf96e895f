"""Writing at places that indices name.

Comes in: a kernel of one `tensor.scatter`. Goes out: two stages: a copy of x, and then programs
that own a tile of the last axis each and take all updates in turn, so that no two of them meet, and
the last one stays where the op says so.
Never: an atomic op, or an order of updates that depends on programs.
"""

from math import prod

from ...ir import tensor, tile
from ...ir.dtypes import REALS
from ...ir.func import Func
from ...ir.tensor.indexing import Combiner
from ...ir.values import AnyValue
from .draft import Draft
from .indices import batch_of, before_of, check_indices, index_tile, indexed_of
from .kernel import Param
from .parts import Stage, Stages
from .schedule import Chooser, KernelShape, Schedule
from .space import Refused


def scatter_rows(func: Func, op: tensor.Scatter, choose: Chooser) -> Stages:
    """Two stages, for a scatter whose `axes` are neighbours."""
    dtype = op.x.dtype
    check_indices(op)
    combines = op.combiner is not Combiner.SET
    if combines and (dtype not in REALS or dtype.accumulator is not dtype):
        raise Refused(f"{dtype} is combined in a wider dtype")
    schedule = choose(KernelShape("map", dtype, dtype, False, False, 2, False))
    return Stages(func, (_copy(func, op, schedule), _update(func, op, schedule)))


def _copy(func: Func, op: tensor.Scatter, schedule: Schedule) -> Stage:
    """x as it is."""
    count, width = prod(op.x.type.shape), schedule.get("n", 1)
    params = [
        Param(0, (count,), op.x.dtype, func.arguments[0].name),
        Param(0, (count,), op.x.dtype, func.results[0].name, written=True),
    ]
    draft = Draft(func, params, [(count, width)], schedule)
    source, target = draft.views
    draft.store(target, draft.load(source, draft.starts, width), draft.starts)
    draft.func.name = f"{func.name}_copy"
    return draft.stage([0, 3])


def _update(func: Func, op: tensor.Scatter, schedule: Schedule) -> Stage:
    """All updates of a tile of the last axis."""
    shape, dtype, batch, count = op.x.type.shape, op.x.dtype, batch_of(op), len(op.axes)
    before, gathered = before_of(op), indexed_of(op)
    length = prod(shape[op.axes[-1] + 1 :])
    places = prod(op.indices.type.shape[op.batch : -1])
    width = 1 if length == 1 else schedule.get("n", 1)
    params = [
        Param(0, (*batch, places, count), op.indices.dtype, func.arguments[1].name),
        Param(1, (*batch, places, *before, length), dtype, func.arguments[2].name),
        Param(0, (*batch, *before, *gathered, length), dtype, func.results[0].name, written=True),
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
        update = draft.reshape(update, *block)
        if op.combiner is not Combiner.SET:
            old = draft.load(target, offsets, *block)
            update = draft.binary(tile.BinaryKind(op.combiner.value), old, update)
        draft.store(target, update, offsets)

    draft.tiles("updates", places, 1, body)
    return draft.stage([1, 2, 3])
