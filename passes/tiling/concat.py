"""Tensors end to end.

Comes in: a kernel of one `tensor.concat`. Goes out: its stages. Where all parts lie in a row, each
is copied into its part of the result, by one launch a part of one tile func. Where a line of each
is one element, a program deals out tiles of all in turn; else it copies one line of each in turn.
Never: a tile that two parts meet in, but where they are dealt out.
"""

from collections.abc import Sequence
from functools import partial
from math import prod

from ...ir import tensor, tile
from ...ir.attributes import Shape
from ...ir.dims import MAX_SIZE, Size, Symbol, ceil_div, interval
from ...ir.func import Func
from ...ir.values import AnyValue
from .draft import Draft
from .kernel import Param
from .parts import Part, Stage, Stages
from .schedule import Chooser, KernelShape, Schedule

MOST_DEALT = 8
"""Up to so many parts are dealt out: of eight, a vector has two elements of each."""


def concat_parts(func: Func, op: tensor.Concat, choose: Chooser) -> Stages:
    """Stages for all parts."""
    dtype = op.result.dtype
    schedule = choose(KernelShape("concat", dtype, dtype))
    lengths = [prod(each.type.shape[op.axis :]) for each in op.tensors]
    lines = prod(op.result.type.shape[: op.axis])
    if lines == 1:
        return Stages(func, tuple(_copies(func, lengths, schedule)))
    few = 2 <= len(lengths) <= MOST_DEALT and "dealt" in schedule
    if few and all(length == 1 for length in lengths):
        return Stages(func, (_dealt(func, lines, len(lengths), schedule),))
    return Stages(func, (_lines(func, lines, lengths, schedule),))


def _copies(func: Func, lengths: Sequence[Size], schedule: Schedule) -> list[Stage]:
    """A launch for each part, of the same copy."""
    width, dtype = schedule.get("n", 1), func.results[0].dtype
    size = Symbol("n", 0, min(max(interval(length)[1] for length in lengths), MAX_SIZE))
    params = [
        Param(0, (size,), dtype, func.arguments[0].name),
        Param(0, (size,), dtype, func.results[0].name, written=True),
    ]
    draft = Draft(func, params, [(size, width)], schedule)
    source, target = draft.views
    draft.store(target, draft.load(source, draft.starts, width), draft.starts)
    copy = draft.stage([0, 1]).func
    stages: list[Stage] = []
    offset: Size = 0
    for number, length in enumerate(lengths):
        shape: Shape = (length,)
        place = Part(len(lengths), shape, offset)
        stages.append(Stage(copy, (Part(number, shape),), (place,), (ceil_div(length, width),)))
        offset = offset + length
    return stages


def _dealt(func: Func, lines: Size, count: int, schedule: Schedule) -> Stage:
    """A program for a tile of each part: the first elements of all, the second of all, …"""
    dtype = func.results[0].dtype
    width = max(1, schedule["dealt"] >> (count - 1).bit_length())
    params = [
        Param(number, (lines,), dtype, func.arguments[number].name) for number in range(count)
    ]
    params.append(Param(0, (lines * count,), dtype, func.results[0].name, written=True))
    draft = Draft(func, params, [(lines, width)], schedule)
    *sources, target = draft.views
    parts = [draft.load(source, draft.starts, width) for source in sources]
    rows = draft.emit(tile.Concat, [draft.reshape(part, width, 1) for part in parts], axis=1)
    dealt = draft.reshape(rows, width * count)
    draft.store(target, dealt, [draft.multiply(draft.starts[0], count)])
    return draft.stage(range(len(params)))


def _lines(func: Func, lines: Size, lengths: Sequence[Size], schedule: Schedule) -> Stage:
    """A program for each line of the result."""
    width, dtype = schedule.get("n", 1), func.results[0].dtype
    whole: Size = 0
    params: list[Param] = []
    for number, length in enumerate(lengths):
        params.append(Param(number, (lines, length), dtype, func.arguments[number].name))
        whole = whole + length
    params.append(Param(0, (lines, whole), dtype, func.results[0].name, written=True))
    draft = Draft(func, params, [(lines, 1)], schedule)
    *sources, target = draft.views
    zero = draft.size(0)
    begin = zero
    for number, (source, length) in enumerate(zip(sources, lengths, strict=True)):
        extent = draft.size(length)
        seen = [draft.size(lines), extent]
        part = draft.emit(tile.View, target, [zero, begin], seen, axes=(0, 1))
        body = partial(_round, draft, source, part, width)
        draft.tiles(f"part{number}", length, width, body)
        begin = draft.add(begin, extent)
    return draft.stage(range(len(params)))


def _round(draft: Draft, source: AnyValue, part: AnyValue, width: int, at: AnyValue) -> None:
    """A tile of a line, copied."""
    offsets = [draft.starts[0], at]
    draft.store(part, draft.load(source, offsets, 1, width), offsets)
