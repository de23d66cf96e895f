"""The rewrites of paddings between the elements.

Comes in: a padding with gaps, or one that makes a short row of each element. Goes out: one without
gaps: what fills a gap is padding along an axis of its own, so an element with its gap is a row, and
rows end to end are what was asked for. Short rows along the last axis are elements and numbers in
turn: tensors that are put together, since a row of its own for each would be slower.
Never: a gap along an axis that may be empty; there, none stands after the last row.
"""

from ...ir import tensor
from ...ir.dims import Size
from ...ir.facts import Facts
from ...ir.payloads import Number
from ...ir.rewriter import Rewriter, Rules, rewrite
from ...ir.values import AnyValue
from .patterns import full

FACTS = Facts()
SHORT = 7
"""Up to so many numbers after each element stand there in turn with it."""


@rewrite(tensor.Pad)
def pad_between(op: tensor.Pad, rewriter: Rewriter) -> AnyValue | None:
    """pad(x), between elements -> reshape(pad(reshape(x))), or of a concat"""
    sizes = op.x.type.shape
    gaps = tuple(0 if size == 1 else gap for size, gap in zip(sizes, op.interior, strict=True))
    nothing = (0,) * len(gaps)
    if not any(op.interior):
        return None
    if not any(gaps):
        return rewriter.emit(tensor.Pad, op.x, op.low, op.high, nothing, op.value)
    if not all(FACTS.at_most(1, size) for size, gap in zip(sizes, gaps, strict=True) if gap):
        return None
    first = tuple(_before(low, gap) for low, gap in zip(op.low, gaps, strict=True))
    last = max(axis for axis, size in enumerate(sizes) if size != 1)
    filled = gaps
    if 0 < gaps[last] <= SHORT:
        filled, first = (_only(each, last) for each in (gaps, first))
        joined = _turns(op, rewriter, last, gaps[last], first[last])
    else:
        joined = _rows(op, rewriter, gaps, first)
    low = tuple(each - before for each, before in zip(op.low, first, strict=True))
    left = tuple(gap - before for gap, before in zip(filled, first, strict=True))
    high = tuple(_beyond(each, over) for each, over in zip(op.high, left, strict=True))
    between = tuple(gap - done for gap, done in zip(gaps, filled, strict=True))
    whole = rewriter.emit(tensor.Pad, joined, low, high, between, op.value)
    if whole.type is op.result.type:
        return whole
    return rewriter.emit(tensor.Slice, whole, nothing, op.result.type.shape, (1,) * len(gaps))


@rewrite(tensor.Pad)
def pad_elements(op: tensor.Pad, rewriter: Rewriter) -> AnyValue | None:
    """pad(x), along a last axis that was 1 -> concat(numbers, x, numbers)"""
    shape, axis = op.x.type.shape, len(op.x.type.shape) - 1
    if any(op.interior) or all(size == 1 for size in shape) or shape[axis] != 1:
        return None
    low, high = op.low[axis], op.high[axis]
    if not isinstance(low, int) or not isinstance(high, int) or not 0 < low + high <= SHORT:
        return None
    if any((*op.low[:axis], *op.high[:axis])):
        return None
    assert isinstance(op.value, Number)
    number = full(rewriter, op.value, op.x.type)
    turns = [*[number] * low, op.x, *[number] * high]
    return rewriter.emit(tensor.Concat, turns, axis)


def _turns(op: tensor.Pad, rewriter: Rewriter, axis: int, gap: int, before: int) -> AnyValue:
    """x with as much padding after each element along an axis as its gap has, `before` of it
    before instead: all elements, and all that stands at one place of a gap, in turn."""
    shape = op.x.type.shape
    column = (*shape[: axis + 1], 1, *shape[axis + 1 :])
    elements = rewriter.emit(tensor.Reshape, op.x, column)
    assert isinstance(op.value, Number)
    turns = [full(rewriter, op.value, elements.type)] * (gap + 1)
    turns[before] = elements
    rows = rewriter.emit(tensor.Concat, turns, axis + 1)
    joined = (*shape[:axis], shape[axis] * (gap + 1), *shape[axis + 1 :])
    return rewriter.emit(tensor.Reshape, rows, joined)


def _rows(
    op: tensor.Pad, rewriter: Rewriter, gaps: tuple[int, ...], first: tuple[int, ...]
) -> AnyValue:
    """x with as much padding after each element as its gap has, `first` of it before instead."""
    apart, low, high = list[Size](), list[Size](), list[Size]()
    for size, gap, before in zip(op.x.type.shape, gaps, first, strict=True):
        apart += [size, 1] if gap else [size]
        low += [0, before] if gap else [0]
        high += [0, gap - before] if gap else [0]
    rows = rewriter.emit(tensor.Reshape, op.x, tuple(apart))
    sizes = tuple(low), tuple(high), (0,) * len(apart)
    padded = rewriter.emit(tensor.Pad, rows, *sizes, op.value)
    joined = tuple(size * (gap + 1) for size, gap in zip(op.x.type.shape, gaps, strict=True))
    return rewriter.emit(tensor.Reshape, padded, joined)


def _only(each: tuple[int, ...], axis: int) -> tuple[int, ...]:
    """What stands at one axis, and 0 at others."""
    return tuple(size if place == axis else 0 for place, size in enumerate(each))


def _before(low: Size, gap: int) -> int:
    """How much of a gap stands before its element: all of `low`, if it is known to fit."""
    return low if isinstance(low, int) and low <= gap else 0


def _beyond(high: Size, over: Size) -> Size:
    """How much padding is wanted besides what is there, or all of it where that is not known."""
    if FACTS.at_most(over, high):
        return high - over
    return 0 if FACTS.at_most(high, over) else high


GAPS = Rules(pad_between, pad_elements)
