"""The rewrite of paddings between the elements.

Comes in: a padding with gaps. Goes out: one without: what fills a gap is padding along an axis of
its own, so an element with its gap is a row, and rows end to end are what was asked for.
Never: a gap along an axis that may be empty; there, none stands after the last row. Nor gaps along
the last axis alone: rows of one element each are slower to make than to be filled from outside.
"""

from ...ir import tensor
from ...ir.attributes import Shape
from ...ir.dims import Size
from ...ir.facts import Facts
from ...ir.rewriter import Rewriter, Rules, rewrite
from ...ir.values import AnyValue

FACTS = Facts()


@rewrite(tensor.Pad)
def pad_between(op: tensor.Pad, rewriter: Rewriter) -> AnyValue | None:
    """pad(x), between elements -> reshape(pad(reshape(x))), along an axis more for each gap"""
    sizes = op.x.type.shape
    gaps = tuple(0 if size == 1 else gap for size, gap in zip(sizes, op.interior, strict=True))
    nothing = (0,) * len(gaps)
    if not any(op.interior):
        return None
    if not any(gaps):
        return rewriter.emit(tensor.Pad, op.x, op.low, op.high, nothing, op.value)
    certain = all(FACTS.at_most(1, size) for size, gap in zip(sizes, gaps, strict=True) if gap)
    last = max(axis for axis, size in enumerate(sizes) if size != 1)
    if not certain or not any(gaps[:last]):
        return None
    first = tuple(_before(low, gap) for low, gap in zip(op.low, gaps, strict=True))
    joined = _rows(op, rewriter, gaps, first)
    low = tuple(each - before for each, before in zip(op.low, first, strict=True))
    left = tuple(gap - before for gap, before in zip(gaps, first, strict=True))
    high = tuple(_beyond(each, over) for each, over in zip(op.high, left, strict=True))
    whole = rewriter.emit(tensor.Pad, joined, low, high, nothing, op.value)
    if whole.type is op.result.type:
        return whole
    return rewriter.emit(tensor.Slice, whole, nothing, op.result.type.shape, (1,) * len(gaps))


def _rows(op: tensor.Pad, rewriter: Rewriter, gaps: tuple[int, ...], first: Shape) -> AnyValue:
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


def _before(low: Size, gap: int) -> Size:
    """How much of a gap stands before its element: all of `low`, if it is known to fit."""
    return low if isinstance(low, int) and low <= gap else 0


def _beyond(high: Size, over: Size) -> Size:
    """How much padding is wanted besides what is there, or all of it where that is not known."""
    if FACTS.at_most(over, high):
        return high - over
    return 0 if FACTS.at_most(high, over) else high


GAPS = Rules(pad_between)
