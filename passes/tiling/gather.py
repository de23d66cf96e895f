"""Reading at places that indices name.

Comes in: a kernel of one `tensor.gather`. Goes out: its stage: a program copies one part along the
last axis, in vectors, from where its indices say; where single elements are read, it reads a tile
of them.
Never: an error for an index outside: such a part is zeros, and whoever wants the error asks before.
"""

from math import prod

from ...ir import tensor, tile
from ...ir.attributes import Shape
from ...ir.func import Func
from ...ir.values import AnyValue
from .draft import Draft
from .emit import nothing
from .indices import batch_of, before_of, check_indices, index_tile, indexed_of
from .kernel import Param
from .parts import Stages
from .schedule import Chooser, KernelShape
from .space import Refused


def gather_rows(func: Func, op: tensor.Gather, choose: Chooser) -> Stages:
    """One stage, for a gather whose `axes` are neighbours."""
    check_indices(op)
    x, indices, batch, count = op.x.type, op.indices.type, batch_of(op), len(op.axes)
    before, gathered = before_of(op), indexed_of(op)
    length, places = prod(x.shape[op.axes[-1] + 1 :]), prod(indices.shape[op.batch : -1])
    schedule = choose(KernelShape("map", x.dtype, x.dtype, live=2, single=length == 1))
    width = schedule.get("n", 1)
    rest: Shape = () if length == 1 else (length,)
    if batch and before and rest:
        raise Refused("indices of each lane along axes between others")
    params = [
        Param(0, (*batch, *before, *gathered, *rest), x.dtype, func.arguments[0].name),
        Param(1, (*batch, places, count), indices.dtype, func.arguments[1].name),
        Param(0, (*batch, places, *before, *rest), x.dtype, func.results[0].name, written=True),
    ]
    sides = [*batch, places, *before, *rest]
    cuts = [1] * (len(sides) - 1) + [width]
    draft = Draft(func, params, list(zip(sides, cuts, strict=True)), schedule)
    found = (_elements if length == 1 else _part)(draft, op, width)
    draft.store(draft.views[2], draft.reshape(found, *cuts), draft.starts)
    return Stages(func, (draft.stage([0, 1, 2]),))


def _elements(draft: Draft, op: tensor.Gather, width: int) -> AnyValue:
    """A tile of single elements."""
    source, named, _ = draft.views
    if before_of(op):
        return _across(draft, op, width)
    at = [draft.full(start, width) for start in draft.starts[:-1]]
    at += [index_tile(draft, op, named, draft.starts, axis, width) for axis in range(len(op.axes))]
    return draft.emit(tile.Gather, source, at, padding=nothing(op.x.dtype))


def _across(draft: Draft, op: tensor.Gather, width: int) -> AnyValue:
    """A tile of single elements, of as many lines, that one index names."""
    source, named, _ = draft.views
    *where, line = draft.starts
    indices = [index_tile(draft, op, named, where, axis, 1) for axis in range(len(op.axes))]
    every = [draft.spread(each, 0, width) for each in indices]
    lanes = [draft.full(each, width) for each in where[:-1]]
    lines = draft.counted(line, (width,), 0)
    at = [*lanes, lines, *every]
    return draft.emit(tile.Gather, source, at, padding=nothing(op.x.dtype))


def _part(draft: Draft, op: tensor.Gather, width: int) -> AnyValue:
    """A tile of the part of x that the indices of one place name."""
    source, named, _ = draft.views
    split = len(batch_of(op)) + 1
    where, (*line, at) = draft.starts[:split], draft.starts[split:]
    indices = [index_tile(draft, op, named, where, axis, 1) for axis in range(len(op.axes))]
    offsets = [*where[:-1], *line, *(draft.emit(tile.Extract, each) for each in indices), at]
    return draft.load(source, offsets, *(1,) * (len(offsets) - 1), width)
