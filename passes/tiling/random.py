"""Random words, by counting.

Comes in: a kernel of one `tensor.random_bits`. Goes out: its stage, on the words in a row, or in a
row for each key.
Never: a word that is made twice.
"""

from math import prod

from ...ir import tensor, tile
from ...ir.dtypes import u32
from ...ir.func import Func
from .draft import Draft
from .kernel import Param
from .parts import Stages
from .schedule import Chooser, KernelShape


def random_words(func: Func, op: tensor.RandomBits, choose: Chooser) -> Stages:
    """One stage: each program makes a tile of words from their places in the stream of its key."""
    count, several = prod(op.shape), op.random_key.type.shape[:-1]
    rows = (prod(several),) if several else ()
    schedule = choose(KernelShape("map", u32, u32, False, False, 4, True))
    width = schedule.get("n", 1)
    params = [
        Param(0, (*rows, 2), u32, func.arguments[0].name),
        *[Param(each.index, each.type.shape, each.dtype) for each in func.arguments[1:]],
        Param(0, (*rows, count), u32, func.results[0].name, written=True),
    ]
    draft = Draft(func, params, [*((size, 1) for size in rows), (count, width)], schedule)
    keys, *_, words = draft.views
    *row, start = draft.starts
    ones = (1,) * len(row)
    low, high = [draft.element(keys, *row, draft.size(place)) for place in (0, 1)]
    offset = draft.size(op.offset)
    first = start if op.offset == 0 else draft.add(start, offset)
    places = draft.counted(first, (width,), 0)
    made = draft.emit(tile.RandomBits, low, high, places)
    draft.store(words, draft.reshape(made, *ones, width), [*row, start])
    return Stages(func, (draft.stage(range(len(params))),))
