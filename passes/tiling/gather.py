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
from .indices import batch_of, check_indices, index_tile
from .kernel import Param
from .parts import Stages
from .schedule import Chooser, KernelShape


def gather_rows(func: Func, op: tensor.Gather, choose: Chooser) -> Stages:
    """One stage, for a gather whose `axes` are the first ones of x after the batch."""
    check_indices(op)
    x, indices, batch, count = op.x.type, op.indices.type, batch_of(op), len(op.axes)
    gathered = x.shape[op.batch : op.batch + count]
    length, places = prod(x.shape[op.batch + count :]), prod(indices.shape[op.batch : -1])
    schedule = choose(KernelShape("map", x.dtype, x.dtype, False, False, 2, False))
    width = schedule.get("n", 1)
    rest: Shape = () if length == 1 else (length,)
    params = [
        Param(0, (*batch, *gathered, *rest), x.dtype, func.arguments[0].name),
        Param(1, (*batch, places, count), indices.dtype, func.arguments[1].name),
        Param(0, (*batch, places, *rest), x.dtype, func.results[0].name, written=True),
    ]
    sides = [*batch, places, *rest]
    cuts = [1] * (len(sides) - 1) + [width]
    draft = Draft(func, params, list(zip(sides, cuts, strict=True)), schedule)
    found = _elements(draft, op, width) if length == 1 else _part(draft, op, width)
    draft.store(draft.views[2], draft.reshape(found, *cuts), draft.starts)
    return Stages(func, (draft.stage([0, 1, 2]),))


def _elements(draft: Draft, op: tensor.Gather, width: int) -> AnyValue:
    """A tile of single elements."""
    source, named, _ = draft.views
    at = [draft.emit(tile.Full, start, shape=(width,)) for start in draft.starts[:-1]]
    at += [index_tile(draft, op, named, draft.starts, axis, width) for axis in range(len(op.axes))]
    return draft.emit(tile.Gather, source, at, padding=nothing(op.x.dtype))


def _part(draft: Draft, op: tensor.Gather, width: int) -> AnyValue:
    """A tile of the part of x that the indices of one place name."""
    source, named, _ = draft.views
    *where, at = draft.starts
    indices = [index_tile(draft, op, named, where, axis, 1) for axis in range(len(op.axes))]
    offsets = [*where[:-1], *(draft.emit(tile.Extract, each) for each in indices), at]
    return draft.load(source, offsets, *(1,) * (len(offsets) - 1), width)
