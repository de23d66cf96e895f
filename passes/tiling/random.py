"""Random words, by counting.

Comes in: a kernel of one `tensor.random_bits`. Goes out: its stage, on the words in a row.
Never: several keys.
"""

from math import prod

from ...ir import tensor, tile
from ...ir.dtypes import u32
from ...ir.func import Func
from .draft import Draft
from .kernel import Param
from .parts import Stages
from .schedule import Chooser, KernelShape
from .space import Refused


def random_words(func: Func, op: tensor.RandomBits, choose: Chooser) -> Stages:
    """One stage: each program makes a tile of words from their places in the stream."""
    if op.random_key.type.rank != 1:
        raise Refused("random bits of several keys")
    count = prod(op.shape)
    schedule = choose(KernelShape("map", u32, u32, False, False, 4, True))
    width = schedule.get("n", 1)
    params = [
        Param(0, (2,), u32, func.arguments[0].name),
        *[Param(each.index, each.type.shape, each.dtype) for each in func.arguments[1:]],
        Param(0, (count,), u32, func.results[0].name, written=True),
    ]
    draft = Draft(func, params, [(count, width)], schedule)
    keys, *_, words = draft.views
    low, high = [
        draft.emit(tile.Extract, draft.load(keys, [draft.sizes.number(place)], 1))
        for place in (0, 1)
    ]
    (start,) = draft.starts
    offset = draft.sizes.scalar(op.offset)
    first = start if op.offset == 0 else draft.binary(tile.BinaryKind.ADD, start, offset)
    places = draft.counted(first, (width,), 0)
    draft.store(words, draft.emit(tile.RandomBits, low, high, places), [start])
    return Stages(func, (draft.stage(range(len(params))),))
